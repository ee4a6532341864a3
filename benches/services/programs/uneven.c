// A service in C: one loop over all connections; nine requests of ten compute for 1 ms, the tenth for 6 ms.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

static void work(uint64_t rounds) {
    volatile uint64_t value = 88172645463325252ull;
    for (uint64_t k = 0; k < rounds; k++) value ^= value << 13, value ^= value >> 7, value ^= value << 17;
}

int main(int count, char **given) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(given[1]) : 0)};
    int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1, all = epoll_create1(0);
    unsigned seed = 11;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) || listen(listening, 512)) return perror("listen"), 1;
    signal(SIGPIPE, SIG_IGN);
    clock_t begun = clock();
    work(20000000);
    double rounds_a_ms = 20000000.0 * CLOCKS_PER_SEC / (clock() - begun) / 1000;
    struct epoll_event came[64], watched = {.events = EPOLLIN, .data.fd = listening};
    epoll_ctl(all, EPOLL_CTL_ADD, listening, &watched);
    for (;;) {
        int some = epoll_wait(all, came, 64, -1);
        for (int k = 0; k < some; k++) {
            char text[4096];
            int one = came[k].data.fd;
            if (one == listening) {
                one = accept(listening, NULL, NULL);
                setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                watched.data.fd = one;
                epoll_ctl(all, EPOLL_CTL_ADD, one, &watched);
            } else if (read(one, text, sizeof text) > 0) {
                work((uint64_t)(rounds_a_ms * (rand_r(&seed) % 10 ? 1 : 6)));
                if (write(one, answer, sizeof answer - 1) < 0) close(one);
            } else {
                close(one);
            }
        }
    }
}
