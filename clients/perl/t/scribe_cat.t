use strict;
use warnings;

use Test::More;
use lib '.';

plan skip_all => 'SEINE names no binary of a server' unless $ENV{SEINE};
require t::Server;
my $server = t::Server->new;

# Runs scribe_cat.pl with this input; gives its exit status.
sub cat {
    my ($input, @arguments) = @_;
    open my $to, '|-', $^X, '-Ilib', 'bin/scribe_cat.pl', '-h', '127.0.0.1', '-p', @arguments or die $!;
    print $to $input;
    close $to;
    return $? >> 8;
}

is cat("one\ntwo\nthree", $server->{port}, 'web'), 0;
$server->lines(web => 2);
is cat("error a\nwarning b\nelse\n", $server->{port}, '--category', 'rest', '--category-re', 'errors=^error', '--category-re', 'warnings=b$'), 0;
is_deeply [ map { $server->lines($_ => 1) } qw(errors warnings rest) ], [ 'error a', 'warning b', 'else' ], 'the first rule that matches counts';
is cat(join('', map { "$_\n" } 1 .. 5_000), $server->{port}, 'many'), 0;
is_deeply [ $server->lines(many => 5_000) ], [ 1 .. 5_000 ], 'in order';
{
    open my $err, '>&', \*STDERR or die $!;
    open STDERR, '>', '/dev/null' or die $!;
    is cat("x\n", t::Server::free_port(), 'web'), 1, 'no server';
    is cat("x\n", $server->{port}, '--category-re', 'x'), 2, 'no rule';
    my $strict = t::Server->new(globals => 'max_msg_per_second=10');
    my %ends = map { cat("x\n" x 3, $strict->{port}, 'web') => 1 } 1 .. 12;
    is_deeply [ sort keys %ends ], [ 0, 84 ], 'TRY_LATER ends with 84';
    open STDERR, '>&', $err or die $!;
}

done_testing;
