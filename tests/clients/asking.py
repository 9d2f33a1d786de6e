"""What the scripts that use PyMySQL have in common."""

import pymysql


def ask(connection, sql, arguments=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchall()


def refused(connection, code, sql):
    """The message of the error that the server answers."""
    try:
        ask(connection, sql)
    except pymysql.err.MySQLError as error:
        assert error.args[0] == code, (sql, error.args)
        return error.args[1]
    raise AssertionError(f"not refused: {sql}")
