"""A private PostgreSQL cluster as a server that lab starts and stops: in a folder, on a Unix socket.

The socket lies in a folder of its own with a short path, which only the server's user (and root) can enter; so does the
data where that user cannot reach the folder that was asked for. Everything outside that folder is removed at the end,
and by the next start where a crash left it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, ServiceError
from sojourn.lab import children, in_group, send
from sojourn_cases.common.postgres_folders import remove_stale, short_place, user_of
from sojourn_cases.common.postgres_processes import (
    drop_shared_memory,
    end_all,
    end_left,
    name_of,
    orphaned,
    shared_memory,
    working_in,
)
from sojourn_cases.common.postgres_programs import as_user, programs, reaches, runs_as, version
from sojourn_cases.common.postgres_protocol import PostgresSession, Row

USER = DATABASE = "sojourn"
SOCKET_PORT = 5432  # part of the socket's name; nothing listens on TCP unless a port is given
STARTED_S = 60.0  # recovery after a crash included
ENDED_S = 15.0  # a fast shutdown writes what is dirty; what it has not written by then is in its log
ANSWERED_S = 1.0
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres:
    """A running cluster: where, which processes, how to stop, crash, pause and restart it."""

    kind = "postgres"

    def __init__(
        self,
        folder: Path | str,
        *,
        durable: bool = True,
        cores: Iterable[int] | None = None,
        port: int | None = None,
        network: str | None = None,
        cgroup: str | None = None,
        connections: int = 200,
        settings: dict[str, str] | None = None,
        keep: bool = False,
    ) -> None:
        """Makes the cluster in `folder` if there is none, and starts it.

        It ends with the process that started it, and with the thread: start it from one that lives as long.

        Args:
            durable: a commit waits until the disk has it. Without, the whole cluster may be lost with the machine.
            cores: that its processes may use. port: also listens at 127.0.0.1:port, with a password (`tcp_url`).
            network, cgroup: paths of a network namespace and a control group for its processes.
            connections: most sessions at a time. settings: further ones of PostgreSQL, by name.
            keep: the data must outlive it: a folder that its user cannot enter is refused. Without, it then lies elsewhere
                and is removed at the end.

        Raises:
            LabError: PostgreSQL is not installed. InputError: `keep`, and the folder cannot be entered.
            ServiceError: it does not start; the reason is its own.
        """
        self._user = runs_as()
        self._uid = self._user.pw_uid if self._user else os.geteuid()
        self._programs = programs(self._user)
        self._cores, self._network, self._cgroup, self.port = list(cores or []), network, cgroup, port
        self._process: subprocess.Popen[bytes] | None = None
        self._segments: set[Path] = set()
        remove_stale()
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        reached = reaches(self._user, self.folder)
        if keep and self._user and not reached:
            remedy = "let all users enter the folders above it (chmod o+x), or use a folder below /var/lib or /srv"
            said = f"user {self._user.pw_name}, which runs PostgreSQL, cannot enter it"
            raise InputError(said, str(folder), remedy)
        self.place = short_place(self._user)
        self.log = self.folder / "postgres.log"
        self.data = (self.folder if reached else self.place) / "data"
        self._settings = {
            "listen_addresses": "127.0.0.1" if port else "",
            "port": str(port or SOCKET_PORT),
            "unix_socket_directories": str(self.place),
            "max_connections": str(connections),
            "logging_collector": "off",
            **({} if durable else NOT_DURABLE),
            **(settings or {}),
        }
        began_s = time.time() - 1.0
        try:
            if not (self.data / "PG_VERSION").exists():
                self._make(durable)
            self.start()
        except BaseException:
            end_left(self.data)  # what initdb started outlives it, and would write into what is being removed
            self._segments |= orphaned(began_s, self._uid)
            self.close()
            raise

    def _make(self, durable: bool) -> None:
        self.data.mkdir(mode=0o700, exist_ok=True)
        secret = self._secret
        secret.touch(mode=0o600)
        secret.write_text(secrets.token_hex(16))
        for owned in (self.data, secret):
            if self._user:
                os.chown(owned, self._user.pw_uid, self._user.pw_gid)
        command = [
            *as_user(self._user), str(self._programs / "initdb"), "-D", str(self.data), f"--username={USER}",
            "--encoding=UTF8", "--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}",
            *([] if durable else ["--no-sync"]),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=_environment())
        if done.returncode:
            raise ServiceError(done.stderr.strip()[-500:] or done.returncode, "initdb", f"see {self.folder}")

    def start(self) -> None:
        """Starts it again after `kill` or a crash, on the same data and socket.

        Raises:
            ServiceError: another process has a server on the data; it does not start: the reason is its own.
        """
        self._clear()
        # It ends with this process, however that ends. By SIGQUIT: one that recovers from a crash of a child and then gets
        # SIGINT waits for ever for its checkpointer, which it does not tell (seen with 15.18).
        arguments = [*as_user(self._user), "--pdeathsig=QUIT", str(self._programs / "postgres"), "-D", str(self.data)]
        for name, value in self._settings.items():
            arguments += ["-c", f"{name}={value}"]
        if self._cores:
            arguments = ["taskset", "--cpu-list", ",".join(map(str, self._cores)), *arguments]
        if self._network:
            arguments = ["nsenter", f"--net={self._network}", *arguments]
        if self._cgroup:
            arguments = in_group(self._cgroup, arguments)
        with open(self.log, "ab") as log:
            log_began = log.tell()
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
                env=_environment(),
            )  # fmt: skip
        self._await(log_began)

    def _clear(self) -> None:
        """Ends what an earlier server left on the data: one whose starter is gone, or the children of one that was killed."""
        if not working_in(self.data):
            return
        if user := user_of(self.data, self.place):
            raise ServiceError(f"process {user} runs a server there", str(self.data), "stop it, or use another folder")
        end_left(self.data)

    def _await(self, log_began: int) -> None:
        """Waits until it takes sessions, and makes the database where it is missing."""
        assert self._process is not None
        deadline, began_s = time.monotonic() + STARTED_S, time.time() - 1.0
        said: object = "it does not answer"
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                self._segments |= shared_memory([self.pid])  # or nobody knows them where it is killed from outside
                if not self.run(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'", database="postgres"):
                    self.run(f"CREATE DATABASE {DATABASE}", database="postgres")
                self._segments |= shared_memory([self.pid])
                return
            except (OSError, ServiceError) as error:
                said = error
                time.sleep(0.02)
        reason = self.log.read_bytes()[log_began:].decode(errors="replace").strip()[-500:] or said
        self._kill()
        self._segments |= orphaned(began_s, self._uid)
        raise ServiceError(reason, "postgres", f"see {self.log}")

    def run(self, sql: str, *, database: str = DATABASE) -> list[Row]:
        """The rows of `sql`, as text, over a session of its own.

        Raises:
            ServiceError: the server refuses. OSError: it is away.
        """
        with PostgresSession(self.socket, user=USER, database=database) as session:
            return session.run(sql)

    @property
    def socket(self) -> str:
        return f"{self.place}/.s.PGSQL.{self._settings['port']}"

    @property
    def url(self) -> str:
        """For libpq and everything like it: the Unix socket, without a password."""
        return f"postgresql:///{DATABASE}?host={self.place}&port={self._settings['port']}&user={USER}"

    @property
    def tcp_url(self) -> str:
        """The same over TCP, with the password; only with a port."""
        return f"postgresql://{USER}:{self._secret.read_text()}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def _secret(self) -> Path:
        return self.data.with_name("password")

    @property
    def pid(self) -> int:
        """Of the server's first process."""
        assert self._process is not None
        return self._process.pid

    @property
    def pids(self) -> dict[str, int]:
        """All its processes at this moment, by what they do."""
        return {"postgres" if pid == self.pid else name_of(pid): pid for pid in self._all()}

    def _all(self) -> list[int]:
        if self._process is None or self._process.poll() is not None:
            return []
        return [self._process.pid, *children(self._process.pid)]

    def pause(self) -> None:
        """Stops all its processes where they are: the first one first, so that no new ones come."""
        send(self._all()[:1], signal.SIGSTOP)
        send(self._all()[1:], signal.SIGSTOP)

    def resume(self) -> None:
        """Lets all its processes go on."""
        send(self._all(), signal.SIGCONT)

    def kill(self) -> None:
        """A crash: all its processes are killed at once. What was committed must be there after `restart`."""
        self._kill()

    def _kill(self) -> None:
        if self._process is None:
            return
        self._segments |= shared_memory(self._all())
        end_all(self._process)

    def restart(self) -> None:
        """Stops it in good order if it runs, and starts it again."""
        self._shut_down()
        self.start()

    @property
    def ended(self) -> bool:
        """Whether its first process is gone, by `kill` or by itself."""
        return self._process is None or self._process.poll() is not None

    @property
    def return_code(self) -> int | None:
        """Of its first process; None while that runs."""
        return self._process.poll() if self._process else None

    def _shut_down(self) -> None:
        """A fast shutdown: sessions are ended, what is committed is on disk. One that recovers is ended at once (`start`)."""
        if self._process is None or self.ended:
            return
        self.resume()
        ways = (signal.SIGINT, signal.SIGQUIT) if self._answers() else (signal.SIGQUIT,)
        for way in ways:
            self._process.send_signal(way)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDED_S)
                break
        self._kill()

    def _answers(self) -> bool:
        with (
            suppress(OSError, ServiceError),
            PostgresSession(self.socket, user=USER, database="postgres", timeout_s=ANSWERED_S) as session,
        ):
            return bool(session.run("SELECT 1"))
        return False

    def stop(self) -> dict[str, Any]:
        """Ends it in good order; says what it was. The data stays where it lies in `folder`."""
        self._shut_down()
        self.close()
        return {"kind": self.kind, "version": version(self._programs)}

    def close(self) -> None:
        """Makes sure that nothing of it is left but what is in `folder`."""
        self._kill()
        drop_shared_memory(self.data, self._segments)
        shutil.rmtree(self.place, ignore_errors=True)


def _environment() -> dict[str, str]:
    """Messages in English, and nothing of a PG… that a user has set for other servers."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}
