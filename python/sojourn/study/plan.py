"""A study as its TOML file says it, checked: testbed, configurations, runs, fits and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.simulate.host import Host
from sojourn.study.file import checked, fingerprint, read_data, study_file
from sojourn.testbed import TESTBEDS, VirtualTestbed


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lab(Part):
    """`[lab]`: where the study runs."""

    kind: str = Field(default="auto", pattern="^(auto|namespaces|loopback|virtual)$")
    mtu_bytes: int = Field(default=1500, ge=576, le=9000)
    spinners: bool = True


class Load(Part):
    """`[load]`: what every run has in common."""

    seconds: float = Field(default=20.0, gt=1, le=600)
    connections: int = Field(default=64, ge=1, le=4096)
    seed: int = Field(default=1, ge=0)
    timeout_s: float = Field(default=10.0, gt=0, le=120)


class Configuration(Part):
    """`[[configuration]]`: cores of the service (0: all there are), NICs (0: one a core, at most 4), and what of
    `[service]` and `[demand]` is different here, e.g. service = { pinned = false }."""

    name: str = Field(min_length=1, max_length=60)
    cores: int = Field(default=0, ge=0, le=1024)
    nics: int = Field(default=1, ge=0, le=4)
    service: dict[str, Any] = {}
    demand: dict[str, Any] = {}


class Fit(Part):
    """`[fit]`: where the parameters come from. Rates are shares of the measured saturation rate. Configurations in
    `also` are fitted in the same way, each by itself; a prediction takes the fit with as many cores as it has."""

    configuration: str
    also: list[str] = []
    load_shares: list[float] = Field(min_length=3)
    replications: int = Field(default=1, ge=1, le=50)
    variants: list[str] = ["priority", "shared", "paper"]


class Predict(Part):
    """`[[predict]]`: a configuration nobody has run, then run. Rates are shares of its predicted saturation."""

    configuration: str
    load_shares: list[float] = Field(min_length=1)
    replications: int = Field(default=1, ge=1, le=50)


class Saturation(Part):
    """`[saturation]`: closed loop without think time; an open one would starve what interrupts preempt."""

    users: int = Field(default=32, ge=1, le=2000)
    seconds: float = Field(default=10.0, gt=1, le=600)


class Quick(Part):
    """`[quick]`: what --quick changes."""

    seconds: float = Field(default=8.0, gt=1, le=600)
    replications: int = Field(default=1, ge=1, le=50)
    saturation_seconds: float = Field(default=5.0, gt=1, le=600)


class Study(Part):
    """A whole study file."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    testbed: str
    lab: Lab = Lab()
    service: dict[str, Any] = {}
    demand: dict[str, Any] = {}
    load: Load = Load()
    configuration: list[Configuration] = Field(min_length=1)
    fit: Fit
    predict: list[Predict] = []
    saturation: Saturation = Saturation()
    quick: Quick = Quick()

    @model_validator(mode="after")
    def _names(self) -> Study:
        if self.testbed not in TESTBEDS:
            raise ValueError(f"testbed {self.testbed!r} is not one of {sorted(TESTBEDS)}")
        names = [c.name for c in self.configuration]
        parts: list[Fit | Predict] = [self.fit, *self.predict]
        for name in self.fit.also:
            if name not in names:
                raise ValueError(f"fit.also: {name!r} is not one of {names}")
        if (self.lab.kind == "virtual") != (self.testbed == "virtual"):
            raise ValueError(f"testbed {self.testbed!r} with lab.kind {self.lab.kind!r}: 'virtual' goes with 'virtual'")
        if self.testbed == "virtual" and not all(c.cores and c.nics for c in self.configuration):
            raise ValueError("a virtual host has no cores of its own: give each configuration cores and nics")
        for part in parts:
            if part.configuration not in names:
                raise ValueError(f"configuration {part.configuration!r} is not one of {names}")
            if not all(0 < share < 1 for share in part.load_shares):
                raise ValueError(f"load_shares {part.load_shares}: give shares of saturation between 0 and 1")
        return self


@dataclass(frozen=True)
class Plan:
    """A checked study, the parts its testbed checks (options by configuration), and a fingerprint of all that decides the runs."""

    study: Study
    options: dict[str, Any]
    demand: Any
    fingerprint: str

    def configuration(self, name: str) -> Configuration:
        return next(c for c in self.study.configuration if c.name == name)

    def demand_of(self, configuration: Configuration) -> Any:
        """The demand, with what is different in this configuration."""
        return self.demand.model_copy(update=configuration.demand)

    def host(self, configuration: Configuration) -> Host:
        """The virtual host of a configuration; only where the testbed is `virtual`."""
        options, demand = self.options[configuration.name], self.demand_of(configuration)
        return VirtualTestbed.host(configuration.cores, configuration.nics, options, demand)


def read_plan(path: Path, *, quick: bool = False, seed: int | None = None) -> Plan:
    """Reads `path`, a study file or a folder that holds `study.toml`.

    Raises:
        StudyError: no such file, no TOML, an unknown key, a wrong type or value; names the key and the remedy.
    """
    file = study_file(path)
    data = read_data(file, seed)
    study = checked(Study, data, file)
    study = _quick(study) if quick else study
    bed = TESTBEDS[study.testbed]
    options = {
        c.name: checked(bed.options_type, {**study.service, **c.service}, file, "service.") for c in study.configuration
    }
    demand = checked(bed.demand_type, study.demand, file, "demand.")
    for c in study.configuration:
        checked(bed.demand_type, {**study.demand, **c.demand}, file, f"{c.name}: demand.")
    return Plan(study, options, demand, fingerprint(study))


def _quick(study: Study) -> Study:
    quick = study.quick
    return study.model_copy(
        update={
            "load": study.load.model_copy(update={"seconds": quick.seconds}),
            "fit": study.fit.model_copy(update={"replications": quick.replications}),
            "predict": [p.model_copy(update={"replications": quick.replications}) for p in study.predict],
            "saturation": study.saturation.model_copy(update={"seconds": quick.saturation_seconds}),
        }
    )
