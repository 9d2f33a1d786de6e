package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
)

// Reads `measure BATCH SHARDS`. Fills SHARDS indexes, each in a routine of its own, in batches of BATCH documents (0: one batch
// for each index). Answers documents a second, timed until the last batch is on disk.
func serveIndexing(path, directory string) {
	var all []document
	documents(path, func(document document) { all = append(all, document) })
	fmt.Printf("ready %s, %d documents\n", version(), len(all))
	commands(func(words []string) string { return fill(all, directory, number(words[1]), number(words[2])) })
	os.RemoveAll(directory)
}

func fill(all []document, directory string, batch, shards int) string {
	os.RemoveAll(directory)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		fail(err)
	}
	indexes := make([]bleve.Index, shards)
	for shard := range indexes {
		indexes[shard] = must(bleve.New(filepath.Join(directory, strconv.Itoa(shard)), shape(false)))
	}
	if batch == 0 {
		batch = len(all)
	}
	begun := time.Now()
	var running sync.WaitGroup
	for shard, index := range indexes {
		from, to := len(all)*shard/shards, len(all)*(shard+1)/shards
		running.Go(func() { fillOne(index, all[from:to], batch) })
	}
	running.Wait()
	seconds := time.Since(begun).Seconds()
	found := uint64(0)
	for _, index := range indexes {
		found += must(index.DocCount())
		index.Close()
	}
	if found != uint64(len(all)) {
		fail(fmt.Sprintf("%d documents are there, %d were given", found, len(all)))
	}
	return fmt.Sprintf("%.1f %d %.3f", float64(len(all))/seconds, len(all), seconds)
}

func fillOne(index bleve.Index, part []document, size int) {
	for len(part) > 0 {
		batch := index.NewBatch()
		for _, document := range part[:min(size, len(part))] {
			if err := batch.Index(document.id, document.body); err != nil {
				fail(err)
			}
		}
		if err := index.Batch(batch); err != nil {
			fail(err)
		}
		part = part[min(size, len(part)):]
	}
}
