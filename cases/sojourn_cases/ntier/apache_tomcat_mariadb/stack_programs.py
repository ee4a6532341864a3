"""Where the programs of Apache, Tomcat and MariaDB are on this machine, and which packages have those that are not."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab import AbilityCheck

SYSTEM = "/usr/sbin:/sbin:/usr/local/sbin"
MODULES = Path("/usr/lib/apache2/modules")
TOMCATS = "usr/share/tomcat1[0-9]"  # from 10 on servlets are of the packages jakarta.*
DRIVER = Path("/usr/share/java/mariadb-java-client.jar")
ECLIPSE = Path("/usr/share/java/eclipse-jdt-core.jar")  # Tomcat's package brings it: it compiles JSP
ECLIPSE_MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
INSTALL = "apt-get install --no-install-recommends"
JAVA_VERSION = "17"


@dataclass(frozen=True)
class StackPrograms:
    """`apache` and its `modules`, `java`, `tomcat` (CATALINA_HOME), the JDBC `driver`, `compiler`: the beginning of its command, and three
    programs of MariaDB."""

    apache: Path
    modules: Path
    java: Path
    tomcat: Path
    driver: Path
    compiler: tuple[str, ...]
    mariadbd: Path
    install_db: Path
    client: Path


def _program(name: str) -> Path | None:
    found = shutil.which(name) or shutil.which(name, path=SYSTEM)
    return Path(found) if found else None


def _tomcat() -> Path | None:
    homes = sorted((home for home in Path("/").glob(TOMCATS) if (home / "bin/bootstrap.jar").exists()), reverse=True)
    return homes[0] if homes else None


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


# By the name of a field: how it is found, and the Debian package that has it.
PARTS: dict[str, tuple[Callable[[], Path | None], str]] = {
    "apache": (lambda: _program("apache2"), "apache2-bin"),
    "modules": (lambda: _there(MODULES), "apache2-bin"),
    "java": (lambda: _program("java"), "default-jre-headless"),
    "tomcat": (_tomcat, "tomcat10-common"),
    "driver": (lambda: _there(DRIVER), "libmariadb-java"),
    "mariadbd": (lambda: _program("mariadbd"), "mariadb-server-core"),
    "install_db": (lambda: _program("mariadb-install-db"), "mariadb-server-core"),
    "client": (lambda: _program("mariadb"), "mariadb-client-core"),
}
COMPILER_PACKAGE = "libeclipse-jdt-core-java"


def lacking_packages() -> list[str]:
    """Those of Debian that have what is not here; none of them starts a service."""
    packages = [package for find, package in PARTS.values() if find() is None]
    return list(dict.fromkeys([*packages, *([] if _program("javac") or _there(ECLIPSE) else [COMPILER_PACKAGE])]))


def stack_programs() -> StackPrograms:
    """All of them.

    Raises:
        LabError: one is not installed; the remedy is the command that installs what is lacking.
    """
    if packages := lacking_packages():
        raise LabError(
            f"{', '.join(packages)} not installed", 'stack = "apache-tomcat-mariadb"', f"{INSTALL} {' '.join(packages)}"
        )
    found = {name: find() for name, (find, _) in PARTS.items()}
    javac = _program("javac")
    compiler = (str(javac),) if javac else (str(found["java"]), "-cp", str(ECLIPSE), ECLIPSE_MAIN, "-proc:none")
    return StackPrograms(compiler=compiler, **{name: path for name, path in found.items() if path})


def stack_check() -> AbilityCheck:
    """For `sojourn doctor`: what is installed; nothing is started."""
    packages = lacking_packages()
    found = f"without {', '.join(packages)}" if packages else "installed"
    needed_for = "studies/ntier --stack apache-tomcat-mariadb only (an option)"
    return AbilityCheck("Apache, Tomcat, MariaDB", not packages, found, needed_for, f"{INSTALL} {' '.join(packages)}")


def mariadb_version(programs: StackPrograms) -> str:
    """`MariaDB 10.11.19-MariaDB-0+deb12u1`."""
    found = re.search(r"Ver (\S+)", said := _said([str(programs.mariadbd), "--no-defaults", "--version"]))
    return f"MariaDB {found[1]}" if found else said


def versions(programs: StackPrograms) -> dict[str, str]:
    """What a run's manifest has of them."""
    apache = _said([str(programs.apache), "-v"]).splitlines()[0].removeprefix("Server version: ")
    tomcat = _said([
        str(programs.java), "-cp", str(programs.tomcat / "lib/catalina.jar"), "org.apache.catalina.util.ServerInfo",
    ])  # fmt: skip
    lines = dict(line.split(":", 1) for line in tomcat.splitlines() if ":" in line)
    return {
        "apache": apache, "tomcat": lines.get("Server version", "").strip(), "java": lines.get("JVM Version", "").strip(),
        "mariadb": mariadb_version(programs),
    }  # fmt: skip


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL).stdout.strip()
