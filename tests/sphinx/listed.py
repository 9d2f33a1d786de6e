"""The intended differences from Sphinx as predicates: the list "Other than in Sphinx and Manticore" of docs/language.md.

Each predicate takes a Difference, and the first that holds names it. A predicate tests everything that its reason predicts about the
answers. A looser predicate would hide a bug: `compare.py` must fail with a server that has one.
"""

import re
import struct

BM25 = ("proximity_bm25", "bm25", "sph04")
RUNS = ("proximity_bm25", "proximity", "matchany", "sph04")
WORD = re.compile(r"[\w?%*]+")
# Signs that Sphinx reads as operators or wildcards in texts that people wrote, where they mean punctuation.
SIGNS = re.compile(r"""[-!?"'/~@$^=|&<()*]""")


class Difference:
    """A query to which the two servers answered differently.

    `kind` is `rows`, `weights`, `refused` (by Seine alone) or `allowed` (by Seine alone). `ours` and `theirs` are the answers: the
    text of an error, or pairs (id, weight).
    """

    def __init__(self, kind, query, table, ranker, ours, theirs):
        self.kind, self.query, self.table, self.ranker = kind, query, table, ranker
        self.ours, self.theirs = ours, theirs

    def weights(self):
        """Pairs (our weight, their weight) of the rows whose weights differ."""
        theirs = dict(self.theirs)
        return [(weight, theirs[row]) for row, weight in self.ours if weight != theirs[row]]

    def is_of_weights(self, holds):
        return self.kind == "weights" and all(holds(ours, theirs) for ours, theirs in self.weights())

    def finds(self, more, fewer):
        return self.kind == "rows" and {row for row, _ in fewer} < {row for row, _ in more}


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def wanted_there(share, words):
    """Number of words that Sphinx requires for a share in percent. It rounds to whole percents first, in single precision."""
    percent = int(single(single(share / 100) * 100))
    hundredth = single(single(1) / single(100))
    return int(single(single(single(hundredth * percent) * words) + 0.5))


def wanted_here(share, words):
    return (share * words + 50) // 100


def is_rounded(it):
    return it.ranker in BM25 and it.is_of_weights(lambda ours, theirs: abs(ours - theirs) <= 1)


def signs(it):
    is_known = it.kind == "rows" or it.kind == "allowed" and "syntax error" in it.theirs
    return is_known and it.query.has("user") and SIGNS.search(it.query.text)


def units_of_anything(it):
    return it.kind == "allowed" and "syntax error" in it.theirs and it.query.has("sentence", "paragraph")


def units_end_with_fields(it):
    return it.query.has("sentence", "paragraph") and it.finds(it.theirs, it.ours)


def place_of_a_place(it):
    return it.kind in ("rows", "weights") and it.query.has_within(("place",), ("first", "last", "wildcard"))


def share_of_half(it):
    return it.kind == "rows" and any(wanted_here(*share) != wanted_there(*share) for share in it.query.shares)


def repeated_in_a_quorum(it):
    """Sphinx asks for each word once where a quorum asks for all of its words, and for each repetition where it asks for fewer."""
    return it.kind == "rows" and it.query.has("quorum", "share") and it.query.repeats()


def operands_of_operands(it):
    apart = it.query.operators - {"exact", "phrase", "gap", "first", "last", "wildcard"}
    return it.kind == "rows" and (it.query.has_within(("near", "order"), apart) or it.query.has("near", "order") and it.query.repeats())


def wildcard_in_a_phrase(it):
    return it.kind == "rows" and it.query.has_within(("phrase",), ("wildcard",)) and "*" in it.query.text


def unmatched(it):
    return it.kind == "weights" and it.query.has_within(("or", "maybe"), ("not", "quorum", "share", "maybe"))


def within_a_gap(it):
    return it.ranker in RUNS and it.query.has("gap") and it.is_of_weights(lambda ours, theirs: ours < theirs)


def excluded_twice(it):
    is_exact = it.ranker == "sph04" and it.is_of_weights(lambda ours, theirs: abs(ours - theirs) == 1000)
    return is_exact and it.query.has_within(("not",), ("not",))


def many_words(it):
    return it.kind == "weights" and it.ranker == "matchany" and len(WORD.findall(it.query.text)) > 8


def newer_stems(it):
    same_runs = it.ranker in BM25 and it.is_of_weights(lambda ours, theirs: ours // 1000 == theirs // 1000)
    return same_runs and it.query.has("user") and it.table == "english"


def hashtags(it):
    same_runs = it.ranker in BM25 and it.is_of_weights(lambda ours, theirs: ours // 1000 == theirs // 1000)
    return same_runs and it.query.has("user") and "#" in it.query.text


# The class of a quorum with a word that is in it twice.
REPEATED = "a quorum of all its words asks for each repetition"

LISTED = {
    "bm25 is one off": is_rounded,
    "each word that a wildcard stands for has its own weight": lambda it: it.kind == "weights" and it.query.has("wildcard"),
    "a word that is asked for again counts once at a place": lambda it: it.kind == "weights" and it.query.repeats(),
    "signs that are no operators where they stand are punctuation": signs,
    "SENTENCE and PARAGRAPH take any operands": units_of_anything,
    "a sentence ends with its field": units_end_with_fields,
    "a place holds for wildcards, ^ and $ too": place_of_a_place,
    "a share of half a word is rounded up": share_of_half,
    REPEATED: repeated_in_a_quorum,
    "<< and NEAR match at stretches": operands_of_operands,
    "what does not match counts nowhere": unmatched,
    "a run does not go on within the gap of a phrase": within_a_gap,
    "what is excluded from what is excluded is not the query's last word": excluded_twice,
    "matchany counts all words of a field": many_words,
    "stem_en is today's Snowball": newer_stems,
    "#tag is a word of its own": hashtags,
}


def name(*difference):
    """The name of the first entry of LISTED that holds for a difference, or None."""
    it = Difference(*difference)
    return next((name for name, holds in LISTED.items() if holds(it)), None)
