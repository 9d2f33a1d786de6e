use strict;
use warnings;

use Test::More;
use lib '.';

plan skip_all => 'SEINE names no binary of a server' unless $ENV{SEINE};
plan skip_all => 'Log::Dispatch is not installed' unless eval { require Log::Dispatch };
require t::Server;
my $server = t::Server->new;

my $log = Log::Dispatch->new(outputs => [[
    'Scribe', name => 'scribe', min_level => 'info', host => '127.0.0.1', port => $server->{port}, default_category => 'web', newline => 1,
]]);
$log->info('one');
$log->debug('not shown');
$log->log(level => 'error', message => 'two', category => 'other');
is_deeply [ $server->lines(web => 1) ], ['one'];
is_deeply [ $server->lines(other => 1) ], ['two'], 'a message may name its category';

SKIP: {
    skip 'Log::Log4perl is not installed', 1 unless eval { require Log::Log4perl };
    Log::Log4perl->init(\<<"CONF");
log4perl.rootLogger = INFO, Scribe
log4perl.appender.Scribe = Log::Dispatch::Scribe
log4perl.appender.Scribe.host = 127.0.0.1
log4perl.appender.Scribe.port = $server->{port}
log4perl.appender.Scribe.layout = Log::Log4perl::Layout::PatternLayout
log4perl.appender.Scribe.layout.ConversionPattern = %p %m%n
CONF
    my $logger = Log::Log4perl->get_logger('shop');
    $logger->info('three');
    $logger->debug('not shown');
    is_deeply [ $server->lines(shop => 1) ], ['INFO three'], 'under Log4perl the category is the logger\'s';
}

done_testing;
