"""Examples in the help of commands below a verb: command lines that work as they stand where the files are there."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "control simulate": (
        "sojourn control simulate policy.toml --on pool.toml --load all --against hpa.toml",
        "sojourn control simulate policy.toml --on pool.toml --load sine --rate 100 --for 10m",
        "sojourn control simulate policy.toml --on pool.toml --load traces --seeds 20 --out logs",
    ),
    "control replay": (
        "sojourn control replay policy.toml logs/policy-sine-1",
        "sojourn control replay policy.toml runs/web-07 --workers 8",
        "sojourn control replay hpa.toml logs/policy-sine-1 --json",
    ),
    "control live": (
        "sojourn control live policy.toml http://127.0.0.1:8080 --stop-after 1h",
        "sojourn control live policy.toml service.toml --act --on pool.toml",
        "sojourn control live policy.toml service.toml --act --force --lease 10s",
    ),
}
