"""Look-ups of many rows as SQLAlchemy writes them, over PyMySQL: IN, OR, tuples, joins, temporary tables, UNION; see run.sh.

Each answer is compared with that of the same rows in Python. The script asks for no more than MySQL's SQL: it passes against
MariaDB too.
"""

import os
import random

from sqlalchemy import (
    BigInteger, Column, Integer, MetaData, Table, and_, create_engine, func, or_, select, text, tuple_, union, union_all,
)
from sqlalchemy.dialects.mysql import TEXT, VARCHAR
from sqlalchemy.orm import Session, joinedload, registry, relationship, selectinload

ADDRESS = f"mysql+pymysql://anyone@{os.environ['SEINE_HOST']}:{os.environ['SEINE_PORT']}/any_database?charset=utf8mb4"
POSTS = 3000
TABLES = MetaData()
POST = Table(
    "r_posts", TABLES,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("k1", Integer, nullable=False), Column("k2", Integer, nullable=False), Column("body", TEXT, nullable=False),
)
TAG = Table(
    "r_tags", TABLES,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("post_id", BigInteger, nullable=False), Column("name", VARCHAR(20), nullable=False),
)
WANTED = Table("r_wanted", MetaData(), Column("id", BigInteger, nullable=False), prefixes=["TEMPORARY"])
KEYED = Table(
    "r_keyed", MetaData(),
    Column("id", BigInteger, primary_key=True, autoincrement=False), Column("place", Integer, nullable=False), prefixes=["TEMPORARY"],
)


