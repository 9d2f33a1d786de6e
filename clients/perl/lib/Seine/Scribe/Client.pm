package Seine::Scribe::Client;

use strict;
use warnings;

use Carp qw(croak carp);
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep time);

our $VERSION = '0.1.0';

=encoding utf8

=head1 NAME

Seine::Scribe::Client - sends log messages to Seine, or to a Scribe server

=head1 SYNOPSIS

    use Seine::Scribe::Client;

    my $client = Seine::Scribe::Client->new(host => 'localhost', port => 1463);
    $client->log(web => "a line\n", "another\n");   # returns once the server has both

    $client->add(web => "a line\n") for 1 .. 1_000; # sends a call for each 200 messages
    $client->flush or die 'not all was sent';

=head1 DESCRIPTION

The client writes the bytes of Scribe's C<Log> itself and needs no Thrift. C<log> sends its messages as one call and returns after
the answer; C<add> collects messages and sends them in calls. Messages are sent in the order in which they were given. A call that
is sent again, because its answer was lost, may give the server its messages twice.

=head2 When the server does not take a call

It is away, or answers TRY_LATER: then C<retry_plan_a> is carried out, and where that ends without success, C<retry_plan_b>.

    die            throws an exception
    wait_forever   tries again each retry_delay seconds, without end
    wait_count     the same, retry_count times at most
    discard        drops the messages; discarded() counts them
    buffer         keeps up to retry_buffer_size messages, and tries again with a later call or flush(), at the earliest
                   after retry_delay seconds; newer messages wait behind them

A call that the server refuses by an exception is never sent again: its messages count as discarded, and the caller gets the
exception.

=head1 METHODS

=over

=item new(%options)

C<host> (localhost; C</path> names a unix socket), C<port> (1463), C<timeout> (30 seconds: of a connection, a call and its answer),
C<batch_messages> (200) and C<batch_bytes> (262144): size of a call of C<add>; C<retry_plan_a> (buffer), C<retry_plan_b> (discard),
C<retry_delay> (10 seconds), C<retry_count> (100), C<retry_buffer_size> (1000 messages). The server is first asked by the first call.

=item log($category, @messages)

Sends what C<add> collected, then these messages. True: the server has all of them. False: some are buffered or discarded.

=item add($category, @messages)

Collects messages, and sends a call whenever one is full.

=item flush

Sends what C<add> and the plan C<buffer> hold. True: nothing waits any more, and nothing of it was discarded.

=item waiting, discarded

Numbers of messages that wait, and that were discarded so far.

=back

A text with characters is sent as UTF-8, a text of bytes as it is. A client that goes out of scope sends what waits, once; what is
not taken then is told by a warning.

=head1 LICENSE

Apache License 2.0

=cut

# Types of Thrift's binary protocol.
use constant { STRING => 11, STRUCT => 12, LIST => 15, CALL => 0x80010001, REPLY => 2, EXCEPTION => 3 };
# Longest answer to Log, in bytes.
use constant ANSWER_BYTES_MAX => 1 << 20;

my %PLANS = map { $_ => 1 } qw(die wait_forever wait_count discard buffer);

my %DEFAULTS = (
    host              => 'localhost',
    port              => 1463,
    timeout           => 30,
    batch_messages    => 200,
    batch_bytes       => 262_144,
    retry_plan_a      => 'buffer',
    retry_plan_b      => 'discard',
    retry_delay       => 10,
    retry_count       => 100,
    retry_buffer_size => 1_000,
);

sub new {
    my ($class, %options) = @_;
    for my $name (keys %options) {
        croak "$name is no option of $class" unless exists $DEFAULTS{$name};
    }
    my $self = bless { %DEFAULTS, %options }, $class;
    for my $plan (qw(retry_plan_a retry_plan_b)) {
        croak "$plan: there are " . join(', ', sort keys %PLANS) unless $PLANS{ $self->{$plan} };
    }
    $self->_start;
    return $self;
}

# State of a new client, without a connection.
sub _start {
    my ($self) = @_;
    @$self{qw(socket sequence entries bytes backlog backlog_messages last_failure discarded pid)} =
        (undef, 0, [], 0, [], 0, undef, 0, $$);
}

