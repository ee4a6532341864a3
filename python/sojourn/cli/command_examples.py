"""Examples in the help of commands below a verb: command lines that work as they stand where the files are there."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "control simulate": (
        "sojourn control simulate policy.toml --model pool.toml --load all --compare-with hpa.toml",
        "sojourn control simulate policy.toml --model pool.toml --load sine --rate 100 --for 10m",
        "sojourn control simulate policy.toml --model pool.toml --load traces --replications 20 --out logs",
    ),
    "control replay": (
        "sojourn control replay policy.toml logs/policy-sine-1",
        "sojourn control replay policy.toml runs/web-07 --recorded-workers 8",
        "sojourn control replay hpa.toml logs/policy-sine-1 --json",
    ),
    "control live": (
        "sojourn control live policy.toml service.toml --stop-after 1h",
        "sojourn control live policy.toml service.toml --act --model pool.toml",
        "sojourn control live policy.toml service.toml --act --skip-simulated-check --lease 10s",
    ),
    "calc merge": (
        "sojourn calc merge desk.toml hospital.toml",
        "sojourn calc merge desk.toml hospital.toml --merged-servers 3",
        "sojourn calc merge desk.toml hospital.toml --json",
    ),
    "calc table": (
        "sojourn calc table --servers 4 --service-time 20ms",
        "sojourn calc table --servers 4 --service-time 20ms --utilisation-percent 50,70,90",
        "sojourn calc table --servers 1 --service-time 127us --json",
    ),
    "calc balance": (
        "sojourn calc balance --centre-count 8",
        "sojourn calc balance --centre-count 8 --items 1000 --item-mean 2 --item-deviation 1",
        "sojourn calc balance --centre-count 8 --pieces-per-item 4 --piece-deviation 0.2",
        "sojourn calc balance --centre-count 4 --item-deviation 0.5 --nested-level 4:11:0.1",
        "sojourn calc balance --centre-count 8 --sizes-file frames.csv",
    ),
    "design make": (
        "sojourn design make 2^3 --factor cores=1,2 --factor cache=0,1 --factor workers=8,32",
        "sojourn design make full*3 --factor cores=1,2,4 --factor cache=0,1",
        "sojourn design make lhs*20 --factor rate=50,400 --factor think=0,2 --seed 7",
    ),
    "design analyse": (
        "sojourn design analyse runs.csv --response throughput",
        "sojourn design analyse runs.csv --response throughput --factor-column cores --factor-column cache",
        "sojourn design analyse runs.csv --response throughput --out effects.html",
    ),
    "design check": ("sojourn design check results.csv", "sojourn design check results.csv --json"),
    "lab topology": (
        "sojourn lab topology",
        "sojourn lab topology --measure-access-times",
        "sojourn lab topology --json",
    ),
    "lab vm": (
        "sojourn lab vm --boot-guests",
        "sojourn lab vm --boot-guests --json",
        "sojourn lab vm --boot-guests --kernel /boot/vmlinuz-6.12-mine",
    ),
    "lab disk": (
        "sudo sojourn lab disk --bytes-per-s 20M",
        "sudo sojourn lab disk --bytes-per-s 20M -- ls {}",
        "sudo sojourn lab disk --bytes-per-s 5M --size 200M --image-folder /var/tmp -- ls {}",
    ),
    "serve kv": ("sojourn serve kv", "sojourn serve kv --port 11212", "sojourn serve kv --memory-mib 256"),
}
