package t::Server;

# A server of the binary that SEINE names, in a folder of its own, for the tests.
use strict;
use warnings;

use File::Temp qw(tempdir);
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

sub free_port {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die $!;
    return $socket->sockport;
}

sub new {
    my ($class, %options) = @_;
    my $self = bless { folder => tempdir(CLEANUP => 1), port => free_port(), %options }, $class;
    if ($options{globals}) {
        open my $conf, '>', "$self->{folder}/scribe.conf" or die $!;
        print $conf "$options{globals}\n<store>\ncategory=default\ntype=file\nfile_path=$self->{folder}/files\n</store>\n";
        close $conf or die $!;
    }
    return $self->start;
}

sub start {
    my ($self) = @_;
    my $folder = $self->{folder};
    my @command = (
        $ENV{SEINE}, 'serve', '--data', "$folder/data", '--mysql', '127.0.0.1:0', '--http', '127.0.0.1:0',
        '--scribe', "127.0.0.1:$self->{port}", $self->{globals} ? ('--scribe-config', "$folder/scribe.conf") : (),
    );
    $self->{pid} = open my $out, '-|', "exec @command 2>>'$folder/log'" or die "$command[0]: $!";
    $self->{out} = $out;
    <$out> or die "the server did not start: " . `tail -n 5 '$folder/log'`;
    return $self;
}

sub kill9 {
    my ($self) = @_;
    kill 'KILL', $self->{pid};
    close $self->{out};
    $self->{pid} = undef;
}

# The lines of a category, once there are this many; dies after 30 seconds.
sub lines {
    my ($self, $category, $count) = @_;
    my $end = time + 30;
    while (1) {
        my $root = $self->{globals} ? "$self->{folder}/files" : "$self->{folder}/data/collected";
        my $text = '';
        # One look at each: the server renames its link to the newest file meanwhile.
        for my $file (sort grep { lstat && -f _ } glob "$root/$category/${category}[-_]*") {
            open my $in, '<:raw', $file or die $!;
            local $/;
            $text .= <$in>;
        }
        my @lines = split /\n/, $text, -1;
        pop @lines;
        return @lines if @lines >= $count;
        die scalar(@lines) . " of $count lines of $category\n" if time >= $end;
        sleep 0.05;
    }
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    $self->kill9 if $self->{pid};
}

1;
