"""The numbers of a model that a slider can move: where each stands, what it is now, and from where to where it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sojourn.model import Model
from sojourn.model.unknown_parameters import WHOLE

FIELDS = ("population", "rate_per_s", "think_s", "servers", "size", "limit", "capacity", "branches", "cores", "nics", "interrupt_s",
          "client_s", "handoff_s", "crossing_s", "saved")  # fmt: skip
TIMES = ("demands_s", "service_s")
FACTOR = 4.0  # a slider reaches from a quarter of a number to four times it
MOST = 60  # sliders: the rest is changed in the text


@dataclass(frozen=True)
class ModelNumber:
    """`path`: as in `--vary`; `unit`: "s", "1/s" or ""; `load`: whether it is a load, and so may be the x axis of curves."""

    path: str
    label: str
    value: float
    low: float
    high: float
    whole: bool
    unit: str
    load: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def model_numbers(model: Model) -> list[ModelNumber]:
    """Loads first, then what stations have, then times."""
    found = [*_of_nouns("classes", model.classes, len(model.classes) > 1), *_of_nouns("stations", model.stations)]
    found += [*_of_nouns("regions", model.regions), *_of_parameters(model.parameters), *_of_times(model)]
    return found[:MOST]


def _of_nouns(part: str, nouns: Any, named: bool = True) -> Iterator[ModelNumber]:
    for noun in nouns:
        for name in FIELDS:
            value = getattr(noun, name, None)
            if name == "rate_per_s" and getattr(noun, "arrivals", None) is not None:
                continue  # the arrivals say it
            if value is not None and _is_number(value):
                load = part == "classes" and name in ("population", "rate_per_s")
                of = f" of {noun.name}" if named else ""
                yield _number(f"{part}.{noun.name}.{name}", f"{_words(name)}{of}", value, name, load)


def _of_parameters(parameters: Mapping[str, Any]) -> Iterator[ModelNumber]:
    for name, value in parameters.items():
        if _is_number(value):
            yield _number(f"parameters.{name}", name.replace("_", " "), value, name)


def _of_times(model: Model) -> Iterator[ModelNumber]:
    for part, word in zip(TIMES, ("demand", "service time"), strict=True):
        for station, row in getattr(model, part).items():
            for cls, value in row.items():
                of = f" of {cls}" if len(model.classes) > 1 else ""
                path, label = f"{part}.{station}.{cls}", f"{word}{of} at {station}"
                mean = getattr(value, "__dataclass_fields__", {}).get("mean")
                if _is_number(value):
                    yield _number(path, label, value, part)
                elif mean is not None and _is_number(value.mean):
                    yield _number(f"{path}.mean", f"mean {label}", value.mean, part)


def _is_number(value: Any) -> bool:
    """A formula is none: what it is made of has a slider."""
    return type(value) in (int, float) and value >= 0


def _number(path: str, label: str, value: float, name: str, load: bool = False) -> ModelNumber:
    unit = "1/s" if name.endswith("_per_s") else "s" if name.endswith("_s") else ""
    whole = name in WHOLE and float(value).is_integer()
    if whole:
        return ModelNumber(path, label, value, 1, max(8.0, FACTOR * value), True, unit, load)
    low, high = (value / FACTOR, value * FACTOR) if value else (0.0, 1.0)
    return ModelNumber(path, label, value, 0.0 if load or name == "think_s" else low, high, False, unit, load)


def _words(name: str) -> str:
    return {"population": "users", "rate_per_s": "rate", "think_s": "think time"}.get(
        name, name.removesuffix("_s").replace("_", " ")
    )
