"""The map file: which series of a Prometheus server is which class and which resource.

[classes.checkout]
requests = 'http_server_request_duration_seconds_count{http_route="/checkout"}'    # counter of answers
seconds = 'http_server_request_duration_seconds_sum{http_route="/checkout"}'       # counter of their response times
unit = "s"                                                                         # of `seconds`: s (usual), ms, us

[classes.search]
histogram = 'http_server_request_duration_seconds{http_route="/search"}'           # a native histogram has both

[resources.cpu]
busy = 'node_cpu_seconds_total{mode!~"idle|iowait"}'                               # counter of seconds in use, of all cores
cores = 'count(node_cpu_seconds_total{mode="idle"})'                               # a number, or a query

[resources.disk]
gauge = 'disk_utilisation'                                                         # in place of `busy`: a share in [0, 1]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.file_errors import line_of, meant
from sojourn.files.reading import read_toml
from sojourn.units import UNITS_S

REMEDY = "give a map file; `sojourn observe prometheus://HOST:9090 --suggest-metric-map` writes a first one"
UNITS = {name: UNITS_S[name] for name in ("s", "ms", "us")}
OF_CLASS, OF_RESOURCE = ("requests", "seconds", "histogram", "unit"), ("busy", "gauge", "cores")


@dataclass(frozen=True)
class ClassSeries:
    """Selectors of two counters: answers, and the sum of their response times in `unit_s` (s). `histogram`: of a native histogram,
    which has both, the other two empty."""

    requests: str = ""
    seconds: str = ""
    unit_s: float = 1.0
    histogram: str = ""


@dataclass(frozen=True)
class ResourceSeries:
    """Selector of a counter of busy seconds (`busy`) or of a share (`gauge`), the other empty; `cores`: a number, or a query."""

    busy: str = ""
    gauge: str = ""
    cores: float | str = 1.0


@dataclass(frozen=True)
class SeriesMap:
    """By class and by resource."""

    classes: Mapping[str, ClassSeries]
    resources: Mapping[str, ResourceSeries]


def read_map(path: Path | str) -> SeriesMap:
    """Raises InputError naming file, line, key, value and remedy."""
    data, text = read_toml(path, REMEDY)

    def wrong(value: object, keys: str, remedy: str) -> InputError:
        line = line_of(text, keys.split("."))
        return InputError(value, f"{path}{f':{line}' if line else ''}: {keys}", remedy)

    for key in data:
        if key not in ("classes", "resources"):
            raise wrong("unknown key", key, meant(key, ("classes", "resources")))
    tables = {kind: _tables(data, kind, wrong) for kind in ("classes", "resources")}
    if not tables["classes"]:
        raise InputError("no class", path, "add [classes.NAME] with requests and seconds")
    return SeriesMap(
        {name: _class(name, table, wrong) for name, table in tables["classes"].items()},
        {name: _resource(name, table, wrong) for name, table in tables["resources"].items()},
    )


def _tables(data: Mapping[str, Any], kind: str, wrong: Any) -> dict[str, dict[str, Any]]:
    found = data.get(kind, {})
    known = OF_CLASS if kind == "classes" else OF_RESOURCE
    if not isinstance(found, dict):
        raise wrong(repr(found), kind, f"write [{kind}.NAME]")
    for name, table in found.items():
        if not isinstance(table, dict):
            raise wrong(repr(table), f"{kind}.{name}", f"write [{kind}.{name}] with {', '.join(known)}")
        for key, value in table.items():
            if key not in known:
                raise wrong("unknown key", f"{kind}.{name}.{key}", f"use {', '.join(known)}")
            if key != "cores" and (not isinstance(value, str) or not value.strip()):
                raise wrong(
                    repr(value),
                    f"{kind}.{name}.{key}",
                    'give a text: a selector such as http_requests_total{job="shop"}',
                )
    return found


def _class(name: str, table: Mapping[str, Any], wrong: Any) -> ClassSeries:
    counters = [key for key in ("requests", "seconds") if key in table]
    if "histogram" in table and counters:
        remedy = "give the one: a native histogram has the number of answers and the sum of their times"
        raise wrong(f"both histogram and {counters[0]}", f"classes.{name}", remedy)
    for key in ("requests", "seconds"):
        if key not in table and "histogram" not in table:
            raise wrong(f"no {key}", f"classes.{name}", f"add {key}, the selector of a counter")
    unit = table.get("unit", "s")
    if unit not in UNITS:
        raise wrong(repr(unit), f"classes.{name}.unit", f"use {', '.join(UNITS)}")
    return ClassSeries(table.get("requests", ""), table.get("seconds", ""), UNITS[unit], table.get("histogram", ""))


def _resource(name: str, table: Mapping[str, Any], wrong: Any) -> ResourceSeries:
    if ("busy" in table) == ("gauge" in table):
        raise wrong(
            "neither or both of busy and gauge", f"resources.{name}", "give one: a counter of seconds, or a share"
        )
    cores = table.get("cores", 1.0)
    number = isinstance(cores, int | float) and not isinstance(cores, bool)
    if not (number and cores > 0) and not (isinstance(cores, str) and cores.strip()):
        raise wrong(repr(cores), f"resources.{name}.cores", "give a number above 0, or a query")
    return ResourceSeries(table.get("busy", ""), table.get("gauge", ""), float(cores) if number else cores)
