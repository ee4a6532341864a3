"""Worker processes of the cases: each serves until it is told to stop, and says what it did."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sojourn_cases import _native

Emit = Callable[..., None]
Serve = Callable[[str, Callable[[str], object]], str]
Worker = Callable[[dict[str, Any], Emit], Any]


def _worker(kind: str, serve: Serve) -> Worker:
    """What runs `serve` with the part `kind` of its configuration."""

    def run(config: dict[str, Any], emit: Emit) -> Any:
        _native.stop_on_signals()
        return json.loads(serve(json.dumps(config[kind]), lambda text: emit("ready", **json.loads(text))))

    return run


bulletin = _worker("bulletin", _native.serve_bulletin)
kv_proxy = _worker("kv-proxy", _native.serve_kv_proxy)
messages = _worker("messages", _native.serve_messages)
nbd = _worker("nbd", _native.serve_nbd)
web = _worker("web", _native.serve_web)
