// bleve as a peer of `seine bench search` and `seine bench index`; see ../README.md for the commands it reads.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
)

const lineBytesMax = 1 << 20

type document struct {
	id   string
	body map[string]any
}

func main() {
	if len(os.Args) == 5 && os.Args[1] == "search" {
		serveSearch(os.Args[2], os.Args[3], os.Args[4])
	} else if len(os.Args) == 4 && os.Args[1] == "index" {
		serveIndexing(os.Args[2], os.Args[3])
	} else {
		fail("peer-bleve search DOCUMENTS QUERIES DIR | index DOCUMENTS DIR")
	}
}

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

func must[T any](value T, err error) T {
	if err != nil {
		fail(err)
	}
	return value
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/blevesearch/bleve/v2" {
			return "bleve " + module.Version + " (2026) on " + info.GoVersion
		}
	}
	return "bleve"
}

// Splits words at spaces and stores no text. Keeps positions only for phrase queries.
func shape(places bool) mapping.IndexMapping {
	field := bleve.NewTextFieldMapping()
	field.Store, field.IncludeInAll, field.DocValues = false, false, false
	field.IncludeTermVectors = places
	whole := bleve.NewDocumentStaticMapping()
	whole.AddFieldMappingsAt("body", field)
	index := bleve.NewIndexMapping()
	settings := map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}
	if err := index.AddCustomAnalyzer("words", settings); err != nil {
		fail(err)
	}
	index.DefaultMapping, index.DefaultAnalyzer = whole, "words"
	return index
}

// Calls visit with every document: a line each, `id<TAB>words`.
func documents(path string, visit func(document)) {
	file := must(os.Open(path))
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, lineBytesMax)
	for lines.Scan() {
		id, words, found := strings.Cut(lines.Text(), "\t")
		if !found {
			fail("a document is id<TAB>words")
		}
		visit(document{id, map[string]any{"body": words}})
	}
	if lines.Err() != nil {
		fail(lines.Err())
	}
}

func number(text string) int {
	return must(strconv.Atoi(text))
}

func commands(answer func(words []string) string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(answer(strings.Split(lines.Text(), " ")))
	}
}
