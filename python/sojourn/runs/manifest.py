"""The manifest of a run: its keys and their kinds, held by mypy where one is used, and checked where a file is read.

What each key means: docs/reference/run-folder.md. A manifest is a plain dict, so that what a later version or a case adds to it is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from sojourn.errors import RunFolderError
from sojourn.file_errors import mistake

FORMAT, VERSION = "sojourn-run", 1
DAMAGED = "the file is damaged; run the measurement again"
SERVICE_EXITED = "the service exited during the run"  # of a reason
LONGEST_S = 1e9  # of a run, 30 years: beyond it is no time
Table: TypeAlias = dict[str, Any]

# Version of a file → what makes one of the next version of it, in place; `read_manifest` goes through them.
MIGRATIONS: Mapping[int, Callable[[Table], None]] = {}


class ValidatedAs:
    """What is a plain dict, list or text to mypy, and has this shape where it is read."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.shape)


def _in_order(window: list[float]) -> list[float]:
    if window[0] > window[1]:
        raise ValueError("give the start and the end, s")
    return window


def _plain_name(name: str) -> str:
    if Path(name).name != name:
        raise ValueError("give a name in the folder")
    return name


def _level(value: Any) -> Any:
    if isinstance(value, dict | list) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("give a number or a text")
    return value


Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=-LONGEST_S)]
Count: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Seconds: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=-LONGEST_S, le=LONGEST_S)]
Length: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=0, le=LONGEST_S)]
Level: TypeAlias = Annotated[Any, AfterValidator(_level)]  # of a factor
Window: TypeAlias = Annotated[list[Seconds], Field(min_length=2, max_length=2), AfterValidator(_in_order)]


class OpenTable(TypedDict, total=False):
    """Whoever writes a table may put more into it than readers take out."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]


class _ClosedLoop(OpenTable):
    users: Count


class _Lane(OpenTable, total=False):
    closed: _ClosedLoop | None
    arrivals: Table | None
    targets: list[Table]
    connections: Count | None
    connections_max: Count | None


class _Load(OpenTable, total=False):
    lanes: list[_Lane]
    duration_s: Length | None
    timeout_s: Number | None


class _LaneAccount(OpenTable, total=False):
    cpu_s: Number
    wall_s: Number


class _Generator(OpenTable, total=False):
    lanes: list[_LaneAccount] | None
    in_flight: list[list[Any]]
    notes: list[str]
    sample_every: Number | None
    offered_per_s: Number | None
    duration_s: Length | None
    start_s: Seconds | None
    end_s: Seconds | None


class _Instant(OpenTable, total=False):
    monotonic_s: Seconds | None


class _Placement(OpenTable, total=False):
    server: list[int]
    client: list[int]
    interrupts: list[int]
    observer: Number | None


class _Conditions(OpenTable, total=False):
    duration_s: Length | None


class _Observed(OpenTable, total=False):
    length_s: Length


class _RecordHeader(OpenTable, total=False):
    sample_every: Annotated[float, Field(allow_inf_nan=False, ge=1)]
    classes: list[str] | None
    failures: list[str] | None
    pages: list[str] | None


class _FileAccount(OpenTable):
    bytes: int
    sha256: str


class _Host(OpenTable, total=False):
    interval_s: Number | None


class _Observer(OpenTable, total=False):
    own_share: Number | None


class _CpuTime(OpenTable, total=False):
    over_s: Number | None
    used: dict[str, Number]
    others: dict[str, Number]
    beside: dict[str, Number]


_Checks = TypedDict("_Checks", {"failed share": Number | None, "others": Number | None}, total=False)
_Checks.__pydantic_config__ = OpenTable.__pydantic_config__  # type: ignore[attr-defined]


class _Factors(BaseModel):
    """Levels of a load are numbers; other factors may be texts."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Level]
    rate_per_s: Number | None = None
    users: Number | None = None
    think_s: Number | None = None


