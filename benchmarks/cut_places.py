#!/usr/bin/env python3
"""Cuts the queries of `place-queries.txt` from records, by a seeded rule.

    seine bench search near-bm25a --corpus abstracts-475k.tsv.zst --export DIR       # tells the folder
    benchmarks/cut_places.py FOLDER/documents.tsv > benchmarks/definitions/place-queries.txt

A line of the documents is `id<TAB>words`, with `.` where a sentence ends. For each query a record is drawn, and places in it. Every
other query of a kind takes words of at least five letters only, so that half of the queries have no very common word.

    near      two words, 1 to 5 positions apart, in any order
    quorum    five words of the record
    sentence  two words of one sentence, in any order
    start     the first word
    before    two words, the first one anywhere before the second
    prefix    the first four letters of a word of at least six
"""

import random
import sys

SEED = 23
EACH = 30
LONG = 5


def near(words, draw):
    places = [at for at, word in enumerate(words) if word]
    first = draw.choice(places)
    others = [at for at in places if 0 < abs(at - first) <= 5]
    return [words[first], words[draw.choice(others)]] if others else []


def quorum(words, draw):
    held = sorted({word for word in words if word})
    return draw.sample(held, 5) if len(held) >= 5 else []


def sentence(words, draw):
    first = draw.choice([at for at, word in enumerate(words) if word and word != "."])
    begin = first
    while begin > 0 and words[begin - 1] != ".":
        begin -= 1
    end = words.index(".", first) if "." in words[first:] else len(words)
    others = [at for at in range(begin, end) if at != first and words[at]]
    return [words[first], words[draw.choice(others)]] if others else []


def start(words, draw):
    return [words[0]] if words[0] else []


def before(words, draw):
    places = [at for at, word in enumerate(words) if word and word != "."]
    return [words[at] for at in sorted(draw.sample(places, 2))] if len(places) > 1 else []


def prefix(words, draw):
    long = [word for word in words if word and len(word) >= 6]
    return [draw.choice(long)[:4]] if long else []


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        records = [line.rstrip("\n").partition("\t")[2].split(" ") for line in file]
    draw = random.Random(SEED)
    for kind in (near, quorum, sentence, start, before, prefix):
        made = []
        while len(made) < EACH:
            least = LONG if len(made) % 2 else 1
            record = draw.choice(records)
            ends = kind is sentence
            # A word that may not be taken keeps its position.
            words = [word if len(word) >= least and (ends or word != ".") else None for word in record]
            if ends:
                words = ["." if word == "." else own for word, own in zip(record, words)]
            if not any(word and word != "." for word in words):
                continue
            query = kind(words, draw)
            is_plain = query and all(word.isascii() and word.isalpha() for word in query)
            if is_plain and len(set(query)) == len(query) and query not in made:
                made.append(query)
        for query in made:
            print(f"{kind.__name__}\t{' '.join(query)}")


main()
