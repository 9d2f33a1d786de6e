# The client of clients/perl, buffered, 200 messages a call. usage: buffered.pl HOST PORT SECONDS CATEGORY; prints messages and seconds.
use strict;
use warnings;
use Seine::Scribe::Client;
use Time::HiRes qw(time);

my ($host, $port, $seconds, $category) = @ARGV;
my $client = Seine::Scribe::Client->new(host => $host, port => $port);
my ($text, $sent, $begun) = ('x' x 99 . "\n", 0, time);
while (time < $begun + $seconds) {
    $client->add($category, $text) for 1 .. 200;
    $sent += 200;
}
$client->flush or die 'not all was sent';
print "$sent ", time - $begun, "\n";
