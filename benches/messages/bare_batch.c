/* What a service that batches costs at least: its statements for many messages on one side, HTTP clients on the other, nothing else.
 *
 *     cc -O2 -o bare_batch bare_batch.c -I$(pg_config --includedir) -lpq
 *     ./bare_batch PORT CONNINFO PUT_MANY TAKE_MANY
 *
 * One thread and one session of the database. What has come while the database was at a batch is the next one, which is sent before the
 * clients of the last are answered. No limit, no time-out, no log, one queue, one request of a client at a time; what is not expected
 * ends the program. Requests that make a queue are answered and not carried out. It runs until it is ended. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 256, ROOM = 4096, TEXT = 25, BYTEA = 17, INT8 = 20 };
static const char QUEUE[] = "load-0";

struct client {
    int fd, length;
    const char *body;
    int body_length;
    char bytes[ROOM];
};

struct array {
    int length;
    char bytes[MOST * ROOM];
};

static struct client *puts_waiting[MOST], *takes_waiting[MOST], *puts_asked[MOST], *takes_asked[MOST];
static int puts_wait, takes_wait, puts_under_way, takes_under_way;
static PGconn *database;
static PGresult *answers[2];

static void check(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "bare_batch: %s: %s", what, PQerrorMessage(database));
    _exit(1);
}

static void number(struct array *to, int value) {
    value = htonl(value);
    memcpy(to->bytes + to->length, &value, 4);
    to->length += 4;
}

static void element(struct array *to, const char *bytes, int length) {
    number(to, length);
    if (length > 0) memcpy(to->bytes + to->length, bytes, length), to->length += length;
}

/* Of one dimension, in PostgreSQL's binary format. */
static void begin(struct array *to, int type, int count) {
    int head[] = {1, 1, type, count, 1};
    to->length = 0;
    for (int k = 0; k < 5; k++) number(to, head[k]);
}

static void ask(const char *statement, int count, struct array **arrays) {
    const char *values[3];
    int lengths[3], binary[] = {1, 1, 1};
    for (int k = 0; k < count; k++) values[k] = arrays[k]->bytes, lengths[k] = arrays[k]->length;
    check(PQsendQueryPrepared(database, statement, count, values, lengths, binary, 1), statement);
}

static void send_batch(void) {
    static struct array names, senders, bodies, counts;
    if (puts_wait) {
        begin(&names, TEXT, puts_wait), begin(&senders, TEXT, puts_wait), begin(&bodies, BYTEA, puts_wait);
        for (int k = 0; k < puts_wait; k++) {
            element(&names, QUEUE, sizeof QUEUE - 1), element(&senders, NULL, -1);
            element(&bodies, puts_waiting[k]->body, puts_waiting[k]->body_length);
        }
        ask("put", 3, (struct array *[]){&names, &senders, &bodies});
    }
    if (takes_wait) {
        unsigned long most = htobe64(takes_wait);
        begin(&names, TEXT, 1), element(&names, QUEUE, sizeof QUEUE - 1);
        begin(&counts, INT8, 1), element(&counts, (char *)&most, 8);
        ask("take", 2, (struct array *[]){&names, &counts});
    }
    check(PQpipelineSync(database) && PQflush(database) == 0, "sync");
    memcpy(puts_asked, puts_waiting, sizeof puts_asked), memcpy(takes_asked, takes_waiting, sizeof takes_asked);
    puts_under_way = puts_wait, takes_under_way = takes_wait, puts_wait = takes_wait = 0;
}

static void tell(struct client *client, const char *bytes, int length) {
    client->length = 0;
    check(send(client->fd, bytes, length, MSG_NOSIGNAL) == length, "a client");
}

static long identity(PGresult *rows, int row) {
    unsigned long found;
    memcpy(&found, PQgetvalue(rows, row, 1), 8);
    return be64toh(found);
}

/* Whether the database has answered all of a batch: then `answers` has the rows. */
static int is_answered(void) {
    static int at;
    check(PQconsumeInput(database), "answer");
    while (!PQisBusy(database)) {
        PGresult *found = PQgetResult(database);
        if (!found) continue; /* the end of one statement's */
        if (PQresultStatus(found) == PGRES_PIPELINE_SYNC) return PQclear(found), at = 0, 1;
        check(PQresultStatus(found) == PGRES_TUPLES_OK, "statement");
        answers[at++] = found;
    }
    return 0;
}

