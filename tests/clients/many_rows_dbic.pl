# Look-ups of many rows as DBIx::Class and SQL::Abstract write them, over DBD::mysql: OR in brackets, IN, pairs, joins, prefetch,
# a temporary table; see run.sh. DBD::mysql puts quotes around numbers. The script passes against MariaDB too.
use strict;
use warnings;

package Many::Post;
use base 'DBIx::Class::Core';
__PACKAGE__->table('m_posts');
__PACKAGE__->add_columns(
    id   => { data_type => 'bigint' },
    k1   => { data_type => 'int' },
    k2   => { data_type => 'int' },
    body => { data_type => 'text' },
);
__PACKAGE__->set_primary_key('id');

package Many::Tag;
use base 'DBIx::Class::Core';
__PACKAGE__->table('m_tags');
__PACKAGE__->add_columns(
    id      => { data_type => 'bigint' },
    post_id => { data_type => 'bigint' },
    name    => { data_type => 'varchar' },
);
__PACKAGE__->set_primary_key('id');
__PACKAGE__->belongs_to(post => 'Many::Post', 'post_id');
Many::Post->has_many(tags => 'Many::Tag', 'post_id');

package Many::Wanted;
use base 'DBIx::Class::Core';
__PACKAGE__->table('m_wanted');
__PACKAGE__->add_columns(id => { data_type => 'bigint' });
__PACKAGE__->set_primary_key('id');
__PACKAGE__->belongs_to(post => 'Many::Post', 'id', { join_type => 'left' });

package Many;
use base 'DBIx::Class::Schema';
__PACKAGE__->register_class(substr($_, 6), $_) for qw(Many::Post Many::Tag Many::Wanted);

package main;

sub check {
    my ($what, $got, $want) = @_;
    return if $got eq $want;
    die sprintf "%s\n  got:  %.300s\n  want: %.300s\n", $what, $got, $want;
}

# Ids of rows, in order.
sub ids {
    return join ',', sort { $a <=> $b } map { $_->id } @_;
}

my $schema = Many->connect(
    "DBI:mysql:database=any_database;host=$ENV{SEINE_HOST};port=$ENV{SEINE_PORT}",
    'anyone', '', { RaiseError => 1, PrintError => 0, AutoCommit => 1 },
);
my $dbh = $schema->storage->dbh;
$dbh->do("DROP TABLE IF EXISTS $_") for qw(m_posts m_tags);
$dbh->do('CREATE TABLE m_posts (id bigint NOT NULL PRIMARY KEY, k1 int NOT NULL, k2 int NOT NULL, body text NOT NULL, KEY (k1))');
$dbh->do('CREATE TABLE m_tags (id bigint NOT NULL PRIMARY KEY, post_id bigint NOT NULL, name varchar(20) NOT NULL, KEY (post_id))');

my ($posts, $tags) = map { $schema->resultset($_) } qw(Post Tag);
$posts->populate([map { { id => $_, k1 => int($_ / 10), k2 => $_ % 10, body => "it's post $_" } } 1 .. 500]);
# Each even post has a tag, each fourth another.
$tags->populate([map { { id => $_, post_id => $_ * 2, name => 'tag' . $_ % 3 } } 1 .. 250]);
$tags->populate([map { { id => 1000 + $_, post_id => $_ * 4, name => 'other' } } 1 .. 125]);

# Each third id; some have no row, some are in the list twice.
my @asked = ((map { $_ * 3 } 1 .. 200), 3, 6, -1);
my @there = grep { $_ <= 500 } map { $_ * 3 } 1 .. 200;
my $there = join ',', @there;

check('id => [...]', ids($posts->search({ id => [@asked] })), $there);
check('-or => [...]', ids($posts->search({ -or => [map { { id => $_ } } @asked] })), $there);
check('-in', ids($posts->search({ 'me.id' => { -in => [@asked] } })), $there);
check('count', $posts->search({ id => [@asked] })->count, scalar @there);
my @pairs = map { { k1 => int($_ / 10), k2 => $_ % 10 } } grep { $_ > 0 } @asked;
check('pairs', ids($posts->search([@pairs], { rows => 1000 })), $there);
check('find', join(',', map { $posts->find($_)->body } 7, 8), "it's post 7,it's post 8");
check('values', join(';', map { join ',', $_->id, $_->k1, $_->k2, $_->body } $posts->search({ id => [9, 12] }, { order_by => 'id' })),
    "9,0,9,it's post 9;12,1,2,it's post 12");

check('has_many', ids($posts->find(8)->tags), '4,1002');
check('search_related', ids($posts->search({ 'me.id' => [1 .. 8] })->search_related('tags', {}, { rows => 1000 })), '1,2,3,4,1001,1002');
check('join', ids($posts->search({ 'tags.name' => ['tag1', 'other'], 'me.id' => [1 .. 20] }, { join => 'tags', rows => 1000 })),
    '2,4,8,8,12,14,16,20,20');
check('join the other way', join(';', map { $_->id . ' ' . $_->get_column('body') }
        $tags->search({ 'post.id' => [8, 9] }, { join => 'post', '+columns' => { body => 'post.body' }, order_by => 'me.id' })),
    "4 it's post 8;1002 it's post 8");
check('prefetch', join(';', map { join ',', $_->id, sort { $a <=> $b } map { $_->id } $_->tags->all }
        $posts->search({ 'me.id' => [1 .. 4] }, { prefetch => 'tags', order_by => 'me.id' })), '1;2,1;3;4,2,1001');

# A temporary table, filled by single INSERTs in a transaction.
$dbh->do('CREATE TEMPORARY TABLE m_wanted (id bigint NOT NULL, PRIMARY KEY (id))');
my $wanted = $schema->resultset('Wanted');
$schema->txn_do(sub { $wanted->populate([map { { id => $_ } } 1, 2, 250 .. 350, 499 .. 505]) });
check('temporary table', $wanted->count, 110);
my $found = $wanted->search({ 'post.id' => { '!=' => undef } }, { prefetch => 'post', rows => 1000, order_by => 'me.id' });
check('joined', join(',', map { $_->post->body =~ /(\d+)$/ } $found->all), join(',', 1, 2, 250 .. 350, 499, 500));
my $missing = $wanted->search({ 'post.id' => undef }, { join => 'post', rows => 1000 });
check('not joined', ids($missing->all), '501,502,503,504,505');
$dbh->do('DROP TEMPORARY TABLE m_wanted');

check('deleted', $posts->search({ id => [1, 2, 600] })->delete, 2);
check('left', $posts->count, 498);
$dbh->do("DROP TABLE $_") for qw(m_posts m_tags);
$schema->storage->disconnect;
