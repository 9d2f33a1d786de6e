<?php
// PHP's PDO against a running server, parameters filled in by the client; see run.sh.

function check(string $what, mixed $got, mixed $want): void
{
    if ($got !== $want) {
        fwrite(STDERR, "$what\n  got:  " . var_export($got, true) . "\n  want: " . var_export($want, true) . "\n");
        exit(1);
    }
}

/** The statement fails with that error. */
function refused(int $code, string $state, callable $ask): void
{
    try {
        $ask();
    } catch (PDOException $error) {
        check($error->getMessage(), [$error->errorInfo[1], $error->errorInfo[0]], [$code, $state]);
        return;
    }
    fwrite(STDERR, "not refused: error $code was awaited\n");
    exit(1);
}

$address = 'mysql:host=' . getenv('SEINE_HOST') . ';port=' . getenv('SEINE_PORT') . ';dbname=any;charset=utf8mb4';
// With native prepared statements switched on, PDO fills in the parameters itself after error 1295.
foreach ([true, false] as $emulates) {
    $db = new PDO($address, 'anyone', '', [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_EMULATE_PREPARES => $emulates,
    ]);
    $db->exec('DROP TABLE IF EXISTS f_posts');
    $db->exec('CREATE TABLE f_posts (`body` text, `score` int)');
    $insert = $db->prepare('INSERT INTO `f_posts` (`id`, `body`, `score`) VALUES (?, ?, ?)');
    $insert->execute([1, "it's a \"back\\slash\" naïve", 4294967295]);
    $insert->execute([2, "two\nlines", null]);
    check('rows inserted', $insert->rowCount(), 1);
    $select = $db->prepare('SELECT `id`, `f_posts`.`body`, `score` FROM `f_posts` WHERE `score` >= :least ORDER BY `id` ASC');
    $select->execute(['least' => 1]);
    $want = [['id' => 1, 'body' => "it's a \"back\\slash\" naïve", 'score' => 4294967295]];
    check('row', $select->fetchAll(PDO::FETCH_ASSOC), $want);
    $rows = implode(',', array_map(fn ($id) => "($id, 'many words')", range(100, 1099)));
    check('many rows', $db->exec("INSERT INTO f_posts (id, body) VALUES $rows"), 1000);
    check('count', $db->query("SELECT COUNT(*) FROM f_posts WHERE MATCH('many')")->fetchColumn(), 1000);
    $db->exec("INSERT INTO f_posts (body) VALUES ('given an id')");
    check('id', $db->lastInsertId(), '1100');

    check('before', $db->inTransaction(), false);
    $db->beginTransaction();
    check('within', $db->inTransaction(), true);
    $db->exec("INSERT INTO f_posts (id, body) VALUES (2001, 'committed')");
    check('commit', $db->commit(), true);
    $db->beginTransaction();
    check('rollback of nothing', $db->rollBack(), true);
    $db->beginTransaction();
    $db->exec("INSERT INTO f_posts (id, body) VALUES (2002, 'one of two')");
    $db->exec("INSERT INTO f_posts (id, body) VALUES (2003, 'two of two')");
    check('seen within', $db->query('SELECT COUNT(*) FROM f_posts WHERE id > 2000')->fetchColumn(), 3);
    check('rollback', $db->rollBack(), true);
    check('what was undone', $db->query('SELECT COUNT(*) FROM f_posts WHERE id > 2000')->fetchColumn(), 1);
    $db->beginTransaction();
    $db->exec("INSERT INTO f_posts (id, body) VALUES (2002, 'one of two')");
    $db->exec("INSERT INTO f_posts (id, body) VALUES (2003, 'two of two')");
    check('commit of two', $db->commit(), true);
    check('after', $db->inTransaction(), false);
    check('what was written', $db->query('SELECT COUNT(*) FROM f_posts WHERE id > 2000')->fetchColumn(), 3);

    refused(1146, '42S02', fn () => $db->query('SELECT * FROM f_missing'));
    refused(1054, '42S22', fn () => $db->query('SELECT nothing FROM f_posts'));
    refused(1062, '23000', fn () => $db->exec("INSERT INTO f_posts (id, body) VALUES (1, 'again')"));
    refused(1064, '42000', fn () => $db->query('SELEKT 1'));
    $db->exec('DROP TABLE f_posts');
    $db = null;
}
