/* The recursions of mean value analysis and nothing else: the limit that benches/solve/run.py measures against.
 * usage: bare one|three|diagonals repetitions  ->  seconds of CPU time a solution, and its throughput */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATIONS = 10, CUSTOMERS = 1000, K = 4, A = 20, B = 20, C = 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double one(void) {
    double d[STATIONS], q[STATIONS] = {0}, x = 0;
    for (int k = 0; k < STATIONS; k++) d[k] = 0.01 * (k + 1);
    for (int n = 1; n <= CUSTOMERS; n++) {
        double r[STATIONS], sum = 1.0;
        for (int k = 0; k < STATIONS; k++) {
            r[k] = d[k] * (1 + q[k]);
            sum += r[k];
        }
        x = n / sum;
        for (int k = 0; k < STATIONS; k++) q[k] = x * r[k];
    }
    return x;
}

static double lattice[A + 1][B + 1][C + 1][K];

static double d[3][K], x[3];

static inline __attribute__((always_inline)) void state(int a, int b, int c) {
    int n[3] = {a, b, c};
    double *here = lattice[a][b][c];
    for (int k = 0; k < K; k++) here[k] = 0;
    for (int r = 0; r < 3; r++) {
        if (!n[r]) continue;
        const double *before = lattice[a - (r == 0)][b - (r == 1)][c - (r == 2)];
        double time[K], sum = 1.0;
        for (int k = 0; k < K; k++) {
            time[k] = d[r][k] * (1 + before[k]);
            sum += time[k];
        }
        x[r] = n[r] / sum;
        for (int k = 0; k < K; k++) here[k] += x[r] * time[k];
    }
}

static void demands(void) {
    for (int k = 0; k < K; k++) {
        d[0][k] = 0.01 * (k + 1);
        d[1][k] = 0.02 * (k + 1);
        d[2][k] = 0.1 / (k + 1);
    }
}

static double three(void) {
    demands();
    for (int a = 0; a <= A; a++)
        for (int b = 0; b <= B; b++)
            for (int c = 0; c <= C; c++) state(a, b, c);
    return x[0] + x[1] + x[2];
}

/* The same along diagonals of bands of eight rows: a state does not wait for the division of the one before it. */
static double diagonals(void) {
    demands();
    for (int a = 0; a <= A; a++)
        for (int band = 0; band <= B; band += 8)
            for (int i = 0, rows = band + 8 > B ? B + 1 - band : 8; i < C + rows; i++)
                for (int b = i > C ? i - C : 0; b < rows && b <= i; b++) state(a, band + b, i - b);
    return x[0] + x[1] + x[2];
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int repetitions = atoi(words[2]);
    double (*solve)(void) = !strcmp(words[1], "one") ? one : !strcmp(words[1], "three") ? three : diagonals;
    volatile double answer = solve();
    double start = now();
    for (int i = 0; i < repetitions; i++) answer = solve();
    printf("%.9e %.15g\n", (now() - start) / repetitions, answer);
    return 0;
}
