"""Programs whose CPU time is known: what a meter of CPU is judged by. Run as `python -c PROGRAM SETTING LENGTH_S`."""

# uses the share SETTING of a core
LOOP = """
import sys, time
share, length_s = map(float, sys.argv[1:])
began_s = time.monotonic()
while (passed_s := time.monotonic() - began_s) < length_s:
    if time.process_time() > share * passed_s:
        time.sleep(0.003)
"""
# works 0.6 ms at the same place between two ticks of 250 Hz each time, which are at whole multiples of 4 ms
IN_STEP = """
import os, sys, time
phase_s, length_s = map(float, sys.argv[1:])
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
end_s = time.monotonic() + length_s
while (now_s := time.monotonic()) < end_s:
    time.sleep(max((now_s // 0.004 + 1) * 0.004 + phase_s - time.monotonic(), 0))
    stop_s = time.monotonic() + 0.0006
    while time.monotonic() < stop_s:
        pass
"""
