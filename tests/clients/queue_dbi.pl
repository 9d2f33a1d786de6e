# Q4M's ways of using queues, through Perl DBI against a running server; see run.sh. SEINE_SOCKET connects by a unix socket.
use strict;
use warnings;
use DBI;

sub connection {
    my ($database) = @_;
    my $where = $ENV{SEINE_SOCKET}
        ? "mysql_socket=$ENV{SEINE_SOCKET}"
        : "host=$ENV{SEINE_HOST};port=$ENV{SEINE_PORT}";
    return DBI->connect(
        'DBI:mysql:database=' . ($database || 'test') . ";$where", 'root', '',
        { RaiseError => 1, PrintError => 0, AutoCommit => 1 },
    );
}

sub rows {
    my ($db, $sql, @values) = @_;
    my $found = $db->selectall_arrayref($sql, {}, @values);
    return join ';', map { join ',', map { defined ? $_ : 'NULL' } @$_ } @$found;
}

sub check {
    my ($what, $got, $want) = @_;
    die "$what\n  got:  $got\n  want: $want\n" if $got ne $want;
}

sub make {
    my ($db, $name, $columns) = @_;
    $db->do("drop table if exists $name");
    $db->do("create table $name ($columns) engine=queue default charset=utf8");
}

# The statements of Q4M's install.sql.
sub install {
    my ($db) = @_;
    $db->do(q{INSTALL PLUGIN queue SONAME 'libqueue_engine.so'});
    for my $name (qw(queue_wait queue_end queue_abort queue_rowid queue_set_srcid queue_compact)) {
        $db->do("CREATE FUNCTION $name RETURNS INT SONAME 'libqueue_engine.so'");
    }
    $db->do(q{CREATE FUNCTION queue_stats RETURNS STRING SONAME 'libqueue_engine.so'});
}

# One connection owns a row, another looks at the queue.
sub owner_mode {
    my ($owner, $other) = @_;
    make($owner, 'dq', 'v int not null');
    check('no such queue', rows($owner, q{select queue_wait('nothing', 1)}), 'NULL');
    $owner->do('insert into dq values (1),(2),(3)');
    check('taken', rows($owner, 'select queue_wait(?)', 'dq'), '1');
    check('its own', rows($owner, 'select * from dq'), '1');
    check('the others', rows($other, 'select * from dq'), '2;3');
    check('given back', rows($owner, 'select queue_abort()'), '1');
    check('in its place', rows($other, 'select * from dq'), '1;2;3');
    eval { $owner->do('select queue_abort()') };
    check('no owner', $owner->errstr, 'queue_abort(): not in owner mode');
    rows($owner, q{select queue_wait('dq')});
    check('deleted by its owner', $owner->do('delete from dq'), 1);
    check('empty for its owner', rows($owner, 'select * from dq'), '');
    rows($owner, 'select queue_abort()');
    check('stays deleted', rows($owner, 'select * from dq'), '2;3');
    rows($owner, q{select queue_wait('dq')});
    $owner->disconnect;
    1 while rows($other, 'select * from dq') ne '2;3';
    rows($other, q{select queue_wait('dq', 10)});
    check('back when its connection went', rows($other, 'select * from dq'), '2');
    rows($other, 'select queue_end()');
    eval { $other->do('update dq set v = 1') };
    check('no UPDATE', $other->err, 1031);
}

# Several queues, conditions, priorities in one table.
sub conditions {
    my ($db) = @_;
    make($db, 'dq', 'v int not null');
    make($db, 'dp', 'id int not null,prio tinyint not null,body longtext not null');
    $db->do(q{insert into dp values (1,0,'a'),(2,1,'b'),(3,0,'c')});
    $db->do('insert into dq values (9)');
    check('the first queue', rows($db, q{select queue_wait('dq','dp',5)}), '1');
    check('the other looks empty', rows($db, 'select * from dp'), '');
    check('the second queue', rows($db, q{select queue_wait('dq','dp:prio=1','dp:prio=0',5)}), '2');
    check('priority', rows($db, 'select id,prio from dp'), '2,1');
    check('the lower one', rows($db, q{select queue_wait('dp:prio=1','dp:prio=0',5)}), '2');
    check('in order', rows($db, 'select id from dp'), '1');
    check('none', rows($db, q{select queue_wait('dp:id!=3',0)}), '0');
    check('owner mode without a row', rows($db, 'select count(*) from dp'), '0');
    check('a text', rows($db, q{select queue_wait('dp:body=\'c\'',0)}), '1');
    check('no expression', rows($db, q{select queue_wait('dp:id=',0)}), 'NULL');
    check('a warning', $db->{mysql_warning_count}, 1);
    check('over', rows($db, 'select queue_end()'), '1');
    $db->do(q{insert into dp values (-1,0,'d')});
    check('an id below nought', rows($db, 'select id from dp where id < 0'), '-1');
}

