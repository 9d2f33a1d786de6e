#!/usr/bin/env bash
# MariaDB Connector/J and MySQL Connector/J against a running server; see run.sh. SEINE_TEST_JARS: the folder with both.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
jars=(${SEINE_TEST_JARS:?names the folder with the drivers for Java}/*.jar)
[ "${#jars[@]}" = 2 ] || { echo "want two drivers in $SEINE_TEST_JARS, found: ${jars[*]}" >&2; exit 1; }
address=$SEINE_HOST:$SEINE_PORT/any_database
common='allowMultiQueries=true&useServerPrepStmts'
# The third address asks for prepared statements. After error 1295 the driver fills in the parameters itself.
java -cp "${jars[0]}:${jars[1]}" "$here/JdbcClient.java" \
    "jdbc:mariadb://$address?$common=false" \
    "jdbc:mysql://$address?$common=false&useInformationSchema=false" \
    "jdbc:mysql://$address?$common=true&useInformationSchema=false&rewriteBatchedStatements=true"
