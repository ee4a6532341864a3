"""The bulletin board as a service that lab starts and stops: RUBBoS's interactions over HTTP, in a process of its own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from sojourn_cases.common.native_service import NativeService

# Rows of scale 1 are made within a minute on a slow core.
READY_S, READY_PER_SCALE_S = 20.0, 120.0


class BulletinOptions(BaseModel):
    """What can be set of a service; docs/reference/bulletin.md says what each does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: str = "127.0.0.1:5600"
    metrics: str | None = None
    workers: int = Field(default=4, ge=1, le=1024)
    page_work_s: float = Field(default=2e-3, ge=0, le=10)
    database: str | None = None
    pool: int = Field(default=16, ge=1, le=1024)
    timeout_s: float = Field(default=5.0, ge=0.01, le=3600)
    scale: float = Field(default=0.02, ge=0.0001, le=10)
    seed: int = Field(default=1, ge=0)
    clients: int = Field(default=50_000, ge=1, le=1_000_000)
    queue: int = Field(default=50_000, ge=1, le=10_000_000)
    idle_s: float = Field(default=600.0, ge=0.01, le=1e6)
    traces: str | None = None
    trace_share: float = Field(default=1.0, ge=1e-9, le=1)


class BulletinService(NativeService):
    """A running service: where it listens, which process it is, how to stop it."""

    scheme = "http"

    def __init__(
        self,
        options: BulletinOptions,
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
        ready_s = READY_S + READY_PER_SCALE_S * options.scale
        super().__init__("bulletin", options, ready_s, network=network, log=log, cgroup=cgroup)
