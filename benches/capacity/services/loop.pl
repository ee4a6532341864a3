# A service in Perl: one loop over all connections, some 2 ms of CPU time a request, one after the other.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

$SIG{PIPE} = 'IGNORE';
my $listening = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$ARGV[0]", Listen => 512, ReuseAddr => 1) or die "listen: $!";
my $all = IO::Select->new($listening);
while (1) {
    for my $one ($all->can_read) {
        if ($one == $listening) {
            $all->add($listening->accept);
        } elsif (sysread($one, my $text, 4096)) {
            my $sum = 0;
            $sum += $_ * $_ for 1 .. 40_000;
            syswrite($one, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        } else {
            $all->remove($one);
            close $one;
        }
    }
}
