"""Verbs and options by a former name: still understood, and the present name is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sojourn.cases import commands

# words at the beginning → those in their place
FORMER: dict[tuple[str, ...], tuple[str, ...]] = {
    ("plan", "configurations"): ("plan",),
    ("plan", "merge"): ("calc", "merge"),
    ("plan", "table"): ("calc", "table"),
    ("plan", "balance"): ("calc", "balance"),
    ("lab", "doctor"): ("doctor",),
}
FORMER_OPTIONS = {"duration": "for"}  # without their dashes
_HTTP = {
    "--method": "--http-method",
    "--status": "--ok-status",
    "--bearer-env": "--bearer-token-env",
    "--basic-env": "--basic-auth-env",
}
_CSV = {"--csv": "--output-format csv"}
_SERVICE = {
    "--pids": "--service-pids",
    "--cgroup": "--service-cgroup",
    "--disk": "--service-disk",
    "--service-cores": "--service-runs-on-cores",
}
_LOAD = {
    **_HTTP,
    **_CSV,
    "--get": "--get-weight",
    "--set": "--set-weight",
    "--put": "--put-weight",
    "--take": "--take-weight",
    "--prefix": "--queue-prefix",
    "--queue": "--max-waiting-ios",
    "--max-waiting": "--max-waiting-ios",
    "--fsync": "--fsync-every",
    "--fua": "--fua-every",
    "--cache-of": "--backing-file",
    "--requests": "--request-mix",
    "--template": "--placeholders",
    "--read": "--read-fraction",
    "--random": "--random-fraction",
    "--span": "--region-size",
    "--yes-destroy": "--allow-writes-to",
    "--multi-get": "--keys-per-multi-get",
    "--retry-delay": "--empty-queue-delay",
    "--slack": "--max-send-delay",
    "--keys": "--key-count",
    "--queues": "--queue-count",
    "--fresh": "--clear-queues",
    "--keep": "--keep-queues",
}
_PARALLEL = {"--on": "--parallel"}
_SERVE = {
    "--queue": "--max-waiting-requests",
    "--max-waiting": "--max-waiting-requests",
    "--idle": "--idle-timeout",
}
# command → former option → what it is now
OPTIONS_OF: dict[str, dict[str, str]] = {
    "capacity": {
        **_HTTP,
        **_SERVICE,
        "--from": "--from-runs",
        "--up-to": "--max-rate",
        "--at-least": "--required-rate",
        "--saturate": "--allow-saturation",
        "--runs": "--max-runs",
    },
    "compare": {
        **_HTTP,
        "--url": "--service-urls",
        "--urls": "--service-urls",
        "--run": "--commands",
        "--margin": "--equivalence-margin",
        "--service-cores": "--service-runs-on-cores",
    },
    "measure": {
        **_LOAD,
        **_SERVICE,
        "--every": "--sample-interval",
        "--interrupt-cores": "--interrupts-arrive-on-cores",
    },
    "load": {**_LOAD, "--per-agent": "--rate-per-agent"},
    "fit": {**_PARALLEL, "--follow": "--track-demand", "--next": "--suggest-runs", "--force": "--overwrite"},
    "plan": {
        **_PARALLEL,
        "--price": "--miss-price",
        "--to": "--manifest",
        "--name": "--deployment-name",
        "--metric": "--pod-metric",
        "--query": "--prometheus-query",
        "--server": "--prometheus-server",
        "--scale-down": "--scale-down-window",
    },
    "calc balance": {
        "--quanta": "--pieces-per-item",
        "--pieces": "--pieces-per-item",
        "--quantum-deviation": "--piece-deviation",
        "--mean": "--item-mean",
        "--deviation": "--item-deviation",
    },
    "calc storage": {"--read": "--read-fraction", "--from": "--coefficients", "--iops": "--required-iops"},
    "calc table": {"--service": "--service-time"},
    "cpu": {"--rest": "--idle-duration"},
    "lab disk": {"--at": "--image-folder", "--bps": "--bytes-per-s"},
    "lab vm": {"--probe": "--boot-guests"},
    "observe": {
        "--suggest": "--suggest-metric-map",
        "--suggest-map": "--suggest-metric-map",
        "--map": "--metric-map",
        "--fitted": "--check-fitted",
        "--cores": "--resource-servers",
        "--sampled": "--trace-share",
        "--visits-alike": "--same-time-per-visit",
    },
    "oscillation": {
        "--a": "--resource-a",
        "--first": "--resource-a",
        "--b": "--resource-b",
        "--second": "--resource-b",
        "--time": "--time-column",
        "--percent": "--shares-in-percent",
    },
    "query": {"--simulate": "--simulated-model", "--tree": "--draw-syntax-tree"},
    "simulate": {**_PARALLEL, **_CSV, "--as-run": "--out", "--max-time": "--max-wall-time"},
    "solve": {
        **_PARALLEL,
        **_CSV,
        "--budget": "--exact-time-limit",
        "--probabilities": "--state-probabilities",
    },
    "study": {"--draw": "--random-configurations", "--paths": "--storage-paths", "--check": "--check-only"},
    "ui": {"--write": "--allow-saving"},
    "validate": {"--up-to": "--max-saturation-share"},
    "control simulate": {
        "--on": "--model",
        "--lag": "--provisioning-delay",
        "--seeds": "--replications",
        "--against": "--compare-with",
    },
    "control replay": {
        "--over": "--observed-windows",
        "--map": "--metric-map",
        "--resource": "--worker-resource",
        "--from": "--prometheus-from",
        "--to": "--prometheus-to",
        "--window": "--prometheus-window",
    },
    "control live": {
        "--on": "--model",
        "--load": "--simulated-check-load",
        "--model-load": "--simulated-check-load",
        "--rate": "--simulated-check-rate",
        "--model-rate": "--simulated-check-rate",
        "--for": "--simulated-check-duration",
        "--duration": "--simulated-check-duration",
        "--model-for": "--simulated-check-duration",
        "--model-check-load": "--simulated-check-load",
        "--model-check-rate": "--simulated-check-rate",
        "--model-check-duration": "--simulated-check-duration",
        "--skip-model-check": "--skip-simulated-check",
        "--pid": "--service-pid",
        "--force": "--skip-simulated-check",
    },
    "serve nbd": {"--memory": "--memory-size", "--delay": "--answer-delay"},
    "serve web": {
        "--cores": "--core-count",
        "--page-ms": "--mean-page-cpu-ms",
        "--backend-ms": "--mean-backend-ms",
        "--workers": "--backend-servers",
        "--cap": "--max-in-system",
        "--request-cap": "--max-in-system",
        "--control": "--control-socket",
    },
    "serve bulletin": {
        **_SERVE,
        "--db": "--postgresql-url",
        "--database": "--postgresql-url",
        "--folder": "--database-folder",
        "--pool": "--db-connections",
        "--clients": "--max-clients",
        "--page-work": "--page-cpu-s",
        "--embedded": "--in-memory",
        "--scale": "--data-scale",
    },
    "serve kv-proxy": {
        **_SERVE,
        "--connections": "--max-clients",
        "--timeout": "--server-timeout",
        "--key-bytes": "--max-key-bytes",
        "--value-bytes": "--max-value-bytes",
        "--memory-bytes": "--max-total-buffer-bytes",
        "--max-buffer-bytes": "--max-total-buffer-bytes",
        "--log": "--thread-log",
        "--bins": "--histogram-log",
        "--histogram": "--hdr-log",
        "--design": "--architecture",
        "--period": "--log-period",
        "--threads": "--event-loops",
        "--sharded": "--split-multi-gets",
    },
    "serve messages": {
        **_SERVE,
        "--connections": "--db-connections",
        "--clients": "--max-clients",
        "--timeout": "--db-timeout",
        "--message-bytes": "--max-message-bytes",
        "--redelivery": "--ack-timeout",
        "--batch": "--batch-commits",
        "--database": "--postgresql-url",
        "--design": "--architecture",
        "--folder": "--database-folder",
        "--log": "--request-log",
        "--period": "--log-period",
    },
}
CONTROL = {
    "--replay": "replay",
    "--live": "live",
}  # options of `control` that are commands below it now; else it is `simulate`
FORMERLY = {"--on", *CONTROL}
BEFORE_A_COMMAND = [
    "lab",
    "disk",
]  # each of its options takes a value; behind them stands another program's command line
A_WORD = re.compile(r"[a-z][a-z-]*")


def present(words: Sequence[str]) -> tuple[list[str], str]:
    """The words as they are called now, and what to say about it, a line for each; "" where nothing has changed."""
    now, note = _present_verb(words)
    options = OPTIONS_OF.get(" ".join(now[:2])) or OPTIONS_OF.get(" ".join(now[:1]), {})
    notes = [note] if note else []
    end = _command_at(now) if now[:2] == BEFORE_A_COMMAND else None
    for at, word in enumerate(now):
        option, equals, value = word.partition("=")
        if option == "--" or at == end:
            break
        if (new := options.get(option)) is not None:
            now[at : at + 1] = [new + equals + value] if " " not in new else new.split(" ")
            notes.append(f"{option} is now called {new}")
    return now, "\n".join(notes)


def _command_at(words: Sequence[str]) -> int:
    """Where the command to run begins."""
    at = len(BEFORE_A_COMMAND)
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] else 2
    return at


def _present_verb(words: Sequence[str]) -> tuple[list[str], str]:
    if words[:1] == ["control"] and _is_former_control(words[1:]):
        return _below_control(words[1:])
    new: tuple[str, ...] | None = FORMER.get(tuple(words[:2]))
    if new is None and words[:1] == ["plan"] and len(words) > 1 and A_WORD.fullmatch(words[1]):
        new = ("calc", words[1]) if words[1] in commands("calc", {}) else None  # of a case
    if new is None:
        return list(words), ""
    return [*new, *words[2:]], f"sojourn {' '.join(words[:2])} is now called sojourn {' '.join(new)}"


def _is_former_control(words: Sequence[str]) -> bool:
    """Whether an option that `control` had is among them. A plain word at the beginning is a command, perhaps mistyped, and no file."""
    if not words or A_WORD.fullmatch(words[0]):
        return False
    return any(word.partition("=")[0] in FORMERLY for word in words)


def _below_control(words: Sequence[str]) -> tuple[list[str], str]:
    """`policy.toml --replay FOLDER` as `control replay policy.toml FOLDER`."""
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if (name := CONTROL.get(option)) is not None:
            last = [value] if equals else list(words[at + 1 : at + 2])
            rest = [*words[:at], *words[at + (1 if equals else 2) :], *last]
            now = f"sojourn control {name} POLICY {'FOLDER' if name == 'replay' else 'SERVICE'}"
            return ["control", name, *rest], f"sojourn control {option} is now called {now}"
    words = ["--model" if word == "--on" else word for word in words]
    return [
        "control",
        "simulate",
        *words,
    ], "sojourn control POLICY --on is now called sojourn control simulate POLICY --model"
