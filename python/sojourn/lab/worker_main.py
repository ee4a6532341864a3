"""The worker process: one native loop, told by one JSON object, answering with JSON lines."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from sojourn import _native

Config = dict[str, Any]


def emit(event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def _load(config: Config) -> Any:
    def progress(text: str) -> None:
        emit("progress", **json.loads(text))

    generate = _native.load_blocks if "block" in config["load"] else _native.load
    return json.loads(generate(json.dumps(config["load"]), config["out"], progress))


def _kv(config: Config) -> Any:
    return json.loads(_native.serve_kv(json.dumps(config["kv"]), lambda text: emit("ready", **json.loads(text))))


def _command(config: Config) -> Any:
    from sojourn.lab.supervisor import keep

    return keep(config["command"], emit)


def _host(config: Config) -> Any:
    emit("ready")
    return json.loads(_native.collect_host(json.dumps(config["host"])))


def _spin(config: Config) -> Any:
    emit("ready")
    _native.spin(config["cores"], config.get("work"))
    return {}


def _slow_file(config: Config) -> Any:
    from sojourn.lab.slow_file import serve

    return serve(config["slow-file"], emit)


def _waiting_service(config: Config) -> Any:
    from sojourn.lab.waiting_service import serve

    return serve(config, emit)


def _irqwork(config: Config) -> Any:
    work = _native.IrqWork(config["interfaces"], config["port"], config["table_s"])
    emit("ready")
    while not _native.stopped():
        time.sleep(0.05)
    packets, seconds = work.burnt()
    return {"packets": packets, "seconds": seconds}


KINDS: dict[str, Callable[[Config], Any]] = {
    "load": _load,
    "kv": _kv,
    "command": _command,
    "host": _host,
    "spin": _spin,
    "irqwork": _irqwork,
    "slow-file": _slow_file,
    "waiting-service": _waiting_service,
}


def _run(kind: str, config: Config) -> Any:
    if kind in KINDS:
        return KINDS[kind](config)
    from sojourn.cases import imported, known

    return imported(known("worker_functions", dict.fromkeys(KINDS, ""))[kind])(config, emit)


def raise_file_limit() -> None:
    """A connection is an open file, and the usual soft limit of 1024 is less than a service or a generator needs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def main() -> int:
    _native.die_with_parent()
    if len(sys.argv) > 2 and os.getppid() != int(sys.argv[2]):
        return 1  # the parent was gone before it could be watched
    raise_file_limit()
    emit("started")
    config = json.loads(sys.stdin.readline() or "{}")
    try:
        if config.get("network"):
            _native.enter_network(config["network"])
        _native.stop_on_signals()
        emit("done", summary=_run(sys.argv[1], config))
    except (OSError, RuntimeError, ValueError) as error:
        emit("error", message=str(error), type=type(error).__name__)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
