"""What a study file says of the memcached middleware, and what can be set from run to run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from sojourn.errors import InputError
from sojourn.runs import MeasuredResource
from sojourn.study import Factor, System, Value, all_factors
from sojourn_cases.kv.middleware.hosts import Hosts, open_hosts
from sojourn_cases.kv.middleware.kv_session import open_session
from sojourn_cases.kv.middleware.options import MOST_BYTES, KvLoad, KvOptions

WORKLOAD = re.compile(r"set|get|mixed|(multi|mixed)-[1-9][0-9]{0,2}")
NONE, DIRECT, STAGED = "none", "direct", "staged"
RESOURCES = ("client", "servers", "middleware")


class KvSystem(System):
    """memcached servers, with or without middlewares. The load is a closed loop without think time."""

    options_type: ClassVar[type[BaseModel]] = KvOptions
    load_type: ClassVar[type[BaseModel]] = KvLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: KvOptions, load: KvLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder

    @property
    def factors(self) -> dict[str, Factor]:
        """`design`: none (clients ask the servers), direct (event loops) or staged (net thread, queue, `workers` of each middleware);
        `workload`: set, get, mixed (half and half), multi-KEYS, a get of so many, or mixed-KEYS, a set for each of those; `sharded`: a
        get of several keys is split over the servers; `clients`: connections over all middlewares, or servers; `value_bytes`: of each
        value; `client_hosts`: hosts that the clients are dealt out to, where there may be several."""
        hosts = self.most_client_hosts
        return {
            "design": Factor(default=STAGED, values=(NONE, DIRECT, STAGED)),
            "servers": Factor(default=1, low=1, high=self.options.servers),
            "proxies": Factor(default=1, low=0, high=self.options.proxies),
            "workers": Factor(default=64, low=0, high=1024),
            "workload": Factor(default="get"),
            "sharded": Factor(default=False),
            "clients": Factor(default=1, low=1, high=4096),
            "value_bytes": Factor(default=self.value_bytes, low=1, high=max(MOST_BYTES, self.value_bytes)),
            **({"client_hosts": Factor(default=1, low=1, high=hosts)} if hosts > 1 else {}),
        }

    @property
    def most_client_hosts(self) -> int:
        """That there may be at a point; with one, it is no factor."""
        return self.options.client_hosts

    @property
    def value_bytes(self) -> int:
        """Where a point does not set it."""
        return self.load.value_bytes

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        """All factors, without what the design does not have: none has no middleware, only staged has workers. There is a
        client at least for each target, on each client host."""
        found = all_factors(self.factors, given, place)
        if not WORKLOAD.fullmatch(str(found["workload"])):
            raise InputError(
                f"workload = {found['workload']!r}",
                place,
                "use set, get, mixed, multi-KEYS or mixed-KEYS (multi-6: gets of 6 keys; mixed-6: a set for each)",
            )
        design = found["design"]
        if design == NONE:
            found |= {"proxies": 0, "sharded": False}
        elif not found["proxies"]:
            raise InputError("proxies = 0", place, 'give at least one, or design = "none"')
        if design != STAGED:
            found["workers"] = 0
        elif not found["workers"]:
            raise InputError("workers = 0", place, 'give at least one, or design = "direct"')
        targets = int(found["proxies"]) or int(found["servers"])
        found["clients"] = max(int(found["clients"]), targets * int(found.get("client_hosts", 1)))
        return found

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return dict.fromkeys(RESOURCES)

    def place(self) -> AbstractContextManager[Hosts]:
        """The hosts.

        Raises:
            PermissionLacking, LabError: they, a rate or a share cannot be had here.
        """
        return open_hosts(self.options, self.options.servers, self.options.proxies, self.options.client_hosts)

    def open(self, place: Hosts) -> AbstractContextManager[Any]:
        """Starts the servers; a run stores every key at each where values have another size than before.

        Raises:
            ServiceError: one does not start, or does not keep what is stored.
        """
        return open_session(self.options, self.load, place)
