#!/usr/bin/env python3
"""Makes crates/cli/data/posts.ndjson.zst, the posts that `seine demo` streams.

    tools/posts/bundle.py posts.ndjson [long.ndjson] > posts.ndjson.new
    zstd --ultra -22 posts.ndjson.new -o crates/cli/data/posts.ndjson.zst

Input: one JSON object a line. The first file has `text`, `sub`, `ts`, `score`. The second, of longer posts
with `source`, `title`, `body`, `category`, `date`, `score`, fills up what the filter takes from the first,
to POSTS_MAX: titles first, then first paragraphs, only of `reddit`, none that begins as an earlier post does.
Output: `id` (1, 2, 3 ...), `body`, `sub`, `ts`, `score`, in the order of the input.

The filter: a post is left out if a word of its text or of its `sub` is in `left-out.txt`. That file
holds digests, not words, so that nobody has to read them: `word` lines match a whole word, `stem`
lines match anywhere inside one. A few harmless posts go with them; nothing needs them back.
`bundle.py --digest word bitter` prints a line to add.
"""

import hashlib
import json
import pathlib
import re
import sys
from functools import lru_cache

POSTS_MAX = 100_000
TEXT_CHARS_MAX = 500
LIST = pathlib.Path(__file__).with_name("left-out.txt")


def digest(text):
    """48 bits of SHA-256: enough that no harmless word of the corpus shares one."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_list():
    kinds = {"word": set(), "stem": set()}
    lengths = set()
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, length, value = line.split()
            kinds[kind].add(value)
            if kind == "stem":
                lengths.add(int(length))
    return kinds["word"], kinds["stem"], sorted(lengths)


WORDS, STEMS, STEM_LENGTHS = read_list()


@lru_cache(maxsize=None)
def is_crude(word):
    if digest(word) in WORDS:
        return True
    return any(
        digest(word[at : at + length]) in STEMS
        for length in STEM_LENGTHS
        for at in range(len(word) - length + 1)
    )


def is_kept(text, sub):
    return not any(is_crude(word) for word in re.findall(r"[a-z]+", f"{text} {sub}".lower()))


def candidates(posts_path, long_path):
    """(text, sub, ts, score) in the order of preference."""
    for row in map(json.loads, open(posts_path, encoding="utf-8")):
        yield row["text"], row["sub"], row["ts"], row["score"]
    rows = [json.loads(line) for line in open(long_path, encoding="utf-8")] if long_path else []
    rows = [row for row in rows if row["source"] == "reddit"]
    for part in (lambda row: row["title"], lambda row: row["body"].split("\n\n")[0]):
        for row in rows:
            if len(part(row)) <= TEXT_CHARS_MAX:
                yield part(row), row["category"], row["date"][:10] + "T00:00:00Z", row["score"]


def bundle(posts_path, long_path, out):
    heads = set()
    count = 0
    for text, sub, ts, score in candidates(posts_path, long_path):
        text = " ".join(text.split())
        head = text[:60].lower()
        if count == POSTS_MAX or not text or head in heads or not is_kept(text, sub):
            continue
        heads.add(head)
        count += 1
        row = {"id": count, "body": text, "sub": sub, "ts": ts, "score": score}
        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{count} posts", file=sys.stderr)


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "--digest" and arguments[1] in ("word", "stem"):
        print(arguments[1], len(arguments[2]), digest(arguments[2]))
    elif len(arguments) in (1, 2):
        bundle(arguments[0], arguments[1] if len(arguments) == 2 else None, sys.stdout)
    else:
        sys.exit(__doc__)


main()
