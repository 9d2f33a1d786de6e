package Log::Dispatch::Scribe;

use strict;
use warnings;

use parent 'Log::Dispatch::Output';

use Seine::Scribe::Client;

our $VERSION = '0.1.0';

=encoding utf8

=head1 NAME

Log::Dispatch::Scribe - an output of Log::Dispatch that sends to Seine, or to a Scribe server

=head1 SYNOPSIS

    use Log::Dispatch;
    my $log = Log::Dispatch->new(outputs => [[
        'Scribe', name => 'scribe', min_level => 'info', host => 'localhost', port => 1463, default_category => 'web',
    ]]);
    $log->info("a line\n");
    $log->log(level => 'info', message => "a line\n", category => 'other');

Under Log::Log4perl:

    log4perl.rootLogger                = INFO, Scribe
    log4perl.appender.Scribe           = Log::Dispatch::Scribe
    log4perl.appender.Scribe.host      = localhost
    log4perl.appender.Scribe.port      = 1463
    log4perl.appender.Scribe.default_category = web
    log4perl.appender.Scribe.layout    = Log::Log4perl::Layout::PatternLayout
    log4perl.appender.Scribe.layout.ConversionPattern = %d %p %m%n

=head1 DESCRIPTION

Each message is one call, and C<log> returns once the server has it, or once the retry plans have ended: see
L<Seine::Scribe::Client>, whose options C<host>, C<port>, C<timeout> and C<retry_...> this output takes.

The category of a message is the argument C<category>, else C<default_category>, else the logger's category under Log::Log4perl,
else C<none>.

=cut

my @OF_CLIENT = qw(host port timeout retry_plan_a retry_plan_b retry_delay retry_count retry_buffer_size);

sub new {
    my ($class, %options) = @_;
    my $self = bless {}, $class;
    $self->_basic_init(%options);
    my %of_client = map { $_ => $options{$_} } grep { defined $options{$_} } @OF_CLIENT;
    $self->{client} = Seine::Scribe::Client->new(%of_client);
    $self->{default_category} = $options{default_category};
    return $self;
}

sub log_message {
    my ($self, %message) = @_;
    my ($category) = grep { defined } $message{category}, $self->{default_category}, $message{log4p_category}, 'none';
    $self->{client}->log($category, $message{message});
}

1;
