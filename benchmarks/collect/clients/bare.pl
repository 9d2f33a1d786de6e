# The bare Thrift-made client in Perl: 200 messages a call. usage: bare.pl HOST PORT SECONDS CATEGORY; prints messages and seconds.
use strict;
use warnings;
use Scribe::Thrift::Types;
use Scribe::Thrift::scribe;
use Thrift::BinaryProtocol;
use Thrift::FramedTransport;
use Thrift::Socket;
use Time::HiRes qw(time);

my ($host, $port, $seconds, $category) = @ARGV;
my $socket = Thrift::Socket->new({ host => $host, port => $port });
$socket->setRecvTimeout(30_000);
my $transport = Thrift::FramedTransport->new($socket);
my $client = Scribe::Thrift::scribeClient->new(Thrift::BinaryProtocol->new($transport));
$transport->open;
my ($text, $sent, $begun) = ('x' x 99 . "\n", 0, time);
while (time < $begun + $seconds) {
    my @entries = map { Scribe::Thrift::LogEntry->new({ category => $category, message => $text }) } 1 .. 200;
    $sent += 200 if $client->Log(\@entries) == Scribe::Thrift::ResultCode::OK;
}
print "$sent ", time - $begun, "\n";
