"""What a study file says of the bulletin board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.study import Value

OWN_STACK, JAVA_STACK = "nginx-bulletin-postgresql", "apache-tomcat-mariadb"


class BulletinSystemOptions(BaseModel):
    """`[system]` of kind `bulletin`: with a database (`database`) or tables in memory; `stack`: the software of its tiers;
    `database_folder`: where the copies of the cluster lie; `database_settings`: of the database, by their names; `disk`: size of a slow
    disk in that folder, for the copies."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["bulletin"] = "bulletin"
    database: bool = False
    stack: Literal["nginx-bulletin-postgresql", "apache-tomcat-mariadb"] = "nginx-bulletin-postgresql"
    scale: float = Field(default=0.02, ge=0.0001, le=10)
    data_seed: int = Field(default=1, ge=0)
    database_folder: str | None = None
    database_settings: dict[str, str] = Field(default_factory=dict)
    disk: str | None = None

    def server_settings(self, factors: Mapping[str, Value]) -> dict[str, str]:
        """Of PostgreSQL, at a point."""
        return {"synchronous_commit": "on" if factors["synchronous_commit"] else "off", **self.database_settings}
