# A Thrift-generated client in Perl against the Scribe door, framed and strict as Perl's protocol writes it.
# usage: perl client.pl HOST PORT
use strict;
use warnings;
use Thrift::Socket;
use Thrift::FramedTransport;
use Thrift::BinaryProtocol;
use Scribe::Thrift::scribe;
use Scribe::Thrift::Types;

my ($host, $port) = @ARGV;
my $socket = Thrift::Socket->new({ host => $host, port => $port });
$socket->setRecvTimeout(20_000);
my $transport = Thrift::FramedTransport->new($socket);
my $client = Scribe::Thrift::scribeClient->new(Thrift::BinaryProtocol->new($transport));
$transport->open();
my @entries = map { Scribe::Thrift::LogEntry->new({ category => 'perl', message => "line $_\n" }) } 1 .. 100;
my $code = $client->Log(\@entries);
die "Log answered $code" unless $code == Scribe::Thrift::ResultCode::OK;
die 'getName' unless $client->getName() eq 'Scribe';
die 'counter' unless $client->getCounter('perl:received good') == 100;
$transport->close();
print "client.pl: 100 messages\n";