static void tell_all(void) {
    struct client *of_puts[MOST], *of_takes[MOST];
    PGresult *stored = puts_under_way ? answers[0] : NULL, *taken = takes_under_way ? answers[puts_under_way > 0] : NULL;
    int puts = puts_under_way, takes = takes_under_way;
    memcpy(of_puts, puts_asked, sizeof of_puts), memcpy(of_takes, takes_asked, sizeof of_takes);
    puts_under_way = takes_under_way = 0;
    if (puts_wait || takes_wait) send_batch();
    char bytes[2 * ROOM];
    for (int k = 0; k < puts; k++)
        tell(of_puts[k], bytes, sprintf(bytes, "HTTP/1.1 201 Created\r\nX-Message-Id: %ld\r\nContent-Length: 0\r\n\r\n", identity(stored, k)));
    for (int k = 0; k < takes; k++) {
        check(!PQgetisnull(taken, k, 1), "an empty queue");
        int length = PQgetlength(taken, k, 3);
        int head = sprintf(bytes, "HTTP/1.1 200 OK\r\nX-Message-Id: %ld\r\nContent-Length: %d\r\n\r\n", identity(taken, k), length);
        memcpy(bytes + head, PQgetvalue(taken, k, 3), length);
        tell(of_takes[k], bytes, head + length);
    }
    PQclear(stored), PQclear(taken);
}

/* Takes up a request that is whole. */
static void take_up(struct client *client) {
    const char *head = memmem(client->bytes, client->length, "\r\n\r\n", 4);
    if (!head) return;
    const char *field = memmem(client->bytes, head - client->bytes, "Content-Length: ", 16);
    client->body = head + 4, client->body_length = field ? atoi(field + 16) : 0;
    if (client->body + client->body_length > client->bytes + client->length) return;
    const char *line_end = memchr(client->bytes, '\r', client->length);
    static const char made[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    if (*client->bytes != 'P' || client->bytes[1] != 'O')
        tell(client, made, sizeof made - 1);
    else if (memmem(client->bytes, line_end - client->bytes, "/take", 5))
        takes_waiting[takes_wait++] = client;
    else
        puts_waiting[puts_wait++] = client;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "bare_batch PORT CONNINFO PUT_MANY TAKE_MANY\n"), 2;
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none); /* as the service */
    database = PQconnectdb(argv[2]);
    check(PQstatus(database) == CONNECTION_OK, "connection");
    PQclear(PQprepare(database, "put", argv[3], 0, NULL)), PQclear(PQprepare(database, "take", argv[4], 0, NULL));
    check(PQenterPipelineMode(database) && PQsetnonblocking(database, 1) == 0, "pipeline");
    struct sockaddr_in own = {AF_INET, htons(atoi(argv[1])), {htonl(INADDR_LOOPBACK)}};
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1, epoll = epoll_create1(0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (struct sockaddr *)&own, sizeof own) || listen(door, 128)) return perror("bare_batch"), 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &door}, events[MOST];
    epoll_ctl(epoll, EPOLL_CTL_ADD, door, &event);
    event.data.ptr = &database;
    epoll_ctl(epoll, EPOLL_CTL_ADD, PQsocket(database), &event);
    for (;;) {
        int found = epoll_wait(epoll, events, MOST, -1);
        for (int e = 0; e < found; e++) {
            struct client *client = events[e].data.ptr;
            if (events[e].data.ptr == &database) {
                if (is_answered()) tell_all();
            } else if (events[e].data.ptr == &door) {
                client = calloc(1, sizeof *client);
                client->fd = accept(door, NULL, NULL);
                setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.ptr = client};
                epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
            } else {
                long got = recv(client->fd, client->bytes + client->length, ROOM - client->length, MSG_DONTWAIT);
                if (got == 0) close(client->fd);
                if (got > 0) client->length += got, take_up(client);
            }
        }
        if (!puts_under_way && !takes_under_way && (puts_wait || takes_wait)) send_batch();
    }
}
