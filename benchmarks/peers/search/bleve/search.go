package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	"github.com/blevesearch/bleve/v2/search/query"
)

const (
	rows         = 100
	loadedAtOnce = 20000
)

type searching struct {
	index   bleve.Index
	queries [][]string
	known   map[string][]uint64
	next    atomic.Int64
}

func serveSearch(path, queries, directory string) {
	begun := time.Now()
	index := built(path, directory)
	asked := &searching{index: index, known: map[string][]uint64{}}
	for line := range strings.Lines(string(must(os.ReadFile(queries)))) {
		asked.queries = append(asked.queries, strings.Split(strings.TrimRight(line, "\n"), " "))
	}
	fmt.Printf("ready %s, %d documents, %.0f s\n", version(), must(index.DocCount()), time.Since(begun).Seconds())
	commands(asked.answer)
}

// The index of these documents in one segment. The first call makes it, later calls open it.
func built(path, directory string) bleve.Index {
	made := filepath.Join(directory, "made")
	if _, err := os.Stat(made); err == nil {
		return must(bleve.Open(filepath.Join(directory, "index")))
	}
	os.RemoveAll(directory)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		fail(err)
	}
	index := must(bleve.New(filepath.Join(directory, "index"), shape(true)))
	batch := index.NewBatch()
	send := func() {
		if err := index.Batch(batch); err != nil {
			fail(err)
		}
		batch.Reset()
	}
	documents(path, func(document document) {
		if err := batch.Index(document.id, document.body); err != nil {
			fail(err)
		}
		if batch.Size() >= loadedAtOnce {
			send()
		}
	})
	send()
	inner := must(index.Advanced()).(*scorch.Scorch)
	if err := inner.ForceMerge(context.Background(), &mergeplan.SingleSegmentMergePlanOptions); err != nil {
		fail(err)
	}
	if err := os.WriteFile(made, nil, 0o644); err != nil {
		fail(err)
	}
	return index
}

func (asked *searching) answer(words []string) string {
	mode := words[1]
	if asked.known[mode] == nil {
		totals := make([]uint64, len(asked.queries))
		for number := range totals {
			totals[number] = asked.one(mode, number)
		}
		asked.known[mode] = totals
	}
	if words[0] == "totals" {
		var texts []string
		for _, total := range asked.known[mode] {
			texts = append(texts, strconv.FormatUint(total, 10))
		}
		return strings.Join(texts, " ")
	}
	return asked.measure(mode, number(words[2]), must(strconv.ParseFloat(words[3], 64)))
}

func asQuery(mode string, words []string) query.Query {
	if mode == "phrase" && len(words) > 1 {
		return query.NewPhraseQuery(words, "body")
	}
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	var each []query.Query
	for _, word := range words {
		term := bleve.NewTermQuery(word)
		term.SetField("body")
		each = append(each, term)
	}
	if len(each) == 1 {
		return each[0]
	}
	if mode == "any" {
		return bleve.NewDisjunctionQuery(each...)
	}
	return bleve.NewConjunctionQuery(each...)
}

// The best 100, and the exact total.
func (asked *searching) one(mode string, number int) uint64 {
	request := bleve.NewSearchRequestOptions(asQuery(mode, asked.queries[number]), rows, 0, false)
	return must(asked.index.Search(request)).Total
}

// Sends queries until the time is up, from a list that begins again at its end.
func (asked *searching) measure(mode string, threads int, seconds float64) string {
	totals := asked.known[mode]
	begun := time.Now()
	until := begun.Add(time.Duration(seconds * 1e9))
	times := make([][]time.Duration, threads)
	var running sync.WaitGroup
	for thread := range threads {
		running.Go(func() {
			for at := time.Now(); at.Before(until); {
				number := int(asked.next.Add(1)-1) % len(totals)
				if total := asked.one(mode, number); total != totals[number] {
					fail(fmt.Sprintf("query %d found %d, before %d", number, total, totals[number]))
				}
				now := time.Now()
				times[thread] = append(times[thread], now.Sub(at))
				at = now
			}
		})
	}
	running.Wait()
	elapsed := time.Since(begun).Seconds()
	all := slices.Concat(times...)
	slices.Sort(all)
	ms := func(part float64) float64 { return all[int(float64(len(all))*part)].Seconds() * 1e3 }
	return fmt.Sprintf("%.1f %d %.3f %.4f %.4f", float64(len(all))/elapsed, len(all), elapsed, ms(0.5), ms(0.99))
}
