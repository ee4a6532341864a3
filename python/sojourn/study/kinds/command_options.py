"""What a study file says of a program that it starts, and one start of it."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from sojourn.load.credentials import SECRET
from sojourn.study.kinds.study_resources import ResourceOptions
from sojourn.study.kinds.time_values import Seconds
from sojourn.study.system import Factor


class CommandOptions(BaseModel):
    """`[system]` of kind `command`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = "command"
    command: tuple[str, ...] = Field(min_length=1)
    url: str
    folder: str = "."
    environment: dict[str, str] = Field(default_factory=dict)
    ready: str | int | None = None
    ready_s: Seconds = Field(default=30.0, gt=0, le=3600)
    stop_signal: str = "TERM"
    grace_s: Seconds = Field(default=10.0, gt=0, le=600)
    cores: str | int | None = None
    cpuset: str | None = None
    output_bytes: int = Field(default=1_000_000, ge=1000, le=1_000_000_000)
    hosts: str = Field(default="loopback", pattern="^(loopback|namespaces|auto)$")
    factors: dict[str, Factor] = Field(default_factory=dict)
    resources: dict[str, ResourceOptions] = Field(default_factory=dict)

    @field_validator("stop_signal")
    @classmethod
    def _signal(cls, given: str) -> str:
        name = given.upper().removeprefix("SIG")
        if f"SIG{name}" not in signal.Signals.__members__:
            raise ValueError(f"no signal {given!r}; give one like TERM, INT or QUIT")
        return name

    def texts(self) -> dict[str, str]:
        """Place → text, of all that may have placeholders."""
        found = {f"[system] command[{k}]": text for k, text in enumerate(self.command)}
        found |= {f"[system.environment] {name}": text for name, text in self.environment.items()}
        for name in ("url", "ready", "cores", "cpuset", "folder"):
            if (text := getattr(self, name)) is not None:
                found[f"[system] {name}"] = str(text)
        return found

    def said(self) -> dict[str, Any]:
        """As a manifest has it: values of the environment that look like credentials are left out."""
        shown = {name: "hidden" if SECRET.search(name) else value for name, value in self.environment.items()}
        return {**self.model_dump(), "environment": shown}


@dataclass(frozen=True)
class StartCommand:
    """One start, with all factors in their places. `secrets` are never written."""

    argv: list[str]
    environment: dict[str, str]
    secrets: list[str]
    folder: Path
    url: str
    ready: dict[str, Any]
    cores: list[int] | None