def post(number):
    return (number, number // 10, number % 10, f"word{number % 7} naïve {number}")


# Two posts of three have tags, up to three each.
ROWS = {number: post(number) for number in range(1, POSTS + 1)}
TAGS = [(number, number % 1000 * 3 + number % 2, f"tag{number % 5}") for number in range(1, 3001)]
# Ids that the table has, ids that it has not, ids twice, a negative one.
IDS = random.Random(6).sample(range(1, POSTS + 500), 1200)
IDS += IDS[:20] + [-1]
FOUND = sorted({number for number in IDS if number in ROWS})


class Post:
    pass


class Tag:
    pass


def map_classes():
    mapper = registry()
    mapper.map_imperatively(Tag, TAG)
    tags = relationship(
        Tag, primaryjoin=POST.c.id == TAG.c.post_id, foreign_keys=TAG.c.post_id, order_by=TAG.c.id, viewonly=True
    )
    mapper.map_imperatively(Post, POST, properties={"tags": tags})


def create(engine):
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS r_posts, r_tags"))
        connection.execute(text(
            "CREATE TABLE r_posts (id bigint NOT NULL PRIMARY KEY, k1 int NOT NULL, k2 int NOT NULL, body text NOT NULL, KEY (k1))"
        ))
        connection.execute(text(
            "CREATE TABLE r_tags (id bigint NOT NULL PRIMARY KEY, post_id bigint NOT NULL, name varchar(20) NOT NULL,"
            " KEY (post_id))"
        ))
        connection.execute(POST.insert(), [dict(zip(POST.c.keys(), row)) for row in ROWS.values()])
        connection.execute(TAG.insert(), [dict(zip(TAG.c.keys(), row)) for row in TAGS])


def check(what, got, want):
    got = sorted(tuple(row) for row in got)
    want = sorted(want)
    assert got == want, f"{what}: {len(got)} rows, {len(want)} awaited; {[row for row in got if row not in want][:3]}"


def lists(connection):
    """IN, OR and tuples."""
    want = [ROWS[number] for number in FOUND]
    check("in_", connection.execute(select(POST).where(POST.c.id.in_(IDS))), want)
    check("or_", connection.execute(select(POST).where(or_(*(POST.c.id == number for number in IDS)))), want)
    pairs = [post(number)[1:3] for number in IDS]
    by_pairs = select(POST).where(tuple_(POST.c.k1, POST.c.k2).in_(pairs))
    check("tuple_().in_", connection.execute(by_pairs.limit(POSTS)), want)
    # SQLAlchemy writes no brackets around AND inside OR.
    by_and = or_(*(and_(POST.c.k1 == k1, POST.c.k2 == k2) for k1, k2 in pairs))
    check("or_(and_)", connection.execute(select(POST).where(by_and).limit(POSTS)), want)
    by_key = select(POST).where(POST.c.k1.in_([k1 for k1, _ in pairs[:100]]))
    firsts = {k1 for k1, _ in pairs[:100]}
    check("key in_", connection.execute(by_key.limit(POSTS)), [row for row in ROWS.values() if row[1] in firsts])
    check("no ids", connection.execute(select(POST).where(POST.c.id.in_([]))), [])
    count = select(func.count()).select_from(POST).where(POST.c.id.in_(IDS))
    assert connection.execute(count).scalar() == len(FOUND)


def unions(connection):
    one = [select(POST).where(POST.c.id == number) for number in IDS]
    check("union_all", connection.execute(union_all(*one)), [ROWS[number] for number in IDS if number in ROWS])
    check("union", connection.execute(union(*one)), [ROWS[number] for number in FOUND])
    ordered = union_all(*one[:50]).order_by("id").limit(10)
    want = sorted(ROWS[number] for number in IDS[:50] if number in ROWS)[:10]
    got = [tuple(row) for row in connection.execute(ordered)]
    assert got == want, (got, want)


def temporary(connection):
    """A temporary table, filled by one long INSERT as PyMySQL makes it of many rows, and joined."""
    WANTED.create(connection)
    connection.execute(WANTED.insert(), [{"id": number} for number in IDS])
    each = [ROWS[number] for number in IDS if number in ROWS]
    joined = select(POST).select_from(WANTED.join(POST, POST.c.id == WANTED.c.id))
    check("join", connection.execute(joined), each)
    missing = select(WANTED.c.id, POST.c.body).select_from(WANTED.outerjoin(POST, POST.c.id == WANTED.c.id))
    check("outer join", connection.execute(missing.where(POST.c.id.is_(None)).limit(POSTS)), [
        (number, None) for number in IDS if number not in ROWS
    ])
    WANTED.drop(connection)

    KEYED.create(connection)
    for place, number in enumerate(FOUND[:100]):
        connection.execute(KEYED.insert().values(id=number, place=-place))
    in_order = select(POST.c.id).select_from(KEYED.join(POST, POST.c.id == KEYED.c.id)).order_by(KEYED.c.place)
    got = [row.id for row in connection.execute(in_order.limit(POSTS))]
    assert got == FOUND[:100][::-1], got[:5]
    KEYED.drop(connection)


def joins(connection):
    own = [(post, tag) for post in ROWS.values() for tag in TAGS if tag[1] == post[0] and post[0] in set(FOUND)]
    both = select(POST, TAG).select_from(POST.join(TAG, TAG.c.post_id == POST.c.id)).where(POST.c.id.in_(IDS))
    check("join of two tables", connection.execute(both.limit(10 * POSTS)), [post + tag for post, tag in own])
    other = TAG.alias("t")
    named = select(POST.c.id, other.c.name).select_from(POST.join(other, other.c.post_id == POST.c.id))
    named = named.where(other.c.name == "tag3", POST.c.k2 > 4).order_by(POST.c.id.desc(), other.c.id).limit(40)
    want = [
        (post[0], tag[2]) for tag in sorted(TAGS, key=lambda tag: (-tag[1], tag[0])) if tag[2] == "tag3"
        for post in [ROWS.get(tag[1])] if post and post[2] > 4
    ]
    got = [tuple(row) for row in connection.execute(named)]
    assert got == want[:40], (got[:3], want[:3])


def loading(engine):
    """How the ORM loads what belongs to rows: by IN, and by LEFT OUTER JOIN."""
    of_post = {}
    for tag in TAGS:
        of_post.setdefault(tag[1], []).append(tag[0])
    for load in (selectinload, joinedload):
        with Session(engine) as session:
            posts = session.scalars(select(Post).where(POST.c.id.in_(IDS)).options(load(Post.tags))).unique().all()
            got = sorted((post.id, [tag.id for tag in post.tags]) for post in posts)
            want = [(number, of_post.get(number, [])) for number in FOUND]
            assert got == want, (load.__name__, len(got), len(want), [pair for pair in got if pair not in want][:3])


def main():
    map_classes()
    engine = create_engine(ADDRESS)
    create(engine)
    with engine.connect() as connection:
        lists(connection)
        unions(connection)
        temporary(connection)
        joins(connection)
    loading(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE r_posts, r_tags"))
    engine.dispose()


main()
