"""Services of `twice.py` beside those of benches/capacity/live_services.py: how each is built and started. Written after the fit of
90268966, to judge the rules that followed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "capacity"))
from live_services import JAVA, SERVICES, WORK, Service  # type: ignore[import-not-found]

OWN = Path(__file__).resolve().parent / "programs"
TO = "{built}/work"


def _at(name: str, *more: str) -> tuple[str, ...]:
    return (str(OWN / name), "{port}", *more)


def _service(command: tuple[str, ...], needs: str, build: tuple[str, ...] = ()) -> Service:
    return Service(command, needs, "mean", False, build)


OTHERS = {
    "python-packed": _service((sys.executable, *_at("packed.py")), "python3"),
    "tcl-loop": _service(("tclsh", *_at("loop.tcl")), "tclsh"),
    "c-uneven": _service(WORK, "gcc", ("gcc", "-O2", "-o", TO, str(OWN / "uneven.c"))),
    "go-stages": _service(WORK, "go", ("go", "build", "-o", TO, str(OWN / "stages.go"))),
    "go-garbage": _service(WORK, "go", ("go", "build", "-o", TO, str(OWN / "garbage.go"))),
    "node-threads": _service(("node", *_at("threads.js")), "node"),
    "java-single": _service((*JAVA, "Single", "{port}"), "javac", ("javac", "-d", "{built}", str(OWN / "Single.java"))),
    "rust-behind": _service(WORK, "rustc", ("rustc", "-O", "-o", TO, str(OWN / "behind.rs"))),
    "perl-pages": _service(("perl", *_at("pages.pl", "{folder}")), "perl"),
}
SERVICES.update(OTHERS)  # `running` knows them by name
