package board;

/** CPU work with a known demand: a fixed number of rounds of an integer recurrence (xorshift64, Marsaglia 2003) in registers. */
final class CpuWork {
    private static final int TRIALS = 400;
    private static final long WARM_UP_ROUNDS = 20_000; // of a call while the compiler has not finished with it
    private static final long TRIAL_NS = 50_000;

    private static volatile long kept; // so that the work is not optimised away

    private CpuWork() {}

    static void work(long rounds) {
        long x = 0x9e3779b97f4a7c15L;
        for (long done = 0; done < rounds; done++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        kept = x;
    }

    /** Rounds a second in the best of many short trials: the one that nothing interrupted. */
    static double roundsPerS() {
        long until = System.nanoTime() + 200_000_000L;
        while (System.nanoTime() < until) {
            work(WARM_UP_ROUNDS);
        }
        long rounds = 1024;
        while (best(rounds, 5) < TRIAL_NS) {
            rounds *= 2;
        }
        return rounds / (best(rounds, TRIALS) * 1e-9);
    }

    private static long best(long rounds, int trials) {
        long least = Long.MAX_VALUE;
        for (int trial = 0; trial < trials; trial++) {
            long began = System.nanoTime();
            work(rounds);
            least = Math.min(least, System.nanoTime() - began);
        }
        return Math.max(least, 1);
    }
}