sub log {
    my ($self, $category, @messages) = @_;
    my $before = $self->{discarded};
    $self->_send_collected;
    my @entries;
    my $bytes = 0;
    for my $message (@messages) {
        my $entry = _entry($category, $message);
        push @entries, $entry;
        $bytes += length $entry;
    }
    $self->_deliver(\@entries) if @entries;
    return !$self->waiting && $self->{discarded} == $before;
}

sub add {
    my ($self, $category, @messages) = @_;
    for my $message (@messages) {
        my $entry = _entry($category, $message);
        push @{ $self->{entries} }, $entry;
        $self->{bytes} += length $entry;
        $self->_send_collected
            if @{ $self->{entries} } >= $self->{batch_messages} || $self->{bytes} >= $self->{batch_bytes};
    }
}

sub flush {
    my ($self) = @_;
    my $before = $self->{discarded};
    $self->_send_collected;
    if (@{ $self->{backlog} }) {
        my $why = $self->_send_backlog;
        $self->_fail($why) if defined $why;
    }
    return !$self->waiting && $self->{discarded} == $before;
}

sub waiting {
    my ($self) = @_;
    return @{ $self->{entries} } + $self->{backlog_messages};
}

sub discarded { return $_[0]{discarded} }

sub DESTROY {
    my ($self) = @_;
    # A child of fork has a copy of what waits: the parent sends it.
    return unless defined $self->{pid} && $self->{pid} == $$ && $self->waiting;
    local ($@, $!, $?);
    local $self->{retry_plan_a} = 'buffer';
    local $self->{retry_plan_b} = 'buffer';
    my $sent = eval { $self->flush };
    carp $self->waiting . ' messages were not sent' . ($@ ? ": $@" : '') unless $sent;
}

# One LogEntry as Thrift's binary protocol writes it.
sub _entry {
    my ($category, $message) = @_;
    for ($category, $message) {
        $_ = '' unless defined;
        utf8::encode($_) if utf8::is_utf8($_);
    }
    return pack 'CnN/a*CnN/a*C', STRING, 1, $category, STRING, 2, $message, 0;
}

sub _send_collected {
    my ($self) = @_;
    return unless @{ $self->{entries} };
    my $entries = $self->{entries};
    @$self{qw(entries bytes)} = ([], 0);
    $self->_deliver($entries);
}

# Sends a call, or does what the plans say.
sub _deliver {
    my ($self, $entries) = @_;
    my $why;
    if (@{ $self->{backlog} }) {
        # Newer messages wait behind those of the backlog.
        my $is_due = time - $self->{last_failure} >= $self->{retry_delay};
        $why = $is_due ? $self->_send_backlog : 'the server did not take earlier messages';
    }
    $why = $self->_try($entries) unless defined $why;
    return 1 unless defined $why;
    $self->_fail($why);
    for my $plan ($self->{retry_plan_a}, $self->{retry_plan_b}) {
        my $is_over = $self->_carry_out($plan, $entries, $why);
        return $is_over if defined $is_over;
    }
    $self->{discarded} += @$entries;
    return 0;
}

# True: the server has the messages; false: they are kept or dropped; undef: the plan did not help.
sub _carry_out {
    my ($self, $plan, $entries, $why) = @_;
    croak $why if $plan eq 'die';
    if ($plan eq 'discard') {
        $self->{discarded} += @$entries;
        return 0;
    }
    if ($plan eq 'buffer') {
        return undef if $self->{backlog_messages} + @$entries > $self->{retry_buffer_size};
        push @{ $self->{backlog} }, $entries;
        $self->{backlog_messages} += @$entries;
        return 0;
    }
    for (my $count = 0; $plan eq 'wait_forever' || $count < $self->{retry_count}; $count++) {
        sleep $self->{retry_delay};
        my $failed = @{ $self->{backlog} } ? $self->_send_backlog : undef;
        $failed = $self->_try($entries) unless defined $failed;
        return 1 unless defined $failed;
    }
    return undef;
}

