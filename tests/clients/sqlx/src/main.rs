//! sqlx against a running server, by `raw_sql`: the text protocol, several statements in a text, rows with their types,
//! transactions and codes of errors.

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};
use sqlx::{Connection, Error, Row, raw_sql};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let host = std::env::var("SEINE_HOST").expect("SEINE_HOST");
    let port = std::env::var("SEINE_PORT").expect("SEINE_PORT");
    let options = MySqlConnectOptions::new()
        .host(&host)
        .port(port.parse().expect("a port"))
        .username("anyone")
        .database("any_database");
    let mut connection = MySqlConnection::connect_with(&options).await?;
    connection.ping().await?;
    rows(&mut connection).await?;
    transactions(&mut connection).await?;
    errors(&mut connection).await;
    raw_sql("DROP TABLE x_posts")
        .execute(&mut connection)
        .await?;
    connection.close().await
}

async fn rows(connection: &mut MySqlConnection) -> Result<(), Error> {
    raw_sql("CREATE TABLE x_posts (body text, score int, ratio float)")
        .execute(&mut *connection)
        .await?;
    let values: Vec<String> = (1..=1000)
        .map(|id| format!("({id}, 'word{} naïve', {id}, 0.5)", id % 10))
        .collect();
    let insert = format!(
        "INSERT INTO x_posts (id, body, score, ratio) VALUES {}",
        values.join(",")
    );
    let done = raw_sql(sqlx::AssertSqlSafe(insert))
        .execute(&mut *connection)
        .await?;
    assert_eq!(done.rows_affected(), 1000);
    let found = raw_sql("SELECT `id`, `body`, `score`, `ratio` FROM `x_posts` WHERE MATCH('word3 naive') ORDER BY id ASC LIMIT 200")
        .fetch_all(&mut *connection)
        .await?;
    assert_eq!(found.len(), 100);
    assert_eq!(found[0].try_get_unchecked::<u64, _>("id")?, 3);
    assert_eq!(found[0].try_get::<String, _>("body")?, "word3 naïve");
    assert_eq!(found[0].try_get_unchecked::<i64, _>("score")?, 3);
    assert_eq!(found[0].try_get_unchecked::<f32, _>("ratio")?, 0.5);
    let several = raw_sql("SELECT 1 AS a; SELECT 2 AS a")
        .fetch_all(&mut *connection)
        .await?;
    assert_eq!(several.len(), 2);
    Ok(())
}

async fn transactions(connection: &mut MySqlConnection) -> Result<(), Error> {
    let mut transaction = connection.begin().await?;
    raw_sql("INSERT INTO x_posts (id, body) VALUES (2001, 'committed')")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    for (is_stored, left) in [(false, 1), (true, 3)] {
        let mut transaction = connection.begin().await?;
        for insert in [
            "INSERT INTO x_posts (id, body) VALUES (2002, 'one of two')",
            "INSERT INTO x_posts (id, body) VALUES (2003, 'two of two')",
        ] {
            raw_sql(insert).execute(&mut *transaction).await?;
        }
        match is_stored {
            true => transaction.commit().await?,
            false => transaction.rollback().await?,
        }
        let found = raw_sql("SELECT id FROM x_posts WHERE id > 2000 ORDER BY id ASC")
            .fetch_all(&mut *connection)
            .await?;
        assert_eq!(found.len(), left);
    }
    Ok(())
}

async fn errors(connection: &mut MySqlConnection) {
    for (wanted, statement) in [
        (1146, "SELECT * FROM x_missing"),
        (1054, "SELECT nothing FROM x_posts"),
        (1062, "INSERT INTO x_posts (id, body) VALUES (1, 'again')"),
        (1064, "SELEKT 1"),
    ] {
        let error = raw_sql(statement)
            .execute(&mut *connection)
            .await
            .unwrap_err();
        assert_eq!(number(error), wanted, "{statement}");
    }
    // The server refuses a prepared statement, and the connection stays usable.
    let error = sqlx::query("SELECT ?")
        .bind(1)
        .execute(&mut *connection)
        .await
        .unwrap_err();
    assert_eq!(number(error), 1295);
    connection.ping().await.expect("the connection goes on");
}

/// MySQL's number of an error.
fn number(error: Error) -> u16 {
    let error = error.into_database_error().expect("an error of the server");
    error.downcast_ref::<MySqlDatabaseError>().number()
}
