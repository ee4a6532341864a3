"""Tomcat with the bulletin board's servlet: compiled once, its configuration, started on loopback and ended; the servlet's own account."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

from sojourn.errors import ServiceError
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import JAVA_VERSION, StackPrograms
from sojourn_cases.ntier.tier_process import Tier, TierProcess, give, said_at, write_private

PREFIX = "sojourn-tomcat-"
STARTED_S, ENDED_S = 60.0, 10.0
HERE = Path(__file__).parent
SOURCES = HERE / "board"
STATEMENTS = HERE / "statements.sql"
# Serial collections: the same on one core and on two, where the machine would else choose by their number. The first compiler alone
# (C1): with the second one, the CPU time of a page still falls after 14 000 requests (docs/decisions/0051).
JVM = (
    "-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.awt.headless=true",
    "-Duser.timezone=UTC",
    "--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.rmi/sun.rmi.transport=ALL-UNNAMED",
)  # fmt: skip
SERVER_XML = """<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="board">
    <Connector protocol="org.apache.coyote.http11.Http11NioProtocol" address={host} port={port} maxThreads={max_threads}
               minSpareThreads={max_threads} acceptCount="4096" maxConnections="20000" maxKeepAliveRequests="-1" keepAliveTimeout="-1"
               connectionTimeout="60000" tcpNoDelay="true" />
    <Engine name="board" defaultHost="localhost">
      <Host name="localhost" appBase="apps" autoDeploy="false" deployOnStartup="false">
        <Context path="" docBase={application} clearReferencesRmiTargets="false" clearReferencesThreadLocals="false">
          <JarScanner scanClassPath="false" scanManifest="false" />
          <Resource name="jdbc/board" auth="Container" type="javax.sql.DataSource" driverClassName="org.mariadb.jdbc.Driver"
                    url={url} username={user} password={password} initialSize={max_total} maxTotal={max_total} maxIdle={max_total}
                    minIdle={max_total} maxWaitMillis={wait_ms} testOnBorrow="false" />
        </Context>
      </Host>
    </Engine>
  </Service>
</Server>
"""
WEB_XML = """<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <servlet>
    <servlet-name>board</servlet-name>
    <servlet-class>board.BoardServlet</servlet-class>
    <init-param><param-name>page_work_s</param-name><param-value>{page_work_s!r}</param-value></init-param>
    <init-param><param-name>seed</param-name><param-value>{seed:d}</param-value></init-param>
    <load-on-startup>1</load-on-startup>
  </servlet>
  <servlet-mapping><servlet-name>board</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
