"""Documents and queries from a seed, equal on every machine and with every version of Python."""

SEED = 20_110_215  # SEED in the environment replaces it
DOCUMENTS = 400
QUERIES = 10_000
EACH_OPERATOR = 300
RANKERS = ("proximity_bm25", "bm25", "none", "wordcount", "proximity", "matchany", "fieldmask", "sph04")

# Common words first: the first word is drawn most often, the last least often.
VOCABULARY = (
    "the of and cat dog star wars running runs run alpha beta gamma category catalog generally generous relational "
    "house houses mouse mice theory ant 7 a3 sky_blue delta epsilon kind kindly kindness nation national x"
).split()
FIELDS = ("title", "body")
# Words of one stem: a query with two of them repeats a word.
STEMS = (("running", "runs", "run"), ("house", "houses"), ("kind", "kindly", "kindness"), ("nation", "national"))


class Dice:
    """Numbers from a seed (splitmix64), since `random` may change between versions."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (1 << 64) - 1
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return mixed ^ mixed >> 31

    def below(self, bound):
        return self.next() % bound

    def chance(self, percent):
        return self.below(100) < percent

    def of(self, choices):
        return choices[self.below(len(choices))]

    def word(self):
        """A word: the smaller of two random places in the vocabulary, so that early words come most often."""
        return VOCABULARY[min(self.below(len(VOCABULARY)) for _ in range(2))]


# A document ---------------------------------------------------------------------------------------------------------

PARAGRAPH = "\n\n"
BETWEEN = (" ",) * 14 + (", ", " - ", "-", "'", ". ", ". ", "! ", "? ", "; ", ".", '" ', " (", ") ", PARAGRAPH)
ABBREVIATIONS = ("Mr.", "U.S.", "S.p.A.", "J. Smith", "Corp.")
STOPS = ".!? "


def text(dice, words_max):
    """Up to `words_max` words and abbreviations with spaces, punctuation or paragraph ends between them."""
    parts = []
    for _ in range(dice.below(words_max + 1)):
        if dice.chance(4):
            parts += [dice.of(ABBREVIATIONS), dice.of((" ", ", "))]
        else:
            word = dice.word()
            parts += [word.capitalize() if dice.chance(25) else word, dice.of(BETWEEN)]
    return "".join(parts).strip().rstrip(STOPS)


def documents(dice):
    """(id, title, body) of every document. An empty line ends a paragraph."""
    return [(number, text(dice, 6), text(dice, 24)) for number in range(1, DOCUMENTS + 1)]


# A query ------------------------------------------------------------------------------------------------------------


class Query:
    """A query and the facts about it that `listed.py` asks for.

    `operators`  names of the operators in it
    `nested`     pairs (outer, inner): an operator within another
    `words`      words outside of NOT; `excluded` are the words behind NOT
    `shares`     pairs (percent, words) of its quorums by share
    `depth`      0 for a word or a quote, 1 for an operator over these, and so on
    """

    def __init__(self, text, *parts, operators=(), words=(), depth=0, excluded=(), shares=()):
        self.text = text
        self.operators = set(operators).union(*(part.operators for part in parts))
        self.nested = {(outer, inner) for outer in operators for part in parts for inner in part.operators}
        self.nested = self.nested.union(*(part.nested for part in parts))
        self.shares = list(shares) + [share for part in parts for share in part.shares]
        self.words = list(words) + [word for part in parts for word in part.words]
        self.excluded = list(excluded) + [word for part in parts for word in part.excluded]
        self.depth = max([depth] + [part.depth + 1 for part in parts])

    def repeats(self):
        """Whether two words of the query have one stem."""
        stems = {word: words[0] for words in STEMS for word in words}
        words = [word.lstrip("=") for word in self.words + self.excluded]
        words = [stems.get(word, word) for word in words]
        return len(set(words)) < len(words)

    def has(self, *operators):
        return bool(self.operators.intersection(operators))

    def has_within(self, outer, inner):
        """Whether an operator of `inner` lies within an operator of `outer`."""
        return any(one in outer and other in inner for one, other in self.nested)

    def exclude(self, *parts):
        """Adds parts that the query excludes."""
        for part in parts:
            self.operators |= part.operators
            self.nested |= part.nested | {("not", operator) for operator in part.operators}
            self.excluded += part.words + part.excluded
            self.shares += part.shares
            self.depth = max(self.depth, part.depth + 1)


def bracketed(query):
    return query.text if query.depth == 0 else f"({query.text})"


def many(dice, most):
    return [dice.word() for _ in range(2 + dice.below(most - 1))]


def plain(dice):
    word = dice.word()
    return Query(word, words=[word])


def exact(dice):
    word = dice.word()
    return Query(f"={word}", operators=["exact"], words=[f"={word}"])


def first(dice):
    word = dice.word()
    return Query(f"^{word}", operators=["first"], words=[word])


def last(dice):
    word = dice.word()
    return Query(f"{word}$", operators=["last"], words=[word])


def wildcard(dice, forms=("{0}*", "*{1}", "*{2}*", "{3}?{4}", "{0}%")):
    word = dice.of(["runs", "category", "kind", "nation", "theory", "house", "alpha", "gene"])
    form = dice.of(forms)
    written = form.format(word, word[1:], word[1:-1], word[:1], word[2:])
    return Query(written, operators=["wildcard"], words=[written])


def phrase(dice):
    words = many(dice, 3)
    return Query(f'"{" ".join(words)}"', operators=["phrase"], words=words)


def gap(dice):
    words = many(dice, 3)
    kept = list(words)
    words.insert(1 + dice.below(len(words) - 1), "*")
    ends = dice.of(["", "", "", "^", "$"])
    written = " ".join(words)
    written = f"^{written}" if ends == "^" else written + ends
    return Query(f'"{written}"', operators=["gap"] + (["first"] if ends == "^" else []) + (["last"] if ends == "$" else []), words=kept)


def wild_phrase(dice):
    one, other = wildcard(dice, ("{0}*", "{3}?{4}")), dice.word()
    both = [one.text, other] if dice.chance(50) else [other, one.text]
    return Query(f'"{" ".join(both)}"', operators=["phrase", "wildcard"], words=both)


def proximity(dice):
    words = many(dice, 4)
    return Query(f'"{" ".join(words)}"~{1 + dice.below(6)}', operators=["proximity"], words=words)


def quorum(dice):
    words = many(dice, 6)
    if dice.chance(50):
        return Query(f'"{" ".join(words)}"/{1 + dice.below(len(words))}', operators=["quorum"], words=words)
    share = 1 + dice.below(100)
    return Query(f'"{" ".join(words)}"/{share / 100:.2f}', operators=["share"], words=words, shares=[(share, len(words))])


LEAVES = (plain,) * 8 + (exact, first, last, wildcard, phrase, gap, wild_phrase, proximity, quorum, quorum)


def leaf(dice):
    return dice.of(LEAVES)(dice)


def operand(dice, depth):
    return leaf(dice) if depth <= 0 or dice.chance(40) else combined(dice, depth)


def conjunction(dice, depth):
    parts = [operand(dice, depth - 1) for _ in range(2 + dice.below(3))]
    return Query(" ".join(map(bracketed, parts)), *parts, operators=["and"])


def alternation(dice, depth):
    parts = [operand(dice, depth - 1) for _ in range(2 + dice.below(3))]
    return Query(" | ".join(map(bracketed, parts)), *parts, operators=["or"])


def loose(dice, depth):
    """AND and OR without brackets: shows which of them binds tighter."""
    one, other, third = operand(dice, depth - 1), leaf(dice), leaf(dice)
    return Query(f"{bracketed(one)} {other.text} | {third.text}", one, other, third, operators=["and", "or"])


def negation(dice, depth):
    wanted, unwanted = operand(dice, depth - 1), operand(dice, depth - 1)
    query = Query(f"{bracketed(wanted)} {dice.of('-!')}{bracketed(unwanted)}", wanted, operators=["not"])
    query.exclude(unwanted)
    return query


def negated_or(dice, depth):
    one, other, third = operand(dice, depth - 1), leaf(dice), leaf(dice)
    query = Query(f"{bracketed(one)} -{other.text} | {third.text}", one, operators=["not", "not or"])
    query.exclude(other, third)
    return query


def infix(name, operator, operand=operand):
    def build(dice, depth):
        parts = [operand(dice, depth - 1) for _ in range(2 if "/" in operator else 2 + dice.below(2))]
        between = f" {operator.format(1 + dice.below(5))} "
        return Query(between.join(map(bracketed, parts)), *parts, operators=[name])

    return build


maybe = infix("maybe", "MAYBE")


def atom(dice, depth):
    """An operand that Sphinx accepts beside SENTENCE: a word or a phrase. 3 % are any operand."""
    return operand(dice, depth) if dice.chance(3) else dice.of((plain, plain, exact, phrase, gap))(dice)


def in_field(build):
    """Limits 99 % of the queries to one field, since a sentence of Sphinx continues from the end of a field into the next field."""

    def limited(dice, depth):
        query = build(dice, depth)
        if dice.chance(99):
            query.text = f"@{dice.of(FIELDS)} ({query.text})"
        return query

    return limited


def near(dice, depth):
    """NEAR. Sphinx loses places of words that both operands have, so 90 % of the queries with such words are drawn again."""
    query = infix("near", "NEAR/{}", atom)(dice, depth)
    return near(dice, depth) if query.repeats() and dice.chance(90) else query


order = infix("order", "<<", atom)
sentence = in_field(infix("sentence", "SENTENCE", atom))
paragraph = in_field(infix("paragraph", "PARAGRAPH", atom))


def field(dice, depth):
    inner = operand(dice, depth - 1)
    form = dice.of(["@{0} {2}", "@({0},{1}) {2}", "@!{0} {2}", "@!({0}) {2}", "@* {2}"])
    name, other = dice.of(FIELDS), dice.of(FIELDS)
    return Query(form.format(name, other, bracketed(inner)), inner, operators=["field"])


def place(dice, depth):
    inner = operand(dice, depth - 1)
    while inner.has("first", "last", "wildcard") and dice.chance(97):
        inner = operand(dice, depth - 1)
    return Query(f"@{dice.of(FIELDS)}[{1 + dice.below(8)}] {bracketed(inner)}", inner, operators=["place"])


OF_ATOMS = (order, near, sentence, paragraph)
OPERATORS = (conjunction, alternation, loose, negation, negated_or, maybe, order, near, sentence, paragraph, field, place)


def combined(dice, depth):
    return dice.of(OPERATORS)(dice, depth)


def one(dice, shape, is_nested):
    """A query of this shape. If `is_nested`, an operator over words and quotes lies within another operator; else none does."""
    if is_nested and (shape in LEAVES or shape in OF_ATOMS):
        inner, outer = one(dice, shape, False), dice.of(OPERATORS)(dice, 1)
        return Query(f"{bracketed(outer)} {bracketed(inner)}", outer, inner, operators=["and"])
    if shape in LEAVES:
        return shape(dice)
    while True:
        query = shape(dice, 2 + dice.below(2) if is_nested else 1)
        if (query.depth > 1) == is_nested:
            return query


def queries(dice, count):
    """Draws queries, 10 nested among each 19. With the queries of `queries.txt`, half of all are nested."""
    shapes = LEAVES[7:] + OPERATORS * 2
    return [one(dice, shapes[number // 19 % len(shapes)], number % 19 < 10) for number in range(count)]
