#!/usr/bin/env perl
# Sends the lines of standard input, or of files, to a Scribe server: a message a line.
use strict;
use warnings;

use Getopt::Long qw(:config bundling no_ignore_case);
use IO::Select;
use Pod::Usage;
use Seine::Scribe::Client;

=head1 NAME

scribe_cat.pl - sends lines to Seine, or to a Scribe server

=head1 SYNOPSIS

    scribe_cat.pl [options] [CATEGORY] [FILE...]

    -h, --host HOST                 the server (localhost)
    -p, --port PORT                 its port (1463)
    --category CATEGORY             category of lines that no --category-re takes; else the first argument; else none
    --category-re CATEGORY=REGEXP   category of lines that match; the first that matches counts; may be given several times
    --retry-plan-a, --retry-plan-b PLAN, --retry-delay SECONDS, --retry-count COUNT, --retry-buffer-size MESSAGES
                                    when the server does not take lines: see Seine::Scribe::Client. Plan a is die
                                    unless it is given.
    --help

Exit status 0: the server has all lines; 84: it answered TRY_LATER and the plans ended; 1: another failure; 2: wrong usage.

=cut

# What Scribe's own tool ends with at TRY_LATER.
use constant EXIT_TRY_LATER => 84;
# Longest wait for more lines before a call is sent, in seconds.
use constant PAUSE => 0.05;

my (%options, @rules, $category, $help);
GetOptions(
    'host|h=s'            => \$options{host},
    'port|p=i'            => \$options{port},
    'category=s'          => \$category,
    'category-re=s'       => \@rules,
    'retry-plan-a=s'      => \$options{retry_plan_a},
    'retry-plan-b=s'      => \$options{retry_plan_b},
    'retry-delay=f'       => \$options{retry_delay},
    'retry-count=i'       => \$options{retry_count},
    'retry-buffer-size=i' => \$options{retry_buffer_size},
    'help'                => \$help,
) or pod2usage(2);
pod2usage(-exitval => 0, -verbose => 1) if $help;
delete $options{$_} for grep { !defined $options{$_} } keys %options;
$options{retry_plan_a} = 'die' unless defined $options{retry_plan_a};

my @categories = map {
    my ($name, $text) = /^([^=]+)=(.*)$/s or pod2usage("--category-re $_: it is CATEGORY=REGEXP");
    my $regexp = eval { qr/$text/ } or pod2usage("--category-re $_: $@");
    [ $name, $regexp ];
} @rules;
$category = shift @ARGV if !defined $category && !@rules && @ARGV;
$category = 'none' unless defined $category;

sub category_of {
    my ($line) = @_;
    for my $rule (@categories) {
        return $rule->[0] if $line =~ $rule->[1];
    }
    return $category;
}

my $client = eval { Seine::Scribe::Client->new(%options) } or pod2usage("$@");
my $done = eval {
    if (@ARGV) {
        while (defined(my $line = <>)) { $client->add(category_of($line), $line) }
    }
    else {
        from_standard_input();
    }
    $client->flush;
};
if (!$done) {
    my $why = $@ || ($client->waiting + $client->discarded) . " lines were not sent\n";
    print STDERR "scribe_cat.pl: $why";
    # It is told already.
    $client->{pid} = 0;
    exit($why =~ /^TRY_LATER/ ? EXIT_TRY_LATER : 1);
}

# Lines as they come: a call is sent when it is full, and when standard input pauses.
sub from_standard_input {
    my ($rest, $select) = ('', IO::Select->new(\*STDIN));
    while (1) {
        $client->flush if !$select->can_read(PAUSE);
        my $count = sysread STDIN, $rest, 262_144, length $rest;
        die "standard input: $!\n" unless defined $count;
        last unless $count;
        my $end = rindex($rest, "\n") + 1;
        my $lines = substr $rest, 0, $end, '';
        $client->add(category_of($_), $_) for $lines =~ /([^\n]*\n)/g;
    }
    $client->add(category_of($rest), $rest) if length $rest;
}
