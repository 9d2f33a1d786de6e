/* Q4M's shapes through libmysqlclient (or MariaDB's) against a running server; see run.sh.
 * usage: queue_client write|read|rw|wait COUNT FIRST
 *   write  inserts COUNT rows, FIRST and up
 *   read   receives COUNT rows
 *   rw     COUNT times: inserts a row, then receives one
 *   wait   COUNT times: receives a row, then inserts one
 * What is received is printed, a line each. SEINE_SOCKET connects by a unix socket. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MYSQL *db;

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, mysql_error(db));
    exit(1);
}

static void run(const char *sql)
{
    if (mysql_query(db, sql) != 0) {
        fail(sql);
    }
}

/* The first cell of the first row; 0 where there is no row. */
static int first(const char *sql, char *cell, size_t size)
{
    MYSQL_RES *result;
    MYSQL_ROW row;
    int found = 0;
    run(sql);
    if ((result = mysql_store_result(db)) == NULL) {
        fail(sql);
    }
    if ((row = mysql_fetch_row(result)) != NULL && row[0] != NULL) {
        snprintf(cell, size, "%s", row[0]);
        found = 1;
    }
    mysql_free_result(result);
    return found;
}

static void insert(unsigned value)
{
    char sql[64];
    snprintf(sql, sizeof sql, "INSERT INTO cq VALUES (%u)", value);
    run(sql);
    if (mysql_affected_rows(db) != 1) {
        fail("one row is inserted");
    }
}

static void receive(void)
{
    char cell[32];
    do {
        if (!first("SELECT queue_wait('cq')", cell, sizeof cell)) {
            fail("queue_wait answers a number");
        }
    } while (!first("SELECT v FROM cq", cell, sizeof cell));
    puts(cell);
}

int main(int argc, char **argv)
{
    const char *host = getenv("SEINE_HOST"), *port = getenv("SEINE_PORT"), *file = getenv("SEINE_SOCKET");
    unsigned i, count, value;
    char cell[32];
    if (argc != 4 || host == NULL || port == NULL) {
        fprintf(stderr, "usage: queue_client write|read|rw|wait COUNT FIRST\n");
        return 2;
    }
    count = (unsigned)strtoul(argv[2], NULL, 10);
    value = (unsigned)strtoul(argv[3], NULL, 10);
    if ((db = mysql_init(NULL)) == NULL) {
        return 2;
    }
    if (mysql_real_connect(db, file != NULL ? NULL : host, "root", "", "test", (unsigned)atoi(port), file, 0) == NULL) {
        fail("connect");
    }
    for (i = 0; i < count; i++) {
        if (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "rw") == 0) {
            insert(value + i);
        }
        if (strcmp(argv[1], "write") != 0) {
            receive();
        }
        if (strcmp(argv[1], "wait") == 0) {
            insert(value + i);
        }
    }
    if (!first("SELECT queue_end()", cell, sizeof cell) || strcmp(cell, "1") != 0) {
        fail("queue_end answers 1");
    }
    mysql_close(db);
    return 0;
}
