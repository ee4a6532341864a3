"""The key-value proxy as a service that lab starts and stops: in front of memcached servers, in a process of its own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from sojourn_cases.common.native_service import NativeService


class ProxyOptions(BaseModel):
    """What can be set of a proxy; times in s, sizes in bytes. docs/reference/kv-proxy.md says what each does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: str = "127.0.0.1:11212"
    servers: tuple[str, ...] = Field(min_length=1, max_length=64)
    design: str = Field(default="direct", pattern="^(staged|direct)$")
    workers: int = Field(default=64, ge=1, le=1024)
    batch: int = Field(default=16, ge=1, le=1024)
    threads: int = Field(default=1, ge=1, le=256)
    sharded: bool = False
    queue: int = Field(default=10_000, ge=1, le=10_000_000)
    connections: int = Field(default=1024, ge=1, le=1_000_000)
    value_bytes: int = Field(default=1 << 20, ge=1, le=1 << 30)
    key_bytes: int = Field(default=250, ge=1, le=250)
    memory_bytes: int = Field(default=256 << 20, ge=1 << 20)
    idle_s: float = Field(default=600.0, ge=0.01, le=1e6)
    timeout_s: float = Field(default=1.0, ge=0.001, le=3600)
    connect_timeout_s: float = Field(default=1.0, ge=0.001, le=3600)
    log: Path | None = None
    bins: Path | None = None
    period_s: float = Field(default=1.0, ge=0.01, le=3600)
    histogram: Path | None = None
    metrics: str | None = None


class KvProxy(NativeService):
    """A running proxy: where it listens, which process it is, how to stop it."""

    scheme = "memcached"

    def __init__(self, options: ProxyOptions, *, network: str | None = None, log: Path | int | None = None) -> None:
        """Starts it in the network namespace at the path `network`, complaints and events to `log`, and waits until it accepts.

        Raises:
            ServiceError: an address is taken, a server cannot be reached.
        """
        ready_s = 20.0 + options.connect_timeout_s * len(options.servers)
        super().__init__("kv-proxy", options, ready_s, network=network, log=log)
