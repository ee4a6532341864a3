/* The limits that the engine is measured against: the same models with nothing counted but completions.
 *
 *     bare mm1|tandem|cycle|lindley COMPLETIONS      prints CPU seconds and completions
 *     bare mm1-counted|tandem-counted|cycle-counted COMPLETIONS      and the mean response time of the whole
 *
 * A binary heap of the next event of each source, numbers of customers, exponentials by a ziggurat (Marsaglia and
 * Tsang 2000) from xoshiro256++: what remains of a simulation when all else is left out.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state[4] = {1, 2, 3, 4};

static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t bits(void) {
    uint64_t result = rotate(state[0] + state[3], 23) + state[0], t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotate(state[3], 45);
    return result;
}

static double edge[257], height[257];

static void tables(void) {
    const double r = 7.69711747013105, area = 3.949659822581557e-3;
    edge[0] = area / exp(-r);
    edge[1] = r;
    for (int i = 2; i < 256; i++) edge[i] = -log(area / edge[i - 1] + exp(-edge[i - 1]));
    edge[256] = 0;
    for (int i = 0; i <= 256; i++) height[i] = exp(-edge[i]);
}

static inline double uniform(void) { return (bits() >> 11) * 0x1p-53; }

static double exponential(void) {
    double base = 0;
    for (;;) {
        uint64_t b = bits();
        int i = b & 255;
        double x = (b >> 11) * 0x1p-53 * edge[i];
        if (x < edge[i + 1]) return base + x;
        if (i == 0) {
            base += edge[1];
        } else if (height[i] + uniform() * (height[i + 1] - height[i]) < exp(-x)) {
            return base + x;
        }
    }
}

struct event { double time; int source; };
static struct event heap[16];
static int size;

static void sink(struct event e) {
    int i = 0, child;
    while ((child = 2 * i + 1) < size) {
        if (child + 1 < size && heap[child + 1].time < heap[child].time) child++;
        if (heap[child].time >= e.time) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
}

static void push(double time, int source) {
    int i = size++;
    while (i > 0 && heap[(i - 1) / 2].time > time) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = (struct event){time, source};
}

/* The source of the first event has its next one at `time`: it takes the place on top. */
static void replace(double time) { sink((struct event){time, heap[0].source}); }

static void pop(void) {
    struct event last = heap[--size];
    if (size > 0) sink(last);
}

/* Stations in a row; the last leads out, or back to the first. Source k is station k, source n the arrivals. */
static long row(int n, const double *mean, double gap, int customers, long completions) {
    long done = 0;
    int number[8] = {customers};
    if (gap > 0) push(exponential() * gap, n);
    if (customers > 0) push(exponential() * mean[0], 0);
    while (done < completions) {
        double now = heap[0].time;
        int k = heap[0].source, next = 0;
        if (k == n) {
            replace(now + exponential() * gap);
        } else {
            done++;
            if (--number[k] > 0) replace(now + exponential() * mean[k]);
            else pop();
            next = k + 1;
            if (next == n) {
                if (gap > 0) continue;
                next = 0;
            }
        }
        if (number[next]++ == 0) push(now + exponential() * mean[next], next);
    }
    return done;
}

static double waited;

/* The same with what the engine counts where quantiles are asked: of each station and of the whole the sums of response and waiting times
 * and of their squares, the integrals of the numbers present and in service, and a histogram of the response times with bins of 2^-9 (as
 * crates/des/src/network/histogram.rs). So each customer carries when it came. Batches of time, a few thousand in all, are left out. */
enum { RING = 1 << 14, BINS = 80 << 9 };
static struct customer { double entered, came; } line[6][RING];
static unsigned first[6], last[6];
static double began[6];
static struct cell { double arrivals, present, busy, completions, times[2], squares[2], waited; } cells[7];
static uint32_t histogram[7][BINS];

static void come(int cell, double now) {
    cells[cell].arrivals++;
    cells[cell].present -= now;
}

static void leave(int cell, double now, double came, double waiting) {
    struct cell *of = &cells[cell];
    double times[2] = {now - came, waiting};
    uint64_t bits_of;
    for (int i = 0; i < 2; i++) {
        of->times[i] += times[i];
        of->squares[i] += times[i] * times[i];
    }
    of->waited += waiting > 0;
    of->present += now;
    of->completions++;
    memcpy(&bits_of, &times[0], sizeof bits_of);
    int64_t bin = (int64_t)(bits_of >> 43) - ((1023 - 40) << 9);
    histogram[cell][bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
}

static void start(int station, double now) {
    began[station] = now;
    cells[station].busy -= now;
}

static void enter(int station, double now, double entered) {
    line[station][last[station]++ % RING] = (struct customer){entered, now};
    come(station, now);
}

static long row_counted(int n, const double *mean, double gap, int customers, long completions) {
    long done = 0;
    if (gap > 0) push(exponential() * gap, n);
    for (int i = 0; i < customers; i++) {
        come(n, 0);
        enter(0, 0, 0);
    }
    if (customers > 0) {
        start(0, 0);
        push(exponential() * mean[0], 0);
    }
    while (done < completions) {
        double now = heap[0].time, entered = now;
        int k = heap[0].source, next = 0;
        if (k == n) {
            replace(now + exponential() * gap);
            come(n, now);
        } else {
            struct customer who = line[k][first[k]++ % RING];
            done++;
            leave(k, now, who.came, began[k] - who.came);
            cells[k].busy += now;
            if (first[k] != last[k]) {
                start(k, now);
                replace(now + exponential() * mean[k]);
            } else {
                pop();
            }
            next = k + 1;
            entered = who.entered;
            if (next == n) {
                leave(n, now, who.entered, 0);
                if (gap > 0) continue;
                next = 0;
                entered = now;
                come(n, now);
            }
        }
        if (first[next] == last[next]) {
            start(next, now);
            push(now + exponential() * mean[next], next);
        }
        enter(next, now, entered);
    }
    waited = cells[n].times[0] / cells[n].completions;
    return done;
}

static long lindley(double gap, long completions) {
    double wait = 0;
    for (long i = 0; i < completions; i++) {
        wait += exponential() - exponential() * gap;
        wait = wait > 0 ? wait : 0;
        waited += wait;
    }
    return completions;
}

int main(int argc, char **argv) {
    const double one[] = {1, 1, 1, 1, 1}, six[] = {0.020, 0.018, 0.016, 0.014, 0.012, 0.010};
    if (argc < 3) return fprintf(stderr, "bare: give a model and a number of completions\n"), 2;
    long completions = atol(argv[2]), done = 0;
    tables();
    clock_t start = clock();
    if (!strcmp(argv[1], "mm1")) done = row(1, one, 1 / 0.9, 0, completions);
    if (!strcmp(argv[1], "tandem")) done = row(5, one, 1 / 0.8, 0, completions);
    if (!strcmp(argv[1], "cycle")) done = row(6, six, 0, 50, completions);
    if (!strcmp(argv[1], "mm1-counted")) done = row_counted(1, one, 1 / 0.9, 0, completions);
    if (!strcmp(argv[1], "tandem-counted")) done = row_counted(5, one, 1 / 0.8, 0, completions);
    if (!strcmp(argv[1], "cycle-counted")) done = row_counted(6, six, 0, 50, completions);
    if (!strcmp(argv[1], "lindley")) done = lindley(1 / 0.9, completions);
    printf("%.6f %ld %g\n", (double)(clock() - start) / CLOCKS_PER_SEC, done, waited);
    return 0;
}