# Sends what the plan `buffer` kept, the oldest first. Undef: all of it is sent; else why not.
sub _send_backlog {
    my ($self) = @_;
    while (my $entries = shift @{ $self->{backlog} }) {
        $self->{backlog_messages} -= @$entries;
        my $why = $self->_try($entries);
        next unless defined $why;
        unshift @{ $self->{backlog} }, $entries;
        $self->{backlog_messages} += @$entries;
        return $why;
    }
    return undef;
}

sub _fail {
    my ($self, $why) = @_;
    $self->{last_failure} = time;
    return $why;
}

# One call. Undef: the answer was OK; else why the call may be sent again. Throws what the server refuses for good.
sub _try {
    my ($self, $entries) = @_;
    my $answer = eval { $self->_call($entries) };
    if (!defined $answer) {
        my $why = $@;
        $self->{socket} = undef;
        chomp $why;
        return $why;
    }
    return undef if $answer eq 'OK';
    return 'TRY_LATER' if $answer eq 'TRY_LATER';
    $self->{discarded} += @$entries;
    croak $answer;
}

sub _call {
    my ($self, $entries) = @_;
    $self->{socket} ||= $self->_connect;
    my $sequence = $self->{sequence} = ($self->{sequence} + 1) & 0x7fffffff;
    my $message = pack('NN/a*N', CALL, 'Log', $sequence)
        . pack('CnCN', LIST, 1, STRUCT, scalar @$entries)
        . join('', @$entries) . "\0";
    $self->_write(pack('N/a*', $message));
    my $length = unpack 'N', $self->_read(4);
    die "an answer of $length bytes\n" if $length > ANSWER_BYTES_MAX;
    return _answer($self->_read($length), $sequence);
}

sub _connect {
    my ($self) = @_;
    my $socket = $self->{host} =~ m{^/}
        ? IO::Socket::UNIX->new(Peer => $self->{host})
        : IO::Socket::INET->new(
            PeerAddr => $self->{host},
            PeerPort => $self->{port},
            Proto    => 'tcp',
            Timeout  => $self->{timeout},
        );
    die "$self->{host}:$self->{port}: " . ($@ || $!) . "\n" unless $socket;
    $socket->blocking(0);
    $socket->setsockopt(6, 1, 1) unless $self->{host} =~ m{^/};    # TCP_NODELAY
    return $socket;
}

sub _write {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my ($socket, $from, $end) = ($self->{socket}, 0, time + $self->{timeout});
    my $select = IO::Select->new($socket);
    while ($from < length $bytes) {
        my $count = syswrite $socket, $bytes, length($bytes) - $from, $from;
        if ($count) {
            ($from, $end) = ($from + $count, time + $self->{timeout});
            next;
        }
        die "writing: $!\n" unless $!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR};
        die "writing: no end within $self->{timeout} s\n" if time >= $end;
        $select->can_write($end - time);
    }
}

sub _read {
    my ($self, $length) = @_;
    my ($socket, $bytes, $end) = ($self->{socket}, '', time + $self->{timeout});
    my $select = IO::Select->new($socket);
    while (length $bytes < $length) {
        my $count = sysread $socket, $bytes, $length - length($bytes), length $bytes;
        next if $count;
        die "the server closed the connection\n" if defined $count;
        die "reading: $!\n" unless $!{EAGAIN} || $!{EWOULDBLOCK} || $!{EINTR};
        die "no answer within $self->{timeout} s\n" if time >= $end;
        $select->can_read($end - time);
    }
    return $bytes;
}

# 'OK', 'TRY_LATER', or the text of an exception.
sub _answer {
    my ($bytes, $sequence) = @_;
    my ($version, $name, $found) = unpack 'NN/aN', $bytes;
    die "the answer is no answer to Log\n"
        unless defined $found && ($version >> 16) == 0x8001 && $name eq 'Log' && $found == $sequence;
    my $fields = substr $bytes, 12 + length $name;
    if (($version & 0xff) == EXCEPTION) {
        my ($type, $id, $text) = unpack 'CnN/a', $fields;
        return 'the server refuses the call' . (defined $text && $type == STRING ? ": $text" : '');
    }
    my ($type, $id, $code) = unpack 'CnN', $fields;
    die "the answer has no result\n" unless defined $code && $type == 8 && $id == 0;
    return $code == 0 ? 'OK' : 'TRY_LATER';
}

1;
