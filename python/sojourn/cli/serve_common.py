"""What `sojourn serve` does with every service: options checked, waited for, its summary in lines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from sojourn.errors import InputError
from sojourn.file_errors import mistake

if TYPE_CHECKING:
    from sojourn.testbed.native_service import NativeService

Options = TypeVar("Options", bound=BaseModel)


def options(kind: type[Options], place: str, **given: Any) -> Options:
    """`kind(**given)`.

    Raises:
        InputError: the first value that is wrong, named at `place`.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        found = mistake(error, kind)
        raise InputError(f"{found.path} = {found.value}", place, found.remedy) from None


def until_stopped(
    service: NativeService, greeting: str, as_json: bool, look: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Says where it listens, waits for Ctrl-C or its own end, `look` at what it needs meanwhile; what it did."""
    try:
        typer.echo(greeting, err=as_json)
        while service.worker.process.poll() is None:
            look()
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    return service.stop()


@contextmanager
def stopped_early() -> Iterator[None]:
    """A service that is stopped before it serves ends in good order, too: nothing was measured that could be kept."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped before it served", err=True)
        raise typer.Exit(0) from None


def event(level: str, name: str, **fields: object) -> None:
    """A line of the log on standard error, as the services' own processes write theirs."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    words = "".join(f" {key}={json.dumps(str(value), ensure_ascii=False)}" for key, value in fields.items())
    typer.echo(f"{at} {level} {name}{words}", err=True)


def done(summary: Mapping[str, Any]) -> str:
    """How many requests, how fast, of which kinds."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary["by_kind"].items() if count) or "none"
    return f"{summary['completions']} requests in {summary['seconds']:.1f} s ({summary['throughput']:.0f}/s): {kinds}"


def times(found: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """A line for each distribution of times."""
    lines = []
    for name in names:
        at = " ".join(f"p{q} {found[name]['percentiles_s'][q] * 1e3:.3f}" for q in ("50", "90", "99"))
        mean, most = found[name]["mean_s"], found[name]["max_s"]
        lines.append(f"{name:8} ms: mean {mean * 1e3:.3f} {at} max {most * 1e3:.3f}")
    return lines