# A relay: queue_rowid at the source, queue_set_srcid at the target.
sub relay {
    my ($source, $target) = @_;
    make($source, 'dq', 'v int not null,s mediumtext not null');
    make($target, 'dt', 's mediumtext not null,v int not null');
    $source->do('insert into dq values (?,?)', {}, $_, "it's $_") for 1 .. 3;
    for (1 .. 3) {
        rows($source, 'select queue_wait(?)', 'dq');
        my $row = rows($source, 'select queue_rowid()');
        my $found = $source->selectrow_hashref('select * from dq');
        for (1, 2) {    # the second put is a retry, as after a lost answer
            check('source', rows($target, 'select queue_set_srcid(?,?,?)', 0, 'a', $row), '1');
            my @names = sort keys %$found;
            $target->do('insert into dt (' . join(',', @names) . ') values ('
                . join(',', map { $target->quote($found->{$_}) } @names) . ')');
        }
    }
    rows($source, 'select queue_end()');
    check('each once', rows($target, 'select * from dt'), q{it's 1,1;it's 2,2;it's 3,3});
    check('no such sender', rows($target, q{select queue_set_srcid(64,'a',1)}), 'NULL');
}

# The shapes of multireader, multirw and multiwait: each message is received once.
sub shape {
    my ($name, $writes) = @_;
    my ($children, $loop) = (8, 25);
    my $db = connection();
    make($db, 'dq', 'v int not null');
    my @readers;
    for my $child (0 .. $children - 1) {
        pipe my $read, my $write;
        if (fork) {
            close $write;
            push @readers, $read;
            next;
        }
        $db->{InactiveDestroy} = 1;
        my $own = connection('any_other_name');
        for my $turn (0 .. $loop - 1) {
            my $value = $child * $loop + $turn;
            $own->do("insert into dq values ($value)") if $writes eq 'before';
            my $row = '';
            while ($row eq '') {
                rows($own, q{select queue_wait('dq')});
                $row = rows($own, 'select * from dq');
            }
            print {$write} "$row\n";
            $own->do("insert into dq values ($value)") if $writes eq 'after';
        }
        rows($own, 'select queue_end()');
        $own->disconnect;
        close $write;
        $db->{InactiveDestroy} = 1;
        require POSIX;
        POSIX::_exit(0);
    }
    my $all = $children * $loop;
    if ($writes eq 'never') {
        for (my $first = 0; $first < $all; $first += 50) {
            $db->do('insert into dq values ' . join ',', map { "($_)" } $first .. $first + 49);
        }
    }
    if ($writes eq 'after') {
        $db->do('insert into dq values (0)') for 1 .. $children / 4;
    }
    my @received = map { my $reader = $_; map { chomp; $_ } <$reader> } @readers;
    wait for 1 .. $children;
    my $left = $writes eq 'after' ? $children / 4 : 0;
    check("$name: left", rows($db, 'select count(*) from dq'), $left);
    check("$name: received", scalar @received, $all);
    my %seen;
    $seen{$_}++ for @received, map { $_->[0] } @{ $db->selectall_arrayref('select v from dq') };
    check("$name: distinct", scalar keys %seen, $all);
}

install(connection());
owner_mode(connection(), connection());
conditions(connection());
relay(connection(), connection('another'));
shape('multireader', 'never');
shape('multirw',     'before');
shape('multiwait',   'after');
my $db = connection();
$db->do("drop table if exists $_") for qw(dq dp dt);
