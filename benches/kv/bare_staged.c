/* What the staged design costs with nothing else in it: one network thread, a queue, workers that ask memcached and answer.
 *
 *     cc -O2 -pthread -o bare_staged bare_staged.c
 *     ./bare_staged PORT WORKERS BATCH SERVER_PORT...
 *
 * The hand-over is that of `serve kv-proxy --architecture staged`: the network thread holds requests back until nothing more comes or a
 * batch is there; a worker takes a batch, sends it to each server in one piece, and sends each client its answer as it comes; a thread
 * that is woken does not interrupt who woke it. A set goes to all servers, a get to the first. No limit, no time-out, no statistics, one
 * request of a client at a time; what is not expected ends the program. It runs until it is ended. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 1024, SERVERS = 64, REQUEST_BYTES = 8 << 10, BATCH_BYTES = 1 << 18 };

struct client {
    int fd, length;
    char bytes[REQUEST_BYTES];
};

struct server {
    int fd;
    long from, to, asked;
    char answers[BATCH_BYTES], requests[BATCH_BYTES];
};

static int batch, servers, ports[SERVERS];

/* The queue. A client waits in it once at most. */
static struct client *waiting[CLIENTS];
static unsigned first, last;
static int asleep, woken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;

static void die(const char *what) { perror(what), _exit(1); }

static void begin_thread(void) {
    struct sched_param none = {0};
    if (batch > 1) sched_setscheduler(0, SCHED_BATCH, &none);
}

static int connection(int fd) {
    int one = 1;
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) die("connection");
    return fd;
}

/* The length of the request at the start, 0 while it is not whole. */
static long whole_request(const char *at, long have) {
    const char *end = memchr(at, '\n', have), *word = end;
    if (!end) return 0;
    long line = end + 1 - at;
    if (*at != 's') return line;
    while (word[-1] != ' ') word--;
    long all = line + atol(word) + 2;
    return all <= have ? all : 0;
}

/* The same of an answer: VALUE blocks and END, or a line. */
static long whole_answer(const char *at, long have) {
    for (long used = 0; used < have;) {
        const char *end = memchr(at + used, '\n', have - used), *word = at + used;
        if (!end) return 0;
        if (*word != 'V') return end + 1 - at;
        for (int blanks = 0; blanks < 3; blanks++) word = (const char *)memchr(word, ' ', end - word) + 1;
        used = end + 1 - at + atol(word) + 2;
    }
    return 0;
}

/* How many of those who sleep are to be woken; under the lock. */
static int wanted(void) {
    int before = woken;
    while (asleep > woken && (int)(last - first) > woken * batch) woken++;
    return woken - before;
}

static void wake(int count) {
    while (count-- > 0) pthread_cond_signal(&some);
}

static int take(struct client **mine) {
    int count = 0;
    pthread_mutex_lock(&lock);
    while (first == last) {
        asleep++;
        pthread_cond_wait(&some, &lock);
        asleep--, woken -= woken > 0;
    }
    while (first != last && count < batch) mine[count++] = waiting[first++ % CLIENTS];
    int more = wanted();
    pthread_mutex_unlock(&lock);
    wake(more);
    return count;
}

/* The next answer of a server, at `from`; its length. */
static long answer(struct server *server) {
    long length;
    while (!(length = whole_answer(server->answers + server->from, server->to - server->from))) {
        if (server->from == server->to) server->from = server->to = 0;
        long got = recv(server->fd, server->answers + server->to, BATCH_BYTES - server->to, 0);
        if (got <= 0) die("server");
        server->to += got;
    }
    return length;
}

static void *work(void *none) {
    begin_thread();
    struct server *all = calloc(servers, sizeof *all);
    for (int k = 0; k < servers; k++) {
        struct sockaddr_in at = {AF_INET, htons(ports[k]), {htonl(INADDR_LOOPBACK)}};
        all[k].fd = connection(socket(AF_INET, SOCK_STREAM, 0));
        if (connect(all[k].fd, (struct sockaddr *)&at, sizeof at)) die("server");
    }
    struct client *mine[CLIENTS];
    for (;; (void)none) {
        int count = take(mine);
        for (int k = 0; k < servers; k++) {
            struct server *server = all + k;
            server->asked = 0;
            for (int i = 0; i < count; i++) {
                if (k && *mine[i]->bytes != 's') continue;
                memcpy(server->requests + server->asked, mine[i]->bytes, mine[i]->length);
                server->asked += mine[i]->length;
            }
            if (server->asked && send(server->fd, server->requests, server->asked, MSG_NOSIGNAL) != server->asked) die("server");
        }
        for (int i = 0; i < count; i++) {
            for (int k = 1; k < servers && *mine[i]->bytes == 's'; k++) all[k].from += answer(all + k);
            long length = answer(all);
            mine[i]->length = 0; /* before its next request can come */
            if (send(mine[i]->fd, all->answers + all->from, length, MSG_NOSIGNAL) != length) die("client");
            all->from += length;
        }
    }
}

/* Reads what a client has sent; whether it is a whole request. */
static int take_up(struct client *client) {
    long got = recv(client->fd, client->bytes + client->length, REQUEST_BYTES - client->length, MSG_DONTWAIT);
    if (got == 0) close(client->fd), free(client);
    if (got > 0) client->length += got;
    return got > 0 && whole_request(client->bytes, client->length);
}

int main(int argc, char **argv) {
    if (argc < 5) return fprintf(stderr, "bare_staged PORT WORKERS BATCH SERVER_PORT...\n"), 2;
    batch = atoi(argv[3]), servers = argc - 4;
    for (int k = 0; k < servers; k++) ports[k] = atoi(argv[4 + k]);
    pthread_t thread;
    for (int k = atoi(argv[2]); k > 0; k--) pthread_create(&thread, NULL, work, NULL);
    begin_thread();
    struct sockaddr_in own = {AF_INET, htons(atoi(argv[1])), {htonl(INADDR_LOOPBACK)}};
    int door = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
    if (bind(door, (struct sockaddr *)&own, sizeof own) || listen(door, 128)) die("listen");
    struct epoll_event event = {.events = EPOLLIN}, events[CLIENTS];
    epoll_ctl(epoll, EPOLL_CTL_ADD, door, &event);
    for (int held = 0;;) {
        if (held) sched_yield();
        int found = epoll_wait(epoll, events, CLIENTS, held ? 0 : -1), came = 0;
        struct client *whole[CLIENTS];
        for (int e = 0; e < found; e++) {
            struct client *client = events[e].data.ptr;
            if (client) {
                if (take_up(client)) whole[came++] = client;
                continue;
            }
            client = calloc(1, sizeof *client);
            client->fd = connection(accept(door, NULL, NULL));
            event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.ptr = client};
            epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
        }
        pthread_mutex_lock(&lock);
        for (int k = 0; k < came; k++) waiting[last++ % CLIENTS] = whole[k];
        held = came && (int)(last - first) < batch;
        int more = held ? 0 : wanted();
        pthread_mutex_unlock(&lock);
        wake(more);
    }
}
