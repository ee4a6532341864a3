"""Apache httpd as a reverse proxy before Tomcat: its configuration, started on loopback and ended; its own account by mod_status."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from sojourn.errors import InputError, ServiceError
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import StackPrograms
from sojourn_cases.ntier.nginx import ADDRESS
from sojourn_cases.ntier.tier_process import Tier, TierProcess, give, said_at, write_private

PREFIX = "sojourn-apache-"
STARTED_S, ENDED_S, SETTLED_S = 10.0, 10.0, 2.0
MODULES = ("mpm_event", "authz_core", "proxy", "proxy_http", "status")
BALANCER = ("slotmem_shm", "proxy_balancer", "lbmethod_byrequests")
# One child with all threads: no child is started or ended in a run. A connection that is idle takes no thread (mpm_event), and stays open
# as long as the client wants, unless all threads are busy: then Apache closes it, and a request that is on its way there fails.
CONF = """ServerRoot "{folder}"
DefaultRuntimeDir "{folder}"
PidFile "{folder}/apache2.pid"
ServerName localhost
{modules}
Listen {listen}
Listen {status}
ListenBackLog 4096
ErrorLog "{folder}/log.txt"
LogLevel warn
ServerLimit 1
StartServers 1
ThreadLimit {threads}
ThreadsPerChild {threads}
MaxRequestWorkers {threads}
MinSpareThreads 1
MaxSpareThreads {threads}
AsyncRequestWorkerFactor 64
ThreadStackSize 262144
KeepAlive {keep_alive}
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
Timeout 60
ExtendedStatus On
DocumentRoot "{folder}"
<Directory />
    Require all denied
</Directory>
<VirtualHost {listen}>
    ProxyAddHeaders Off
    ProxyTimeout 60
{proxy}
</VirtualHost>
<VirtualHost {status}>
    <Location "/server-status">
        SetHandler server-status
        Require all granted
    </Location>
</VirtualHost>
"""


def configuration(
    folder: Path,
    modules: Path,
    listen: str,
    status: str,
    servers: Sequence[str],
    max_request_workers: int,
    keep_alive: bool,
) -> str:
    """`httpd.conf`: requests to `listen` are given to `servers`, to several in turn; addresses are HOST:PORT.

    Raises:
        InputError: an address that is none, no server, or a number out of range.
    """
    for address in (listen, status, *servers):
        if not ADDRESS.fullmatch(address):
            raise InputError(repr(address), "apache", "give HOST:PORT")
    if not servers or not 1 <= max_request_workers <= 20_000:
        raise InputError(
            f"{len(servers)} servers, max_request_workers = {max_request_workers}",
            "apache",
            "give a server, and 1 to 20000",
        )
    loaded = MODULES if len(servers) == 1 else MODULES + BALANCER
    lines = [f'LoadModule {name}_module "{modules}/mod_{name}.so"' for name in loaded]
    if len(servers) == 1:
        proxy = [f'ProxyPass "/" "http://{servers[0]}/" retry=0']
    else:
        members = [f'    BalancerMember "http://{server}" retry=0' for server in servers]
        proxy = ['<Proxy "balancer://application">', *members, "</Proxy>", 'ProxyPass "/" "balancer://application/"']
    return CONF.format(
        folder=folder, modules="\n".join(lines), listen=listen, status=status, threads=max_request_workers,
        keep_alive="On" if keep_alive else "Off",
        proxy="\n".join(f"    {line}" for line in proxy),
    )  # fmt: skip


class Apache(Tier):
    """A running Apache, and what it counted."""

    kind: ClassVar[str] = "apache"

    def __init__(
        self,
        programs: StackPrograms,
        listen: str,
        status: str,
        servers: Sequence[str],
        *,
        max_request_workers: int,
        keep_alive: bool = True,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
    ) -> None:
        """Starts it at `listen`, its account at `status`.

        Raises:
            InputError: see `configuration`. ServiceError: it does not start; the reason is its own.
        """
        super().__init__(listen, PREFIX)
        self._status = status
        self._asked = self._before = 0
        try:
            text = configuration(
                self._folder, programs.modules, listen, status, servers, max_request_workers, keep_alive
            )
            conf = self._folder / "httpd.conf"
            write_private(conf, text)
            write_private(self.log, "")
            give(self._folder)  # for its pid, and the memory that a balancer shares
            command = [str(programs.apache), "-f", str(conf), "-D", "FOREGROUND"]
            self._process = TierProcess(command, self.log, cores=cores, cgroup=cgroup)
            self._process.await_answer(
                self._accesses, (OSError, ServiceError), within_s=STARTED_S, every_s=0.02,
                place=f"apache at {self.address}", remedy="choose another port, or see what it says",
            )  # fmt: skip
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Requests count from here on."""
        self._before = self._settled()

    def _settled(self) -> int:
        """Requests since its start, once no more are added: one is counted after its answer is sent."""
        deadline, before, now = time.monotonic() + SETTLED_S, -1, self._accesses()
        while now != before and time.monotonic() < deadline:
            time.sleep(0.05)
            before, now = now, self._accesses()
        return now

    def _accesses(self) -> int:
        """Requests of clients since its start."""
        said = said_at(f"http://{self._status}/server-status?auto").decode(errors="replace")
        found = re.search(r"^Total Accesses: (\d+)", said, re.MULTILINE)
        if not found:
            raise ServiceError(repr(said[:80]), "apache, mod_status", "check that this Apache has that module")
        self._asked += 1
        return int(found[1]) - (self._asked - 1)  # the one that asks is counted when it is answered

    def stop(self) -> dict[str, Any]:
        """Ends it; what it counted."""
        requests = None
        with suppress(OSError, ServiceError):
            requests = self._settled() - self._before
        self._end(ENDED_S)
        return {"kind": self.kind, "requests": requests}
