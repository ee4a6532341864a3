// A service in C: a thread a connection, two at a time compute for an exponential time, 3 ms on average.
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
static sem_t cores;
static double rounds_a_second;

static uint64_t work(uint64_t rounds) {
    volatile uint64_t value = 88172645463325252ull;
    for (uint64_t k = 0; k < rounds; k++) value ^= value << 13, value ^= value >> 7, value ^= value << 17;
    return value;
}

static void *serve(void *given) {
    int client = (int)(intptr_t)given, on = 1;
    unsigned seed = client * 2654435761u;
    char text[4096];
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (read(client, text, sizeof text) > 0) {
        double share = -log((rand_r(&seed) + 1.0) / (RAND_MAX + 2.0));
        sem_wait(&cores);
        work((uint64_t)(0.003 * rounds_a_second * share));
        sem_post(&cores);
        if (write(client, answer, sizeof answer - 1) < 0) break;
    }
    close(client);
    return NULL;
}

int main(int count, char **given) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(given[1]) : 0)};
    int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) || listen(listening, 512)) return perror("listen"), 1;
    signal(SIGPIPE, SIG_IGN);
    clock_t begun = clock();
    work(20000000);
    rounds_a_second = 20000000.0 * CLOCKS_PER_SEC / (clock() - begun);
    sem_init(&cores, 0, 2);
    for (;;) {
        pthread_t thread;
        int client = accept(listening, NULL, NULL);
        if (client >= 0 && !pthread_create(&thread, NULL, serve, (void *)(intptr_t)client)) pthread_detach(thread);
    }
}
