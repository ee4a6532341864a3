"""The message study as its TOML file says it, checked; its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.study.file import checked, fingerprint, lessened, parts, read_data, study_file
from sojourn.study.messages.models.fit import CALIBRATION, REFERENCE
from sojourn.study.messages.points import Point
from sojourn.study.points import shuffled

BEST, MODELS = "best", "models"
FIRST = (REFERENCE, CALIBRATION)
TAKEN = (*FIRST, BEST, MODELS)
LIMITS = {"workers": (1, 1024), "connections": (1, 1024), "clients": (1, 4096), "middlewares": (1, 16)}


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Load(Part):
    """`[load]`: what every run has in common. `put` and `take`: weights of the two; sizes in bytes. `tries`: how often a
    run is made at most while other processes disturb it."""

    seconds: float = Field(default=10.0, gt=0.2, le=600)
    warm_up_s: float = Field(default=1.0, ge=0.2, le=60)
    repetitions: int = Field(default=3, ge=1, le=50)
    seed: int = Field(default=1, ge=0)
    put: float = Field(default=1.0, gt=0, le=1e6)
    take: float = Field(default=1.5, gt=0, le=1e6)
    message_bytes: int = Field(default=16, ge=16, le=65_536)
    queues: int = Field(default=1, ge=1, le=1000)
    tries: int = Field(default=3, ge=1, le=20)
    durability: str = Field(default="full", pattern="^(full|off)$")


class Reference(Part):
    """`[reference]`: the configuration that is fitted; what a section does not say is as here."""

    workers: int = Field(default=20, ge=1, le=1024)
    connections: int = Field(default=20, ge=1, le=1024)
    clients: int = Field(default=90, ge=1, le=4096)
    retry_s: float = Field(default=0.1, ge=0, le=60)
    middlewares: int = Field(default=1, ge=1, le=16)
    repetitions: int | None = Field(default=None, ge=1, le=50)

    def point(self, section: str, seconds: float) -> Point:
        given = self.model_dump(exclude={"repetitions"})
        return Point(section, seconds=seconds, **given)


class Calibration(Part):
    """`[calibration]`: the database's curve, at these numbers of connections, each kept busy."""

    connections: list[int] = Field(default=[1, 2, 4, 8, 16, 32], min_length=2)
    repetitions: int | None = Field(default=None, ge=1, le=50)


class Less(Part):
    """`quick` of a section: what --quick takes instead; what is absent stays."""

    workers: list[int] | None = None
    connections: list[int] | None = None
    clients: list[int] | None = None
    retry_s: list[float] | None = None
    middlewares: list[int] | None = None
    repetitions: int | None = Field(default=None, ge=1, le=50)


class Section(Part):
    """`[[section]]`: all combinations of its lists; a list that is absent is the reference's value. `together`: as many
    connections as workers. `vary`: which of them is the x axis of its figures."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,30}$")
    vary: str = Field(default="clients", pattern="^(workers|connections|clients|retry_s|middlewares)$")
    workers: list[int] | None = None
    connections: list[int] | None = None
    clients: list[int] | None = None
    retry_s: list[float] | None = None
    middlewares: list[int] | None = None
    together: bool = False
    quick: Less = Less()

    @model_validator(mode="after")
    def _sense(self) -> Section:
        for name, (least, most) in LIMITS.items():
            if not all(least <= n <= most for n in getattr(self, name) or ()):
                raise ValueError(f"{name} {getattr(self, name)}: give numbers from {least} to {most}")
        if not all(0 <= s <= 60 for s in self.retry_s or ()):
            raise ValueError(f"retry_s {self.retry_s}: give seconds from 0 to 60")
        if self.name in TAKEN:
            raise ValueError(f"name {self.name!r} is taken; choose another")
        if self.together and self.connections:
            raise ValueError("connections beside together: leave one of them out")
        return self

    def points(self, reference: Reference, seconds: float) -> list[Point]:
        """Each point once."""
        base = reference.point(self.name, seconds)
        names = ("workers", "connections", "clients", "retry_s", "middlewares")
        lists = [getattr(self, name) or [getattr(base, name)] for name in names]
        found: dict[str, Point] = {}
        for values in product(*lists):
            chosen: dict[str, Any] = dict(zip(names, values, strict=True))
            if self.together:
                chosen["connections"] = chosen["workers"]
            point = replace(base, **chosen)
            found[point.name] = point
        return list(found.values())


class Candidates(Part):
    """`[best]`: among which workers and connections a model looks for the best, for how many `clients` (absent: as the
    reference), who wait the reference's delay."""

    clients: int | None = Field(default=None, ge=1, le=4096)

    workers_most: int = Field(default=64, ge=1, le=256)
    connections_most: int = Field(default=64, ge=1, le=256)


