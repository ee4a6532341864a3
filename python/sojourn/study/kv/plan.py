"""The key-value study as its TOML file says it, checked; its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.study.file import checked, fingerprint, lessened, parts, read_data, study_file, testbed_of
from sojourn.study.kv.place import Lab
from sojourn.study.kv.points import Point, shuffled

WORKLOAD = r"^(set|get|mixed|multi-[1-9][0-9]{0,2})$"
DESIGNS = ("none", "direct", "staged")
ALONE = ("document", "ping", "models")  # parts that are no sections with points


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Document(Part):
    """`[document]`: published tables to be read against their laws; `tables` is relative to the study file."""

    tables: str
    pattern: str = "*.csv"


class Load(Part):
    """`[load]`: what every run has in common."""

    seconds: float = Field(default=10.0, gt=0.2, le=600)
    warm_up_s: float = Field(default=1.0, ge=0.2, le=60)
    repetitions: int = Field(default=3, ge=1, le=50)
    seed: int = Field(default=1, ge=0)
    keys: int = Field(default=10_000, ge=10, le=10_000_000)
    value_bytes: int = Field(default=1024, ge=1, le=1 << 20)


class Less(Part):
    """`quick` of a section: what --quick takes instead; what is absent stays."""

    clients: list[int] | None = None
    workers: list[int] | None = None
    workload: list[str] | None = None
    design: list[str] | None = None
    repetitions: int | None = Field(default=None, ge=1, le=50)


class Section(Part):
    """`[[section]]`: all combinations of its lists. `clients` are connections of the closed loop over all targets."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,30}$")
    design: list[str] = ["staged", "direct"]
    servers: list[int] = [1]
    proxies: list[int] = [1]
    workers: list[int] = [64]
    workload: list[str] = ["get"]
    sharded: list[bool] = [False]
    clients: list[int] = Field(min_length=1)
    factors: list[str] = []
    quick: Less = Less()

    @model_validator(mode="after")
    def _sense(self) -> Section:
        import re

        for word in self.workload:
            if not re.match(WORKLOAD, word):
                raise ValueError(f"workload {word!r}: use set, get, mixed or multi-KEYS")
        if set(self.design) - set(DESIGNS):
            raise ValueError(f"design {self.design}: use {', '.join(DESIGNS)}")
        for name, least, most in (("servers", 1, 16), ("proxies", 1, 16), ("workers", 1, 1024), ("clients", 1, 4096)):
            if not all(least <= n <= most for n in getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)}: give numbers from {least} to {most}")
        if self.name in ALONE:
            raise ValueError(f"name {self.name!r} is taken; choose another")
        return self

    def points(self, seconds: float) -> list[Point]:
        """Without what a design does not have: `none` has no proxies, `direct` no workers; each point once."""
        found: dict[str, Point] = {}
        for d, s, p, w, load, split, n in product(
            self.design, self.servers, self.proxies, self.workers, self.workload, self.sharded, self.clients
        ):
            proxies, workers = (0, 0) if d == "none" else (p, 0 if d == "direct" else w)
            point = Point(self.name, d, s, proxies, workers, load, split, max(n, proxies or s), 1, seconds)
            found[point.name] = point
        return list(found.values())


class Quick(Part):
    """`[quick]`: what --quick changes everywhere."""

    seconds: float = Field(default=0.6, gt=0.2, le=600)
    warm_up_s: float = Field(default=0.3, ge=0.2, le=60)
    repetitions: int = Field(default=1, ge=1, le=50)


class Study(Part):
    """The whole file."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    testbed: str = Field(pattern="^kv$")
    document: Document | None = None
    lab: Lab = Lab()
    load: Load = Load()
    section: list[Section] = Field(min_length=1)
    quick: Quick = Quick()


@dataclass(frozen=True)
class KvPlan:
    """A checked study: `parts` are the names of what is to be done, `where` the folder of the file."""

    study: Study
    parts: tuple[str, ...]
    where: Path
    quick: bool
    fingerprint: str

    def sections(self) -> list[Section]:
        return [s for s in self.study.section if s.name in self.parts]

    def hosts(self) -> tuple[int, int]:
        """Most servers and most middlewares of any section that is to be run."""
        sections = self.sections()
        proxies = [max(s.proxies) for s in sections if set(s.design) != {"none"}]
        return max(max(s.servers) for s in sections), max(proxies, default=0)

    def points(self, section: Section) -> list[Point]:
        """In the order in which they are to be run."""
        load = self.study.load
        repetitions = (section.quick.repetitions if self.quick else None) or load.repetitions
        return shuffled(section.points(load.seconds), repetitions, load.seed)


def is_kv(path: Path) -> bool:
    """Whether the study at `path` is of this kind; False also for what cannot be read."""
    return testbed_of(path) == "kv"


def read_kv_plan(path: Path, *, quick: bool = False, only: Sequence[str] = (), seed: int | None = None) -> KvPlan:
    """Reads `path`, a study file or its folder; `only` names parts: document, ping, models, or sections.

    Raises:
        StudyError: unreadable, an unknown key or part, a wrong type or value; names it and the remedy.
    """
    file = study_file(path)
    study = checked(Study, read_data(file, seed), file)
    study = _quick(study) if quick else study
    known = (*ALONE, *(s.name for s in study.section))
    return KvPlan(study, parts(only, known), file.parent, quick, fingerprint(study, str(quick)))


def _quick(study: Study) -> Study:
    load = study.load.model_copy(update=study.quick.model_dump())
    sections = [lessened(section) for section in study.section]
    return study.model_copy(update={"load": load, "section": sections})