</web-app>
"""


@dataclass(frozen=True)
class TomcatOptions:
    """`max_threads`: Tomcat's maxThreads. `max_connections`: sessions with the database, maxTotal of its pool; who waits for one longer
    than `timeout_s` gets status 503, and so does who waits for a statement so long. `page_work_s`: CPU time of a page beside its making."""

    database_port: int
    database_user: str
    database_password: str
    max_threads: int
    max_connections: int
    page_work_s: float
    seed: int
    timeout_s: float = 5.0

    @property
    def jdbc_url(self) -> str:
        """Prepared by the server, and kept by each session."""
        wait = f"socketTimeout={self.timeout_s * 1e3:.0f}&connectTimeout={self.timeout_s * 1e3:.0f}"
        return f"jdbc:mariadb://127.0.0.1:{self.database_port}/sojourn?useServerPrepStmts=true&{wait}"


def server_xml(options: TomcatOptions, application: Path, host: str, port: int) -> str:
    """`conf/server.xml`: one connector on loopback, the application, and its pool of sessions."""
    numbers = {
        "port": port, "max_threads": options.max_threads, "max_total": options.max_connections,
        "wait_ms": round(options.timeout_s * 1e3), "host": host, "application": application, "url": options.jdbc_url,
        "user": options.database_user, "password": options.database_password,
    }  # fmt: skip
    return SERVER_XML.format(**{name: quoteattr(str(value)) for name, value in numbers.items()})


def web_xml(options: TomcatOptions) -> str:
    """`WEB-INF/web.xml`: the servlet answers every path."""
    return WEB_XML.format(page_work_s=options.page_work_s, seed=options.seed)


def compiled_servlet(programs: StackPrograms, folder: Path) -> Path:
    """The servlet's classes and statements in `folder`/classes, which the tiers' user can read.

    Raises:
        ServiceError: it does not compile; the reason is the compiler's.
    """
    classes = folder / "classes"
    sources = sorted(map(str, SOURCES.glob("*.java")))
    command = [
        *programs.compiler, "-nowarn", "-source", JAVA_VERSION, "-target", JAVA_VERSION, "-d", str(classes),
        "-cp", str(programs.tomcat / "lib/servlet-api.jar"), *sources,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ServiceError(
            (done.stderr or done.stdout).strip()[-500:], "javac", f"install a JDK of version {JAVA_VERSION} or later"
        )
    shutil.copyfile(STATEMENTS, classes / "board" / STATEMENTS.name)
    for path in (classes, *classes.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return classes


class Tomcat(Tier):
    """A running Tomcat, and what the servlet counted."""

    kind: ClassVar[str] = "tomcat"

    def __init__(
        self,
        programs: StackPrograms,
        classes: Path,
        options: TomcatOptions,
        host: str,
        port: int,
        *,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
    ) -> None:
        """Starts it at `host`:`port`, and waits until the servlet answers.

        Raises:
            ServiceError: it does not start; the reason is its own.
        """
        super().__init__(f"{host}:{port}", PREFIX)
        self._before: dict[str, Any] = {}
        try:
            self._laid_out(programs, classes, options, host, port)
            jars = [programs.tomcat / "bin/bootstrap.jar", programs.tomcat / "bin/tomcat-juli.jar"]
            command = [
                str(programs.java), *JVM, f"-Dcatalina.home={programs.tomcat}", f"-Dcatalina.base={self._folder}",
                f"-Djava.io.tmpdir={self._folder}/temp", "-cp", ":".join(map(str, jars)),
                "org.apache.catalina.startup.Bootstrap", "start",
            ]  # fmt: skip
            self._process = TierProcess(command, self.log, cores=cores, cgroup=cgroup)
            self._process.await_answer(
                self.counted, (OSError, ValueError, ServiceError), within_s=STARTED_S, every_s=0.05,
                place=f"tomcat at {self.address}", remedy="see what it says",
            )  # fmt: skip
        except BaseException:
            self.close()
            raise

    def _laid_out(self, programs: StackPrograms, classes: Path, options: TomcatOptions, host: str, port: int) -> None:
        """CATALINA_BASE, with the application's classes and the driver beside them."""
        application = self._folder / "board"
        for part in ("conf", "lib", "temp", "work", "logs", "apps", "board/WEB-INF"):
            (self._folder / part).mkdir(parents=True)
            give(self._folder / part)
        write_private(self._folder / "conf/server.xml", server_xml(options, application, host, port))
        write_private(application / "WEB-INF/web.xml", web_xml(options))
        shutil.copytree(classes, application / "WEB-INF/classes")
        (self._folder / "lib" / programs.driver.name).symlink_to(programs.driver)
        write_private(self.log, "")

    def counted(self, path: str = "counts") -> dict[str, Any]:
        """What the servlet did since its start.

        Raises:
            OSError, ServiceError, ValueError: it is gone, has not begun, or what answers there is not it.
        """
        found: dict[str, Any] = json.loads(said_at(f"http://{self.address}/{path}"))
        return found

    def begin(self) -> None:
        """Interactions count from here on, and take `page_work_s`."""
        self._before = self.counted("begin")

    def stop(self) -> dict[str, Any]:
        """Ends it after the answers that are under way; what the servlet did. Nothing where it was gone."""
        found: dict[str, Any] = {}
        with suppress(OSError, ValueError, ServiceError):
            found = {"kind": self.kind, **since(self.counted(), self._before)}
        self._end(ENDED_S)
        return found


def since(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """What was counted between two accounts; a speed as it is."""
    found: dict[str, Any] = {}
    for name, value in now.items():
        earlier = before.get(name, {} if isinstance(value, dict) else 0)
        if isinstance(value, dict):
            parts = since(value, earlier)
            found[name] = {key: count for key, count in parts.items() if count}
        else:
            found[name] = value - earlier if isinstance(value, int) else value
    return found