class Quick(Part):
    """`[quick]`: what --quick changes everywhere."""

    seconds: float = Field(default=0.8, gt=0.2, le=600)
    warm_up_s: float = Field(default=0.3, ge=0.2, le=60)
    repetitions: int = Field(default=1, ge=1, le=50)
    tries: int = Field(default=2, ge=1, le=20)
    calibration: list[int] | None = None


class Study(Part):
    """The whole file."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    testbed: str = Field(pattern="^messages$")
    load: Load = Load()
    reference: Reference = Reference()
    calibration: Calibration = Calibration()
    section: list[Section] = []
    best: Candidates = Candidates()
    quick: Quick = Quick()


@dataclass(frozen=True)
class MessagesPlan:
    """A checked study: `parts` are the names of what is to be done."""

    study: Study
    parts: tuple[str, ...]
    quick: bool
    fingerprint: str

    def sections(self) -> list[Section]:
        return [s for s in self.study.section if s.name in self.parts]

    def first(self) -> list[Point]:
        """What is fitted: the reference and the calibration, in the order in which they are to be run."""
        s, load = self.study, self.study.load
        own = [s.reference.point(REFERENCE, load.seconds)]
        curve = [self.busy(c) for c in s.calibration.connections]
        again = s.reference.repetitions or load.repetitions, s.calibration.repetitions or load.repetitions
        found = shuffled(own, again[0], load.seed) + shuffled(curve, again[1], load.seed)
        return sorted(found, key=lambda point: point.repetition)  # side by side, not one before the other

    def busy(self, connections: int) -> Point:
        """A point of the calibration: more workers and clients than connections, and nobody waits to take again."""
        more = 2 * connections + 16
        seconds = self.study.load.seconds
        return Point(CALIBRATION, more, connections, more, 0.0, 1, seconds=seconds)

    def points(self, section: Section) -> list[Point]:
        """In the order in which they are to be run."""
        load = self.study.load
        repetitions = (section.quick.repetitions if self.quick else None) or load.repetitions
        return shuffled(section.points(self.study.reference, load.seconds), repetitions, load.seed)

    def best(self, workers: int, connections: int) -> list[Point]:
        """The configuration that a model holds for the best."""
        load = self.study.load
        base = replace(self.study.reference.point(BEST, load.seconds), middlewares=1, clients=self.best_clients)
        return shuffled([replace(base, workers=workers, connections=connections)], load.repetitions, load.seed)

    @property
    def best_clients(self) -> int:
        return self.study.best.clients or self.study.reference.clients


def read_messages_plan(
    path: Path, *, quick: bool = False, only: Sequence[str] = (), seed: int | None = None
) -> MessagesPlan:
    """Reads `path`, a study file or its folder; `only` names parts: reference, calibration, best, models, or sections.

    Raises:
        StudyError: unreadable, an unknown key or part, a wrong type or value; names it and the remedy.
    """
    file = study_file(path)
    study = checked(Study, read_data(file, seed), file)
    study = _quick(study) if quick else study
    known = (*FIRST, *(s.name for s in study.section), BEST, MODELS)
    return MessagesPlan(study, parts(only, known), quick, fingerprint(study, str(quick)))


def _quick(study: Study) -> Study:
    q = study.quick
    load = study.load.model_copy(update=q.model_dump(exclude={"calibration"}))
    sections = [lessened(section) for section in study.section]
    curve = study.calibration.model_copy(update={"connections": q.calibration or study.calibration.connections})
    return study.model_copy(update={"load": load, "section": sections, "calibration": curve})
