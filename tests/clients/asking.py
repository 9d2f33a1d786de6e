"""Functions that the scripts with PyMySQL share."""

import pymysql


def ask(connection, sql, arguments=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchall()


def refused(connection, code, sql):
    """Checks that a statement fails with this code, and returns the message of the error."""
    try:
        ask(connection, sql)
    except pymysql.err.MySQLError as error:
        assert error.args[0] == code, (sql, error.args)
        return error.args[1]
    raise AssertionError(f"not refused: {sql}")
