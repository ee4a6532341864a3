"""A service of one's own under control, as a TOML file: where its metrics are, which series is what, and what makes its settings.

metrics = "http://127.0.0.1:9100/metrics"
[series]
departures = "shop_request_seconds_count"
response_seconds = "shop_request_seconds_sum"
in_system = "shop_requests_in_progress"
[workers]
read = ["./pool", "size"]
set = ["./pool", "resize", "{value}"]
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError
from sojourn.live_service.metric_series import MetricSeries
from sojourn.toml_settings import TomlFile

VALUE = "{value}"
SETTINGS = ("workers", "cap")
SINCE = ("departures", "response_seconds", "busy_seconds", "refused")  # sums since the service's start


class SeriesNames(BaseModel):
    """Each a series of the page, `name` or `name{label="value"}`; series that differ in other labels are added up. The first four are
    sums since the start: answers, their response times (s), seconds that workers were busy, and requests refused. The others are
    what is now: requests present, those of them that wait, and workers that serve."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    departures: str
    response_seconds: str
    in_system: str
    busy_seconds: str = ""
    refused: str = ""
    waiting: str = ""
    workers: str = ""
    cap: str = ""

    def parsed(self, file: TomlFile) -> dict[str, MetricSeries]:
        """Those that are given. InputError."""
        return {name: MetricSeries.parsed(text, file.at("series", name)) for name, text in self if text}


class SettingCommands(BaseModel):
    """Programs with their arguments, no shell. `set`: {value} stands for the number; `read` prints it; without `read` the series of the
    setting's name tells. `safe`: what is put back; default what holds at the start. `timeout_s`: for one command."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    set: Annotated[tuple[str, ...], Field(min_length=1)]
    read: tuple[str, ...] = ()
    safe: Annotated[int, Field(ge=0)] | None = None
    timeout_s: Annotated[float, Field(ge=0.1, le=120)] = 10.0


class ServiceTable(BaseModel):
    """The file's keys. `timeout_s`: for the metrics page."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    metrics: str
    series: SeriesNames
    workers: SettingCommands | None = None
    cap: SettingCommands | None = None
    timeout_s: Annotated[float, Field(ge=0.1, le=60)] = 1.0

    def commands(self) -> dict[str, SettingCommands]:
        """Of each setting that can be made."""
        return {name: found for name in SETTINGS if (found := getattr(self, name)) is not None}


class ServiceFile:
    """The file at `path`; commands run in its folder. InputError names file, line, value and remedy."""

    def __init__(self, path: Path | str) -> None:
        file = TomlFile.read(path, "http://HOST:PORT, or a file that describes your service")
        self.path = Path(path).resolve()
        self.table = file.checked(ServiceTable)
        self.commands = self.table.commands()
        self.commands_s = sum(each.timeout_s for each in self.commands.values() if each.read)
        self.series = self.table.series.parsed(file)
        for name, commands in self.commands.items():
            if not any(VALUE in word for word in commands.set):
                raise InputError(
                    list(commands.set),
                    file.at(name, "set"),
                    f'one argument has to contain "{VALUE}", which stands for the number',
                )
            if not commands.read and name not in self.series:
                raise InputError(
                    f"nothing tells {name}",
                    file.at(name),
                    f"give a command as [{name}] read, or a series as [series] {name}",
                )
        if self.table.workers is None and "workers" not in self.series:
            raise InputError("nothing tells workers", file.path, "give [series] workers, or [workers] read and set")
