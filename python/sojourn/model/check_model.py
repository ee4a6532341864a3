"""What is wrong with a model: each mistake one ModelError that names the value, the place and the remedy.

values           single numbers, names, lists       check_times      distributions and arrival processes
check_stations   stations, regions, classes alone   check_routes     routes (traps: `traffic`)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.check_routes import check_reached, check_routes, check_visited
from sojourn.model.check_stations import check_class, check_region, check_shared_cores, check_station
from sojourn.model.check_times import check_time
from sojourn.model.checked_values import RESERVED, number, one_of
from sojourn.model.checked_values import names as check_names
from sojourn.model.components import Closed, LoadDependent, Multicore, Pool, Queue
from sojourn.model.distribution_types import Distribution
from sojourn.model.model_data import ModelData
from sojourn.model.network_arrays import Array, Network
from sojourn.model.unknown_parameters import check_path

__all__ = ["check", "check_class", "check_region", "check_station", "check_time"]


def check(model: ModelData, network: Callable[[], Network]) -> None:
    """Raises the first mistake found: parts first, then tables, then routes, then what they make together: `network`, its arrays."""
    for item in model.stations:
        check_station(item)
    for cls in model.classes:
        check_class(cls)
    for region in model.regions:
        check_region(region)
    for group in model.shared_cores:
        check_shared_cores(group)
    check_names(model.stations, "stations", RESERVED if model.routing else ())
    check_names(model.classes, "classes")
    check_names(model.regions, "regions")
    check_names(model.shared_cores, "shared_cores")
    stations = {s.name: k for k, s in enumerate(model.stations) if not isinstance(s, Pool)}  # names, in their order
    if not stations:
        raise ModelError("no station", "stations", "add a queue or a delay")
    if not model.classes:
        raise ModelError("no class", "classes", "add a closed or an open class")
    _references(model, stations)
    _of_runs(model, stations)
    _where(model)
    for part in ("demands_s", "service_s", "visits"):
        _table(model, part, stations)
    _together(model, stations)
    if model.routing:
        check_routes(model, stations)
    check_reached(model, stations)
    _visited(model, stations, network().visits)  # which finds what nobody can leave
    check_visited(model, stations)


def _of_runs(model: ModelData, stations: Collection[str]) -> None:
    """Factors and what was watched: texts, and paths that lead somewhere, whether or not any run has the factor."""
    hosts = [s for s in model.stations if isinstance(s, Multicore)]
    guests = [row for group in model.shared_cores for row in group.guests.values()]
    watched = [*stations, *(f"{s.name}.{part}" for s in hosts for part in s.parts), *guests]
    for part in ("factors", "observed"):
        table = getattr(model, part)
        if not isinstance(table, Mapping):
            raise ModelError(repr(table), part, "give a table of names")
        for key, value in table.items():
            if part == "observed":
                one_of(key, f"observed.{key}", watched)
            many = value if isinstance(value, tuple) else (value,)
            if (not many and part == "observed") or not all(isinstance(one, str) and one for one in many):
                what = "a path of the model" if part == "factors" else "a resource of the runs"
                raise ModelError(repr(value), f"{part}.{key}", f"give {what} as text, or a list of them")
            for text in many if part == "factors" else ():
                _leads(model, text.partition("=")[0].strip(), f"factors.{key}")


def _where(model: ModelData) -> None:
    if not isinstance(model.where, Mapping):
        raise ModelError(repr(model.where), "where", "give a table of factors of the runs")
    for name, value in model.where.items():
        if not isinstance(value, str | int | float):
            raise ModelError(repr(value), f"where.{name}", "give the text or number that the factor has in these runs")


def _leads(model: ModelData, path: str, place: str) -> None:
    try:
        check_path(model, path)
    except ModelError as error:
        raise ModelError(f"nothing stands at {path}", place, error.remedy) from None


def _references(model: ModelData, stations: Collection[str]) -> None:
    for s in model.stations:
        for name in s.held_over_stations if isinstance(s, Pool) else ():
            one_of(name, f"stations.{s.name}.held_over_stations", stations)
    for r in model.regions:
        for name in r.stations:
            one_of(name, f"regions.{r.name}.stations", stations)
    _shared_cores(model, stations)
    for c in model.classes:
        if isinstance(c, Closed) and c.reference_station:
            one_of(c.reference_station, f"classes.{c.name}.reference_station", stations)


def _shared_cores(model: ModelData, stations: Collection[str]) -> None:
    taken: dict[str, str] = {}
    for group in model.shared_cores:
        place = f"shared_cores.{group.name}.stations"
        for name in group.stations:
            one_of(name, place, stations)
            if not isinstance(model.station(name), Queue):
                raise ModelError(f"station {name} of kind {model.station(name).kind}", place, "name queues")
            if name in taken:
                raise ModelError(f"station {name} twice", place, f"name it once; shared_cores.{taken[name]} has it too")
            taken[name] = group.name
    _rows_apart(model)


def _rows_apart(model: ModelData) -> None:
    """Rows of a group and of its guests have names that no station and no other row has: a value would be another's."""
    rows = {s.name: f"the station {s.name}" for s in model.stations}
    for group in model.shared_cores:
        place = f"shared_cores.{group.name}"
        guests = [(row, f"the station {name}, whose guest has that row") for name, row in group.guests.items()]
        for row, what in [(group.name, place), (f"{group.name}.hypervisor", place), *guests]:
            if row in rows:
                raise ModelError(f"two rows would be called {row!r}", place, f"rename {rows[row]} or {what}")
            rows[row] = what


