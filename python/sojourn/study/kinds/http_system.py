"""The HTTP load on a system: what `[load]` of a study file says, and the generator's configuration at a point."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from sojourn.errors import InputError
from sojourn.lab.backends import Environment, environment
from sojourn.load.http_load import HttpOptions
from sojourn.load.http_request import read_requests
from sojourn.load.load_options import MOST_SLACK_S
from sojourn.study.kinds.placeholders import check_both_ways
from sojourn.study.kinds.time_values import Seconds
from sojourn.study.system import Factor, System, Value, all_factors, checked_names

LEVELS = ("rate_per_s", "users")


class LevelLoad(BaseModel):
    """`[load]` of every kind: each run's length, its level (`rate_per_s` or `users`, here or varied), and the seed."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=10.0, alias="for", gt=0, le=3600)
    rate_per_s: float | None = Field(default=None, gt=0, le=1e7)
    users: int | None = Field(default=None, ge=1)
    think_s: Seconds = Field(default=0.0, alias="think", ge=0, le=3600)
    timeout_s: Seconds = Field(default=10.0, alias="timeout", gt=0, le=120)
    every_s: Seconds = Field(default=0.1, alias="every", ge=0.01, le=10)
    seed: int = Field(default=1, ge=0)

    def factors(self) -> dict[str, Factor]:
        """The levels, and what the file says of them where it does; think time too, which is a level of closed loops."""
        return {
            "rate_per_s": Factor(default=float(self.rate_per_s or 0.0), low=0.0, high=1e7),
            "users": Factor(default=int(self.users or 0), low=0, high=1e6),
            "think_s": Factor(default=self.think_s, low=0.0, high=3600.0),
        }

    def settled(self, factors: Mapping[str, Factor], given: Mapping[str, Any], place: str) -> dict[str, Value]:
        """All `factors` at a point, with one level: that which is given, or that of `[load]`.

        Raises:
            InputError: no such factor, a value that it cannot have, both or neither of rate and users.
        """
        found = all_factors(factors, given, place)
        levels = [name for name in LEVELS if name in given] or [name for name in LEVELS if found[name]]
        if len(levels) != 1 or not found[levels[0]]:
            said = " and ".join(f"{name} = {found[name]}" for name in LEVELS)
            raise InputError(said, place, "give one of rate_per_s and users, above 0, in [load] or under vary")
        closed = levels == ["users"]
        dropped = {"users", "think_s"} if not closed else {"rate_per_s"}
        return {name: value for name, value in found.items() if name not in dropped}


class HttpLoad(LevelLoad):
    """`[load]` of a URL: also how requests are made, as `HttpOptions` has it; a test compares the two."""

    arrivals: str = Field(default="poisson", pattern="^(poisson|stratified|constant)$")
    connections: int = Field(default=64, ge=1, le=4096)
    method: str = "GET"
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    template: bool = False
    requests: str | None = None
    status: tuple[int, ...] = (200,)
    bearer_env: str | None = None
    basic_env: str | None = None
    ca: str | None = None
    insecure: bool = False
    unix_socket: str | None = None
    slack_s: float = Field(default=0.0, ge=0, le=MOST_SLACK_S)

    @field_validator("status", mode="before")
    @classmethod
    def _listed(cls, given: Any) -> Any:
        return (given,) if isinstance(given, int) else given

    def generator(
        self, url: str, factors: Mapping[str, Any], seed: int, folder: Path, cpu: int | None = None
    ) -> dict[str, Any]:
        """The generator's configuration at a point; files are relative to `folder`; the client's thread is on core `cpu`.

        Raises:
            InputError: values that make no sense, a file that is not there.
        """
        given = {one.name: getattr(self, one.name) for one in fields(HttpOptions) if one.name in HttpLoad.model_fields}
        level = {name: factors.get(name) for name in LEVELS} | {"think_s": factors.get("think_s", 0.0)}
        text = self.body
        at_this_point = {
            **level,
            "seed": seed,
            "headers": [*self.headers.items()],
            "body": f"@{folder / text[1:]}" if text is not None and text.startswith("@") else text,
            "requests": read_requests(folder / self.requests) if self.requests else None,
            "ca": folder / self.ca if self.ca else None,
        }
        config = HttpOptions(**given | at_this_point).config([url])
        config["lanes"][0]["cpu"] = cpu
        return config


class HttpSystem(System):
    """What systems under an HTTP load have in common."""

    load_type: ClassVar[type[BaseModel]] = HttpLoad
    alone: ClassVar[bool] = True

    def __init__(self, own: Mapping[str, Factor], texts: Mapping[str, str], load: HttpLoad, base_folder: Path) -> None:
        """`own`: factors of `[system]`, each of which must stand in one of `texts` (place → text with `{name}`)."""
        checked_names(own, "[system.factors]")
        check_both_ways(texts, own, "[system.factors]")
        self.own, self.load, self.base_folder = own, load, base_folder

    @property
    def factors(self) -> dict[str, Factor]:
        return {**self.own, **self.load.factors()}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        return self.load.settled(self.factors, given, place)

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")
