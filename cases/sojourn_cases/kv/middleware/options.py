"""What a study file says of the memcached middleware."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.study import Seconds
from sojourn_cases.kv.middleware.hosts import HostOptions
from sojourn_cases.kv.middleware.run_table import USUAL_BYTES

MOST_BYTES = 1 << 14  # of a value where a point sets it; [load] may have larger ones


class KvOptions(HostOptions):
    """`[system]` of kind `kv`: how many servers are started, how many middlewares and client hosts there may be at most, and their
    hosts."""

    kind: Literal["kv"] = "kv"
    servers: int = Field(default=3, ge=1, le=16)
    proxies: int = Field(default=2, ge=1, le=16)
    client_hosts: int = Field(default=1, ge=1, le=16)


class KvLoad(BaseModel):
    """`[load]`: what every run has in common; `value_bytes` where a point does not set it. The keys are stored before the first
    run, and again where values get another size; every value read is compared."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=10.0, alias="for", gt=0.2, le=600)
    warm_up_s: Seconds = Field(default=1.0, alias="warm_up", ge=0.1, le=60)
    every_s: Seconds = Field(default=0.1, alias="every", ge=0.01, le=10)
    seed: int = Field(default=1, ge=0)
    keys: int = Field(default=10_000, ge=10, le=10_000_000)
    # memcached keeps items of 1 MiB at most, key and header among it
    value_bytes: int = Field(default=USUAL_BYTES, ge=1, le=1_000_000)
