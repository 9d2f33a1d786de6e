#!/usr/bin/env bash
# MariaDB Connector/J and MySQL Connector/J against a running server; see run.sh. SEINE_TEST_JARS: the folder with both.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
jars=(${SEINE_TEST_JARS:?names the folder with the drivers for Java}/*.jar)
[ "${#jars[@]}" = 2 ] || { echo "want two drivers in $SEINE_TEST_JARS, found: ${jars[*]}" >&2; exit 1; }
address=$SEINE_HOST:$SEINE_PORT/any_database
common='allowMultiQueries=true&useServerPrepStmts'
# The third asks for prepared statements: the driver goes back to its own after error 1295.
java -cp "${jars[0]}:${jars[1]}" "$here/JdbcClient.java" \
    "jdbc:mariadb://$address?$common=false" \
    "jdbc:mysql://$address?$common=false&useInformationSchema=false" \
    "jdbc:mysql://$address?$common=true&useInformationSchema=false&rewriteBatchedStatements=true"
