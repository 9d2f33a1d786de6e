// MariaDB's and MySQL's drivers for Java against a running server, by the text protocol; see run.sh.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

public class JdbcClient {
    interface Asking {
        void ask() throws SQLException;
    }

    static void check(String what, Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new AssertionError(what + "\n  got:  " + got + "\n  want: " + want);
        }
    }

    /** The statement fails with that error. */
    static void refused(int code, Asking asking) throws SQLException {
        try {
            asking.ask();
        } catch (SQLException error) {
            check(error.getMessage(), error.getErrorCode(), code);
            return;
        }
        throw new AssertionError("not refused: error " + code + " was awaited");
    }

    static List<List<String>> rows(Connection db, String query) throws SQLException {
        try (Statement statement = db.createStatement(); ResultSet found = statement.executeQuery(query)) {
            List<List<String>> rows = new ArrayList<>();
            while (found.next()) {
                List<String> row = new ArrayList<>();
                for (int at = 1; at <= found.getMetaData().getColumnCount(); at++) {
                    row.add(found.getString(at));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    static void run(Connection db, String statement) throws SQLException {
        try (Statement one = db.createStatement()) {
            one.execute(statement);
        }
    }

    public static void main(String[] urls) throws SQLException {
        for (String url : urls) {
            try (Connection db = DriverManager.getConnection(url, "anyone", "")) {
                check("alive", db.isValid(5), true);
                searches(db);
                transactions(db);
                errors(db);
                run(db, "DROP TABLE j_posts");
            }
            System.out.println("   " + url.replaceAll("\\?.*", ""));
        }
    }

    static void searches(Connection db) throws SQLException {
        run(db, "CREATE TABLE `j_posts` (`body` text, `score` int, `ratio` float)");
        String insert = "INSERT INTO `j_posts` (`id`, `body`, `score`, `ratio`) VALUES (?, ?, ?, ?)";
        try (PreparedStatement statement = db.prepareStatement(insert)) {
            for (long id = 1; id <= 500; id++) {
                statement.setLong(1, id);
                statement.setString(2, "it's \"word" + id % 10 + "\" naïve \\ \n");
                statement.setLong(3, 4294967296L - id);
                statement.setFloat(4, 0.5f);
                statement.addBatch();
            }
            check("batch", statement.executeBatch().length, 500);
        }
        String select = "SELECT p.`id`, p.`body`, p.`score` AS points, `ratio` FROM `j_posts` p"
            + " WHERE MATCH(?) AND p.score >= ? ORDER BY p.id ASC LIMIT 100";
        try (PreparedStatement statement = db.prepareStatement(select)) {
            statement.setString(1, "word3");
            statement.setLong(2, 1);
            try (ResultSet found = statement.executeQuery()) {
                check("first", found.next(), true);
                check("id", found.getLong("id"), 3L);
                check("body", found.getString("body"), "it's \"word3\" naïve \\ \n");
                check("points", found.getLong("points"), 4294967293L);
                check("ratio", found.getFloat("ratio"), 0.5f);
                int count = 1;
                while (found.next()) {
                    count++;
                }
                check("rows", count, 50);
            }
        }
        check("count", rows(db, "SELECT COUNT(*) FROM j_posts"), List.of(List.of("500")));
        try (Statement statement = db.createStatement()) {
            check("two results", statement.execute("SELECT 1; SELECT 2"), true);
            check("the second", statement.getMoreResults(), true);
        }
        try (ResultSet columns = db.getMetaData().getColumns(null, null, "j_posts", null)) {
            List<String> names = new ArrayList<>();
            while (columns.next()) {
                names.add(columns.getString("COLUMN_NAME"));
            }
            check("columns", names, List.of("id", "body", "score", "ratio"));
        } catch (SQLException error) {
            // MariaDB's driver reads information_schema, which the server lacks.
            check(error.getMessage(), error.getErrorCode(), 1235);
        }
    }

    static void transactions(Connection db) throws SQLException {
        db.setAutoCommit(false);
        check("autocommit is off", db.getAutoCommit(), false);
        run(db, "INSERT INTO j_posts (id, body) VALUES (2001, 'committed')");
        db.commit();
        db.rollback();
        String left = "SELECT id FROM j_posts WHERE id > 2000 ORDER BY id ASC";
        run(db, "INSERT INTO j_posts (id, body) VALUES (2002, 'one of two')");
        run(db, "INSERT INTO j_posts (id, body) VALUES (2003, 'two of two')");
        db.rollback();
        check("what was undone", rows(db, left), List.of(List.of("2001")));
        run(db, "INSERT INTO j_posts (id, body) VALUES (2002, 'one of two')");
        run(db, "INSERT INTO j_posts (id, body) VALUES (2003, 'two of two')");
        db.commit();
        db.rollback();
        db.setAutoCommit(true);
        check("autocommit is on", db.getAutoCommit(), true);
        check("what was written", rows(db, left), List.of(List.of("2001"), List.of("2002"), List.of("2003")));
    }

    static void errors(Connection db) throws SQLException {
        refused(1146, () -> rows(db, "SELECT * FROM j_missing"));
        refused(1054, () -> rows(db, "SELECT nothing FROM j_posts"));
        refused(1062, () -> run(db, "INSERT INTO j_posts (id, body) VALUES (1, 'again')"));
        refused(1064, () -> run(db, "SELEKT 1"));
        check("alive", db.isValid(5), true);
    }
}
