# A service in Tcl: one event loop, some 2 ms of CPU time a request, one after the other.
proc page {client} {
    if {[gets $client line] < 0} {
        if {[eof $client]} { close $client }
        return
    }
    if {$line ne ""} return
    set sum 0
    for {set k 0} {$k < 30000} {incr k} { set sum [expr {($sum * 31 + $k) % 65521}] }
    puts -nonewline $client "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    flush $client
}
proc come {client address port} {
    fconfigure $client -blocking 0 -translation {auto binary} -buffering full
    fileevent $client readable [list page $client]
}
socket -server come -myaddr 127.0.0.1 [lindex $argv 0]
vwait forever
