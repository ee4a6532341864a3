/* An open loop that does only the necessary: Poisson arrivals, one epoll loop, HTTP GET over kept connections, a time for each request.
 *
 *     cc -O2 -o bare_loop bare_loop.c -lm
 *     ./bare_loop PORT PATH RATE SECONDS CONNECTIONS
 *
 * As `sojourn load` it takes real-time priority where it may, and a timer that ends on time. It checks nothing of an answer but
 * that it starts with 200 and is as long as the first one, and it records nothing but the time from the scheduled send to the answer.
 * It prints one line of JSON: requests answered, p50 and p99 in s, CPU time in s. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 6) return fprintf(stderr, "bare_loop PORT PATH RATE SECONDS CONNECTIONS\n"), 2;
    double rate = atof(argv[3]), seconds = atof(argv[4]);
    int connections = atoi(argv[5]), epoll = epoll_create1(0), idle_count = 0;
    struct sched_param priority = {.sched_priority = 10};
    if (sched_setscheduler(0, SCHED_FIFO, &priority)) fprintf(stderr, "no real-time priority\n");
    prctl(PR_SET_TIMERSLACK, 1);
    int *idle = calloc(connections, sizeof *idle), *fds = calloc(connections, sizeof *fds);
    double *since = calloc(connections, sizeof *since);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int c = 0; c < connections; c++) {
        int one = 1;
        fds[c] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fds[c], (struct sockaddr *)&to, sizeof to)) return perror("connect"), 1;
        setsockopt(fds[c], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(fds[c], F_SETFL, O_NONBLOCK);
        struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = c};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[c], &e);
        idle[idle_count++] = c;
    }
    char request[512], answer[65536];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", argv[2], argv[1]);
    long most = rate * seconds * 2 + 1000, due = 0, taken = 0, done = 0, failed = 0, size = 0;
    double *times = calloc(most, sizeof *times), *schedule = calloc(most, sizeof *schedule), t = now() + 0.05;
    double end = t + seconds;
    uint64_t state = 20261127;
    for (; due < most; due++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        t -= log(((state >> 11) + 0.5) / 9007199254740992.0) / rate;
        if (t >= end) break;
        schedule[due] = t;
    }
    struct epoll_event events[256];
    while (done + failed < due && now() < end + 10) {
        double wait = idle_count && taken < due ? fmax(schedule[taken] - now(), 0) : 0.1;
        struct timespec left = {.tv_sec = (long)wait, .tv_nsec = (wait - (long)wait) * 1e9};
        int found = syscall(SYS_epoll_pwait2, epoll, events, 256, &left, NULL, 0);
        for (int e = -1; e < found; e++) {
            if (e >= 0) {
                int c = events[e].data.u32;
                long got = recv(fds[c], answer, sizeof answer, 0);
                if (got <= 0) continue;
                size = size ? size : got;
                if (got != size || memcmp(answer, "HTTP/1.1 200", 12)) failed++;
                else times[done++] = now() - since[c];
                idle[idle_count++] = c;
            }
            while (taken < due && idle_count && schedule[taken] <= now()) {
                int c = idle[--idle_count];
                since[c] = schedule[taken++];
                if (send(fds[c], request, length, MSG_NOSIGNAL) != length) return perror("send"), 1;
            }
        }
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    qsort(times, done, sizeof *times, ascending);
    if (!done) return fprintf(stderr, "no request was answered\n"), 1;
    printf("{\"ok\": %ld, \"failed\": %ld, \"p50_s\": %.9f, \"p99_s\": %.9f, \"cpu_s\": %.6f}\n", done, failed, times[done / 2],
           times[(long)(0.99 * done)], cpu);
    return 0;
}
