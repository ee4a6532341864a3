"""What the file of a study may say: its tables, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator, model_validator

from sojourn.study.redacted_file import without_credentials
from sojourn.units import USUAL_LEVEL, levels

NAME = "^[A-Za-z0-9][A-Za-z0-9 _.-]{0,39}$"
MOST_DRAWN = 1000


class StrictTable(BaseModel):
    """A table without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class VariedFactors(StrictTable):
    """Factors that are `set`, and those that go through all combinations; `"50..350:50"` is a list, too."""

    fixed: dict[str, Any] = Field(default_factory=dict, alias="set")
    vary: dict[str, list[Any]] = Field(default_factory=dict)
    repetitions: int | None = Field(default=None, ge=1, le=50)

    @field_validator("vary", mode="before")
    @classmethod
    def _ranges(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: levels(v, f"vary.{name}") if isinstance(v, str) else v for name, v in given.items()}


class StudySection(VariedFactors):
    """`[[section]]` and `[[predict]]`. `follow`: factor → factor whose value it takes; `quick`: what `--quick` takes instead, key
    by key; `x`: the factor on the horizontal axis of its figures, of which there is one for each value of `by`, or for each
    combination of the values of several factors. `ranges`, as in `[draw]`: with each combination of `vary`, `sample` points of a Latin
    hypercube."""

    name: str = Field(pattern=NAME)
    follow: dict[str, str] = Field(default_factory=dict)
    sample: int | None = Field(default=None, ge=2, le=MOST_DRAWN)
    ranges: dict[str, Any] = Field(default_factory=dict)
    quick: VariedFactors = Field(default_factory=VariedFactors)
    x: str | None = None
    by: str | list[str] | None = None
    parts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _sampled_from_ranges(self) -> StudySection:
        if bool(self.ranges) != (self.sample is not None):
            raise ValueError("sample and ranges; give both or neither of them")
        return self

    @property
    def divided_by(self) -> list[str]:
        """`by`, as a list."""
        return [] if self.by is None else [self.by] if isinstance(self.by, str) else self.by

    def quicker(self) -> StudySection:
        """As `--quick` has it."""
        less = self.quick
        fixed = {name: v for name, v in self.fixed.items() if name not in less.vary} | less.fixed
        vary = {name: v for name, v in self.vary.items() if name not in less.fixed} | less.vary
        return self.model_copy(update={"fixed": fixed, "vary": vary, "repetitions": less.repetitions})


class FitSection(StrictTable):
    """`[fit]`: a model file with unknowns, several of them, `auto`, or a template by name with its `options`; from which
    sections, without the runs that are held out (factor → values); at which level predictions are. `against`: the same again, of a model
    that it is compared with, and not averaged with."""

    model: str | tuple[str, ...]
    against: str | tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    hold_out: dict[str, list[Any]] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    level: float = Field(default=USUAL_LEVEL, gt=0, lt=1)
    seed: int = Field(default=1, ge=0)


class SaturationSection(StrictTable):
    """`[saturation]`: the closed loop without think time that tells what a configuration does at most."""

    users: int = Field(default=16, ge=1, le=100_000)


class ChooseSection(VariedFactors):
    """`[choose]`: which combination of `vary` is the best by each model, with the factors that are `set`. Within `tolerance` of
    the best value the one with the smallest numbers is taken."""

    objective: str = Field(default="throughput", pattern="^(throughput|response_time)$")
    tolerance: float = Field(default=0.005, ge=0, lt=1)


class DrawSection(StrictTable):
    """`[draw]`: ranges from which `--random-configurations N` takes N configurations at random: a list of values, or `{ low, high }`,
    evenly in the logarithm; whole numbers where both ends are. `vary`: factors, predicted by the fit of the study, and run `repetitions`
    times, else once. `system`: options of `[system]`; each draw is then a whole study of such a system, with a fit of its own,
    whose runs have this length and these `repetitions`, else those of the study; `--quick` has its own."""

    fixed: dict[str, Any] = Field(default_factory=dict, alias="set")
    vary: dict[str, Any] = Field(default_factory=dict)
    repetitions: int | None = Field(default=None, ge=1, le=50)
    duration_s: str | float | None = Field(default=None, alias="for")
    system: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_them(self) -> DrawSection:
        if bool(self.vary) == bool(self.system):
            raise ValueError("vary and system; give either vary or system")
        if self.vary and self.duration_s is not None:
            raise ValueError("for beside vary; runs of vary are as long as [load] says")
        return self


class AnalysisSection(BaseModel):
    """`[[analysis]]`: a function by name, and its options; `parts`: as of sections."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str
    parts: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


class QuickOverrides(StrictTable):
    """`[quick]`: what `--quick` changes; `load`: keys of `[load]`; `leave_out`: sections, predictions, analyses or parts of them that
    it does only where `--only-parts` names them."""

    duration_s: str | float | None = Field(default=None, alias="for")
    repetitions: int = Field(default=1, ge=1, le=50)
    load: dict[str, Any] = Field(default_factory=dict)
    leave_out: tuple[str, ...] = ()


class StudyFile(StrictTable):
    """The file. `studies`: name → another study file beside it, of another system or load, which `--only-parts` takes by this name."""

    name: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,40}$")
    title: str = ""
    repetitions: int = Field(default=1, ge=1, le=50)
    topology_probe: bool = False
    system: dict[str, Any]
    load: dict[str, Any] = Field(default_factory=dict)
    saturation: SaturationSection = Field(default_factory=SaturationSection)
    section: list[StudySection] = Field(min_length=1)
    fit: FitSection | None = None
    choose: ChooseSection | None = None
    predict: list[StudySection] = Field(default_factory=list)
    draw: DrawSection | None = None
    analysis: list[AnalysisSection] = Field(default_factory=list)
    quick: QuickOverrides = Field(default_factory=QuickOverrides)
    studies: dict[str, str] = Field(default_factory=dict)

    @field_serializer("system", "load")
    def _without_credentials(self, table: dict[str, Any]) -> dict[str, Any]:
        return without_credentials(table)
