"""What a study file says of the bulletin board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.lab import LEAST_CORE_SHARE
from sojourn.study import Value

OWN_STACK, JAVA_STACK = "nginx-bulletin-postgresql", "apache-tomcat-mariadb"


class BulletinSystemOptions(BaseModel):
    """`[system]` of kind `bulletin`: with a database (`database`) or tables in memory; `stack`: the software of its tiers;
    `database_folder`: where the copies of the cluster lie; `database_settings`: of the database, by their names; `disk`: size of a slow
    disk in that folder, for the copies. `web_servers`, `application_servers`: how many a point may have; `hosts`: `namespaces`, each on a
    host of its own, which gets `host_cores` of a core."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["bulletin"] = "bulletin"
    database: bool = False
    stack: Literal["nginx-bulletin-postgresql", "apache-tomcat-mariadb"] = "nginx-bulletin-postgresql"
    scale: float = Field(default=0.02, ge=0.0001, le=10)
    data_seed: int = Field(default=1, ge=0)
    database_folder: str | None = None
    database_settings: dict[str, str] = Field(default_factory=dict)
    disk: str | None = None
    web_servers: int = Field(default=1, ge=1, le=16)
    application_servers: int = Field(default=16, ge=1, le=16)
    hosts: Literal["loopback", "namespaces"] = "loopback"
    host_cores: float | None = Field(default=None, ge=LEAST_CORE_SHARE, le=1024)

    @model_validator(mode="after")
    def _sense(self) -> BulletinSystemOptions:
        if self.host_cores is not None and self.hosts == "loopback":
            raise ValueError("host_cores needs hosts of their own: set hosts = 'namespaces', or leave host_cores out")
        if self.stack != OWN_STACK and (self.hosts != "loopback" or self.web_servers > 1):
            raise ValueError(f"hosts and web_servers are of stack = '{OWN_STACK}': leave them out")
        return self

    def server_settings(self, factors: Mapping[str, Value]) -> dict[str, str]:
        """Of PostgreSQL, at a point."""
        return {"synchronous_commit": "on" if factors["synchronous_commit"] else "off", **self.database_settings}
