# Perl DBI against a running server; see run.sh. The driver fills in parameters itself. With server-side prepare switched on, it
# does so after error 1295.
use strict;
use warnings;
use DBI;

sub check {
    my ($what, $got, $want) = @_;
    die "$what\n  got:  $got\n  want: $want\n" if $got ne $want;
}

sub rows {
    my ($found) = @_;
    return join ';', map { join ',', map { defined ? $_ : 'NULL' } @$_ } @$found;
}

for my $server_prepares (0, 1) {
    my $db = DBI->connect(
        "DBI:mysql:database=any;host=$ENV{SEINE_HOST};port=$ENV{SEINE_PORT};mysql_server_prepare=$server_prepares",
        'anyone', '', { RaiseError => 1, PrintError => 0, AutoCommit => 1 },
    );
    $db->do('DROP TABLE IF EXISTS d_posts');
    $db->do('CREATE TABLE d_posts (body text, score int)');
    my $insert = $db->prepare('INSERT INTO d_posts (id, body, score) VALUES (?, ?, ?)');
    $insert->execute(1, q{it's a "back\\slash"}, 4294967295);
    $insert->execute(2, "two\nlines", undef);
    my $select = $db->prepare('SELECT id, body, score FROM d_posts WHERE score >= ? ORDER BY id ASC');
    $select->execute(1);
    check('row', rows($select->fetchall_arrayref), q{1,it's a "back\\slash",4294967295});
    check('deleted', $db->do('DELETE FROM d_posts WHERE id = ?', undef, 2), 1);
    check('columns', rows($db->selectall_arrayref(q{SELECT NULL, ''})), 'NULL,');
    eval { $db->do('SELECT nothing FROM d_posts') };
    check('error', $db->err . ' ' . $db->state, '1054 42S22');
    check('ping', $db->ping, 1);
    $db->do('DROP TABLE d_posts');
    $db->disconnect;
}
