"""Every key of a model file: from the nouns that it becomes."""

from __future__ import annotations

import dataclasses
from typing import Any, get_type_hints

from reference.api import own_doc
from reference.kinds import toml, words
from reference.markdown import prose, table
from sojourn.model import components
from sojourn.model.distribution_registry import KINDS
from sojourn.model.toml_file import CLASSES, STATIONS

HEAD = """# Keys of a model file

This page lists every table and key of a model file. Each key has its type and its default. If the default is –, you must give the key.
[Write a model](../howto/write-a-model.md) explains how to use the keys. [The model file](model-file.md) defines their exact meaning.
If a number of a model is unknown, write `{ free = true }` in its place ([fit your own model](../howto/fit-your-own-model.md)).

| table | what it contains |
|---|---|
| `name` | the name of the model, a text |
| `[parameters]` | `NAME = number`, or a formula. Other [formulas](../howto/write-a-model.md#formulas) in the model can use `NAME` |
| `[parameters]` | `NAME = { free = true }`, an unknown number that `sojourn fit` finds |
| `[parameters]` | `NAME = { of, value, cases, otherwise }`, a number that depends on the text `value`, or on the factor `of` of the runs |
| `[parameters]` | `NAME = { metric, station, class, divisor_metric, run_factors, formula, one_value_per_run }`, measured in the runs |
| `[stations.NAME]` | a station; `kind` is one of the kinds below, by default `queue` |
| `[classes.NAME]` | a class of customers; `kind` is `closed` or `open` |
| `[demands_s.STATION]` | `CLASS = ` the time of all visits of a pass, or its distribution |
| `[service_s.STATION]` | `CLASS = ` the time of one visit, or its distribution |
| `[visits.STATION]` | `CLASS = ` the number of visits in a pass |
| `[routing.CLASS.FROM]` | `TO = probability`; `FROM`: a station, `source`, `think`; `TO`: a station, `STATION/CLASS`, `exit`, `think` |
| `[routing.CLASS]` | `FROM = { policy, to, d }`, a choice of the next station, for example the one with the fewest customers |
| `[regions.NAME]` | a limit on the number of customers at several stations together |
| `[shared_cores.NAME]` | queues whose servers are threads on the same cores, such as virtual CPUs of guests |
| `[factors]` | factor of the runs = the path in the model that the factor changes, or a list of paths |
| `[observed]` | station = the measured resource of the station, or a list of resources |
"""


def page() -> str:
    parts = [HEAD]
    for title, kinds in (("Stations: `[stations.NAME]`", STATIONS), ("Classes: `[classes.NAME]`", CLASSES)):
        parts.append(f"\n## {title}\n")
        parts += [noun(f'kind = "{name}"', kind) for name, kind in kinds.items()]
    parts.append("\n## Regions, shared cores, choices, breakdowns\n")
    others = {
        "[regions.NAME]": components.Region,
        "[shared_cores.NAME]": components.SharedCores,
        "a choice": components.Choice,
        "breakdowns": components.Breakdowns,
    }
    parts += [noun(name, kind) for name, kind in others.items()]
    parts.append("\n## Times: a number (the mean of an exponential distribution), or `{ kind = …, … }`\n")
    parts += [noun(f'kind = "{name}"', kind) for name, kind in KINDS.items()]
    return "\n".join(parts)


def noun(title: str, kind: Any) -> str:
    hints = get_type_hints(kind)
    rows = [
        (f"`{field.name.rstrip('_')}`", words(hints[field.name]), default(field))
        for field in dataclasses.fields(kind)
        if field.name != "name"
    ]
    shown = table(("key", "type", "default"), rows) if rows else "No keys of its own.\n"
    return f"### `{title}`\n\n{prose(own_doc(kind))}\n\n{shown}"


def default(field: Any) -> str:
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return "–"
    value = field.default_factory() if field.default is dataclasses.MISSING else field.default
    return "none" if value is None else f"`{toml(value)}`"
