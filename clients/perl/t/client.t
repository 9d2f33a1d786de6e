use strict;
use warnings;
use utf8;

use Encode qw(decode_utf8);
use Test::More;
use lib '.';
use Seine::Scribe::Client;

plan skip_all => 'SEINE names no binary of a server' unless $ENV{SEINE};
require t::Server;

sub client {
    my ($server, %options) = @_;
    return Seine::Scribe::Client->new(host => '127.0.0.1', port => $server->{port}, %options);
}

my $server = t::Server->new;
{
    my $client = client($server);
    ok $client->log(odd => "a\0b\n", "\n", "é ü\n", "\xff\xfe\n"), 'odd messages are taken';
    my @lines = $server->lines(odd => 4);
    is $lines[0], "a\0b", 'a NUL is kept';
    is $lines[1], '', 'an empty message is kept';
    is decode_utf8($lines[2]), 'é ü', 'characters are sent as UTF-8';
    ok $client->log('none'), 'no message is sent';
    my $large = 'x' x (64 << 20) . "\n";
    ok $client->log(large => $large), 'a message of 64 MiB is taken';
    is length(($server->lines(large => 1))[0]), 64 << 20;
}
{
    my $client = client($server, batch_messages => 30);
    $client->add(order => "$_\n") for 1 .. 1_000;
    cmp_ok $client->waiting, '<', 30, 'full calls are sent at once';
    ok $client->flush, 'the rest is sent';
    is_deeply [ $server->lines(order => 1_000) ], [ 1 .. 1_000 ], 'in order';
}
{
    my $client = client($server);
    $client->add(left => "$_\n") for 1 .. 3;
}
is_deeply [ $server->lines(left => 3) ], [ 1 .. 3 ], 'a client that goes sends what waits';

{
    my $client = client($server, retry_delay => 0.01);
    ok $client->log(kill => "1\n");
    $server->kill9;
    ok !$client->log(kill => "2\n"), 'a message waits while the server is away';
    ok !$client->log(kill => "3\n");
    is $client->waiting, 2;
    $server->start;
    Time::HiRes::sleep(0.02);
    ok $client->log(kill => "4\n"), 'all is sent once the server is back';
    is $client->waiting, 0;
    my @lines = $server->lines(kill => 4);
    my %seen;
    is_deeply [ grep { !$seen{$_}++ } @lines ], [ 1 .. 4 ], 'in order, at least once';
}

my $away = { port => t::Server::free_port() };
{
    my $client = client($away, retry_plan_a => 'die');
    ok !eval { $client->log(a => 'x'); 1 }, 'die';
    like $@, qr/127\.0\.0\.1:\d+: /;
}
{
    my $client = client($away, retry_plan_a => 'wait_count', retry_count => 3, retry_delay => 0.01, retry_plan_b => 'discard');
    ok !$client->log(a => 'x', 'y');
    is_deeply [ $client->discarded, $client->waiting ], [ 2, 0 ], 'wait_count, then discard';
}
{
    my $client = client($away, retry_buffer_size => 3, retry_delay => 60);
    ok !$client->log(a => "$_") for 1 .. 5;
    is_deeply [ $client->waiting, $client->discarded ], [ 3, 2 ], 'buffer, then discard';
    $client->{pid} = 0;    # what is left is meant to be
}
{
    local $SIG{ALRM} = sub { die "alarm\n" };
    my $client = client($away, retry_plan_a => 'wait_forever', retry_delay => 0.01);
    alarm 1;
    ok !eval { $client->log(a => 'x'); 1 };
    alarm 0;
    is $@, "alarm\n", 'wait_forever does not end by itself';
}
{
    my $strict = t::Server->new(globals => 'max_msg_per_second=10');
    my $client = client($strict, retry_plan_a => 'wait_count', retry_delay => 0.2);
    ok $client->log(rate => "$_\n"), 'TRY_LATER is tried again' for 1 .. 25;
    is_deeply [ $strict->lines(rate => 25) ], [ 1 .. 25 ];
    my $dies = client($strict, retry_plan_a => 'die');
    my $told = '';
    for (1 .. 30) { eval { $dies->log(rate => "x\n"); 1 } or $told = $@ }
    like $told, qr/^TRY_LATER/, 'and told where the plan says so';
}
ok !eval { client($away, retry_plan_a => 'hope') }, 'an unknown plan is refused';
ok !eval { client($away, hots => 1) }, 'an unknown option is refused';

done_testing;
