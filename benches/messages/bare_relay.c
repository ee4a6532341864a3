/* What any process between a client and the database costs: it passes on bytes and does nothing else.
 *
 *     cc -O2 -o bare_relay bare_relay.c
 *     ./bare_relay OWN_SOCKET DATABASE_SOCKET
 *
 * A read and a write in each direction, one event loop, a connection of the database for each client, Unix sockets on both sides (the
 * service's clients come over TCP, which costs more). No request is parsed, timed, counted or limited. It runs until it is ended. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int other[65536];

static int opened(const char *path, int listening) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(at.sun_path, path, sizeof at.sun_path - 1);
    if (listening ? bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 128) : connect(fd, (struct sockaddr *)&at, sizeof at)) {
        perror(path);
        _exit(1);
    }
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "bare_relay OWN_SOCKET DATABASE_SOCKET\n"), 2;
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none); /* as the service */
    int door = opened(argv[1], 1), epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = door}, events[256];
    epoll_ctl(epoll, EPOLL_CTL_ADD, door, &event);
    static char bytes[1 << 18];
    for (;;) {
        int found = epoll_wait(epoll, events, 256, -1);
        for (int e = 0; e < found; e++) {
            int from = events[e].data.fd;
            if (from == door) {
                int pair[2] = {accept(door, NULL, NULL), opened(argv[2], 0)};
                for (int side = 0; side < 2; side++) {
                    other[pair[side]] = pair[!side];
                    event.data.fd = pair[side];
                    epoll_ctl(epoll, EPOLL_CTL_ADD, pair[side], &event);
                }
                continue;
            }
            int to = other[from];
            if (!to) continue; /* ended by an event before this one */
            long got = recv(from, bytes, sizeof bytes, 0);
            if (got > 0 && send(to, bytes, got, MSG_NOSIGNAL) == got) continue;
            close(from), close(to);
            other[from] = other[to] = 0;
        }
    }
}