def _table(model: ModelData, part: str, stations: Collection[str]) -> None:
    """station → class → number: names known, values in range; none of times where the station takes none."""
    table: Mapping[str, Any] = getattr(model, part)
    classes = [c.name for c in model.classes]
    for station, row in table.items():
        one_of(station, f"{part}.{station}", stations)
        if not isinstance(row, Mapping):
            raise ModelError(repr(row), f"{part}.{station}", f"give a number for each class: {', '.join(classes)}")
        if part != "visits" and row and isinstance(model.station(station), LoadDependent):
            remedy = "leave it out: rates_per_s of the station already defines the service; visits may be given"
            raise ModelError("a load-dependent station", f"{part}.{station}", remedy)
        for cls, value in row.items():
            place = f"{part}.{station}.{cls}"
            one_of(cls, place, classes)
            if part == "visits":
                number(value, place, what="(visits of a pass)")
            else:
                check_time(value, place)


def _together(model: ModelData, stations: Collection[str]) -> None:
    """Things that may not be said twice, or not in two ways."""
    for s in stations:
        for c in model.demands_s.get(s, {}):
            if c in model.service_s.get(s, {}):
                remedy = "give one of them: demands_s is the total over all visits, service_s is for one visit"
                raise ModelError("also in service_s", f"demands_s.{s}.{c}", remedy)
        for c in model.visits.get(s, {}):
            if model.routing.get(c):
                raise ModelError(f"class {c} also has routing", f"visits.{s}.{c}", "give visits or routing of a class")


def _visited(model: ModelData, stations: Collection[str], visits: Array) -> None:
    """Every class visits something, has a time where it goes, and not all of a closed class's times are 0."""
    names = list(stations)
    for j, c in enumerate(model.classes):
        own = [names[k] for k in np.flatnonzero(visits[:, j] > 0)]
        entered = any(model.routing.get(x.name) for x in model.classes)
        if not own and not (entered and len(model.classes) > 1):
            remedy = f"give it a time, e.g. demands_s.{names[0]}.{c.name}, or visits, or routing"
            raise ModelError("it visits no station", f"classes.{c.name}", remedy)
        times = [_time(model, s, c.name) for s in own]
        for s, time in zip(own, times, strict=True):
            if time is None:
                said = f"visits.{s}.{c.name}" if c.name in model.visits.get(s, {}) else f"routing.{c.name}"
                remedy = f"give service_s.{s}.{c.name} (0 where it takes no time)"
                raise ModelError(f"{c.name} visits {s}, where it has no service time", said, remedy)
        lonely = isinstance(c, Closed) and not _mean(c.think_s) and c.population and not entered
        if lonely and own and not any(map(_mean, times)):
            raise ModelError("all its times are 0", f"classes.{c.name}", "give think_s or one demand above 0")


def _time(model: ModelData, s: str, c: str) -> Any:
    if isinstance(model.station(s), LoadDependent):
        return 1.0
    return model.service_s.get(s, {}).get(c, model.demands_s.get(s, {}).get(c))


def _mean(time: Any) -> float:
    return time.first if isinstance(time, Distribution) else float(time)