class Manifest(OpenTable, total=False):
    """Where a key is there, it has this kind; `ValidatedAs`: what readers take out of its table."""

    format: str
    version: int
    status: Literal["running", "complete", "cut off"]
    # what was run, and by whom
    name: Annotated[str, ValidatedAs(str | None)]
    section: Annotated[str, ValidatedAs(str | None)]
    model: Annotated[str, ValidatedAs(str | None)]
    testbed: Annotated[str, ValidatedAs(str | None)]  # `virtual`: a simulated host
    simulated: bool
    factors: Annotated[Table, ValidatedAs(_Factors)]
    repetition: Number
    seed: int
    series_seed: int  # of `measure`: with the name of a level it gives the seed of its schedule
    argv: Annotated[list[Any], ValidatedAs(list[Any] | None)]
    classes: Annotated[list[Any], ValidatedAs(list[Any] | None)]
    pid: Number
    pid_started: Annotated[str, ValidatedAs(str | None)]
    # the load, and what the generator says of it
    load: Annotated[Table, ValidatedAs(_Load)]
    generator: Annotated[Table, ValidatedAs(_Generator | None)]
    agents: Annotated[list[Table], ValidatedAs(list[Table] | None)]
    # where
    machine: Table
    host: Annotated[Table, ValidatedAs(_Host | None)]
    lab: Annotated[Table, ValidatedAs(Table | None)]
    placement: Annotated[Table, ValidatedAs(_Placement | None)]
    conditions: Annotated[Table, ValidatedAs(_Conditions)]
    observed: Annotated[Table, ValidatedAs(_Observed | None)]  # of a window that nobody loaded
    pids: dict[str, int]
    found: str  # which processes were found by their listening socket
    all_known: bool
    at_rest: Annotated[Table, ValidatedAs(Table | None)]
    start: Annotated[Table, ValidatedAs(_Instant | None)]
    end: Annotated[Table, ValidatedAs(_Instant | None)]
    # what was recorded
    records: dict[str, Annotated[Table, ValidatedAs(_RecordHeader)]]
    files: dict[Annotated[str, AfterValidator(_plain_name)], Annotated[Table, ValidatedAs(_FileAccount)]]
    observer: Annotated[Table, ValidatedAs(_Observer | None)]
    cpu_time: Annotated[Table, ValidatedAs(_CpuTime | None)]
    service: Annotated[Table, ValidatedAs(Table | None)]
    resources: Annotated[Table, ValidatedAs(Table | None)]
    servers: Annotated[Table, ValidatedAs(Table | None)]
    demand: Annotated[Table, ValidatedAs(Table | None)]
    demands_s: Annotated[Table, ValidatedAs(Table | None)]
    ping: Annotated[Table, ValidatedAs(Table | None)]  # what a round trip took before the run
    topology_probe: Any
    # what came of it
    valid: bool
    reasons: list[str]
    not_valid_for: Annotated[
        list[str], ValidatedAs(list[str] | None)
    ]  # figures of a valid run that a late generator leaves open
    beside_others: bool
    failures_allowed: Number
    warnings: Annotated[list[str], ValidatedAs(list[str] | None)]
    checks: Annotated[Table, ValidatedAs(_Checks)]
    window_s: Annotated[list[float], ValidatedAs(Window | None)]
    warm_up_s: Number
    pulse: bool
    objectives: Annotated[list[Any], ValidatedAs(list[Any] | None)]
    block_load: Table
    # of the cases
    cpu: Table
    database_activity: Table
    kv: Annotated[Table, ValidatedAs(Table | None)]
    storage: Annotated[Table, ValidatedAs(Table | None)]


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Manifest)


def read_manifest(found: Any, file: Path) -> Manifest:
    """What `file` has, as a manifest of this version.

    Raises:
        RunFolderError: it is none, is of a later version, or a value has another kind or cannot be: the first, by its key.
    """
    if not isinstance(found, dict) or "format" not in found or "version" not in found:
        raise RunFolderError("not a manifest", str(file), DAMAGED)
    if found["format"] == FORMAT:
        while isinstance(found["version"], int) and (step := MIGRATIONS.get(found["version"])) is not None:
            step(found)
    if (found["format"], found["version"]) != (FORMAT, VERSION):
        remedy = f"this program reads {FORMAT} version {VERSION}"
        raise RunFolderError(f"{found['format']} version {found['version']}", str(file), remedy)
    found.setdefault("status", "complete")
    try:
        _adapter().validate_python(found)
    except ValidationError as error:
        wrong = mistake(error, BaseModel)
        raise RunFolderError(wrong.value, f"{file}: {wrong.path}", f"{wrong.remedy}; {DAMAGED}") from None
    manifest: Manifest = found  # type: ignore[assignment]
    return manifest
