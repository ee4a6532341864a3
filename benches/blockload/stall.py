"""Whether the mark `ack stall` sees qemu-nbd's stall, and only that: with and without quick ACK, three seeds at four rates.

python benches/blockload/stall.py > held_out.csv
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute
from sojourn_cases.storage.qemu_nbd import QemuNbd

RATES, SEEDS = (300, 700, 2000, 6000), (11, 12, 13)

print("rate,seed,quick_ack,mean_us,stalled_share,status")
with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
    image = Path(folder, "img")
    image.write_bytes(os.urandom(1 << 20) * 64)
    server = QemuNbd(image)
    try:
        for rate in RATES:
            for seed in SEEDS:
                for quick in (True, False):
                    load = block_load(
                        server.url, iops=rate, read=0.7, duration_s=1.0, quick_ack=quick, seed=seed, timeout_s=5.0
                    )
                    told = execute(Path(folder, f"{rate}-{seed}-{quick}"), load, what={"name": "x"}).manifest["storage"]
                    mean, share = f"{1e6 * told['latency_s']:.0f}", f"{told['stalled_share']:.3f}"
                    print(rate, seed, quick, mean, share, " ".join(told["status"]), sep=",", flush=True)
    finally:
        server.stop()
