"""The message service as a service that lab starts and stops: on a PostgreSQL database, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn_cases.common.native_service import NativeService


class MessagesOptions(BaseModel):
    """What can be set of a service; times in s, sizes in bytes. docs/reference/messages.md says what each does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: str = "127.0.0.1:7400"
    database: str = Field(min_length=1)
    design: Literal["event-driven", "threaded"] = "event-driven"
    workers: int = Field(default=20, ge=1, le=1024)
    connections: int = Field(default=20, ge=1, le=1024)
    queue: int = Field(default=10_000, ge=1, le=10_000_000)
    clients: int = Field(default=12_000, ge=1, le=1_000_000)
    message_bytes: int = Field(default=65_536, ge=1, le=1 << 26)
    idle_s: float = Field(default=600.0, ge=0.01, le=1e6)
    timeout_s: float = Field(default=5.0, ge=0.01, le=3600)
    durability: str = Field(default="full", pattern="^(full|off)$")
    redelivery_s: float | None = Field(default=None, ge=0.1, le=1e6)
    batch: bool = False
    token: str | None = None
    log: Path | None = None
    period_s: float = Field(default=0.1, ge=0.01, le=3600)
    metrics: str | None = None


class MessageService(NativeService):
    """A running service: where it listens, which process it is, how to stop it."""

    scheme = "messages"

    def __init__(
        self,
        options: MessagesOptions,
        *,
        network: str | None = None,
        log: Path | int | None = None,
        cgroup: str | None = None,
    ) -> None:
        """Starts it in the network namespace at the path `network` and the control group at `cgroup`, its log to
        `log`, and waits until it accepts.

        Raises:
            ServiceError: an address is taken, the database cannot be reached.
        """
        super().__init__("messages", options, 20.0 + options.timeout_s, network=network, log=log, cgroup=cgroup)

    def kill(self) -> None:
        """A crash: the process is killed at once."""
        self.worker.process.kill()
        self.worker.close()
