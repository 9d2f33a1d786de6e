"""SQLAlchemy over PyMySQL against a running server: Core statements, reflection, transactions; see run.sh."""

import os

from sqlalchemy import Column, Float, MetaData, Table, and_, create_engine, delete, func, insert, inspect, select, text
from sqlalchemy.dialects.mysql import BIGINT, INTEGER, TEXT
from sqlalchemy.exc import IntegrityError, NotSupportedError, OperationalError, ProgrammingError

ADDRESS = f"mysql+pymysql://anyone@{os.environ['SEINE_HOST']}:{os.environ['SEINE_PORT']}/any_database?charset=utf8mb4"


def refused(code, ask):
    try:
        ask()
    except (IntegrityError, NotSupportedError, OperationalError, ProgrammingError) as error:
        assert error.orig.args[0] == code, error
        return
    raise AssertionError(f"not refused: error {code} was awaited")


def reflection(engine):
    """Names and columns as the dialect reads them from SHOW CREATE TABLE."""
    seen = inspect(engine)
    assert seen.has_table("a_posts") and not seen.has_table("a_missing")
    assert "a_posts" in seen.get_table_names()
    columns = {column["name"]: column for column in seen.get_columns("a_posts")}
    assert list(columns) == ["id", "body", "order", "price"], columns
    assert isinstance(columns["id"]["type"], BIGINT), columns["id"]
    assert isinstance(columns["body"]["type"], TEXT), columns["body"]
    assert isinstance(columns["order"]["type"], INTEGER), columns["order"]
    assert isinstance(columns["price"]["type"], Float), columns["price"]
    assert seen.get_indexes("a_posts") == []
    queue = {column["name"]: column for column in seen.get_columns("a_jobs")}
    assert queue["v"]["nullable"] is False and queue["s"]["default"] == "'none'", queue
    return Table("a_posts", MetaData(), autoload_with=engine)


def statements(engine, posts):
    with engine.begin() as connection:
        rows = [{"id": n, "body": f"word{n % 10} naïve", "order": n, "price": n / 2} for n in range(1, 501)]
        assert connection.execute(insert(posts), rows).rowcount == 500
    with engine.connect() as connection:
        wanted = and_(posts.c.order > 490, text("MATCH('word3')"))
        found = connection.execute(select(posts).where(wanted).order_by(posts.c.id)).all()
        assert found == [(493, "word3 naïve", 493, 246.5)], found
        other = posts.alias("p")
        labelled = select(other.c.id.label("number"), other.c.price + 1).where(other.c.id.in_([1, 2])).order_by(other.c.id)
        assert connection.execute(labelled).all() == [(1, 1.5), (2, 2.0)]
        assert connection.execute(select(func.count()).select_from(posts)).scalar() == 500


def transactions(engine, posts):
    with engine.connect() as connection:
        connection.execute(insert(posts).values(id=2001, body="committed"))
        connection.commit()
        connection.execute(select(posts.c.id))
        connection.rollback()
        left = select(posts.c.id).where(posts.c.id > 2000).order_by(posts.c.id)
        connection.execute(insert(posts).values(id=2002, body="one of two"))
        connection.execute(insert(posts).values(id=2003, body="two of two"))
        assert connection.execute(left).all() == [(2001,), (2002,), (2003,)]
        connection.rollback()
        assert connection.execute(left).all() == [(2001,)]
        connection.execute(insert(posts).values(id=2002, body="one of two"))
        connection.execute(insert(posts).values(id=2003, body="two of two"))
        connection.commit()
        assert connection.execute(left).all() == [(2001,), (2002,), (2003,)]
        connection.execute(delete(posts).where(posts.c.id > 2001))
        connection.commit()


def errors(engine, posts):
    for code, statement in [
        (1146, text("SELECT * FROM a_missing")),
        (1054, text("SELECT nothing FROM a_posts")),
        (1062, insert(posts).values(id=1, body="again")),
        (1064, text("SELEKT 1")),
    ]:
        with engine.connect() as connection:
            refused(code, lambda: connection.execute(statement))


def main():
    engine = create_engine(ADDRESS)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE a_posts (body text, `order` int, price float)"))
        connection.execute(text("CREATE TABLE a_jobs (v int not null, s varchar(20) default 'none') ENGINE=queue"))
    posts = reflection(engine)
    statements(engine, posts)
    transactions(engine, posts)
    errors(engine, posts)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE a_posts, a_jobs"))
    engine.dispose()


main()
