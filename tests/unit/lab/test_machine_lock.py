"""The lock of the machine, asked first, waited for and held."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from sojourn.cli.machine_option import ask_early, urls_of
from sojourn.errors import Busy, ServiceError
from sojourn.lab import cleanup_registry, machine_lock
from sojourn.lab.machine_lock import holding, only_one, waiting


def nothing(_line: str) -> None:
    """Nobody listens."""


@contextmanager
def another_measurement(until: Event) -> Iterator[None]:
    """Holds the lock until `until`, or this ends."""
    there = Event()

    def hold() -> None:
        with cleanup_registry.only_one("study web"):
            there.set()
            until.wait(30)

    thread = Thread(target=hold)
    thread.start()
    assert there.wait(30)
    try:
        yield
    finally:
        until.set()
        thread.join()


def test_it_is_waited_for_and_said_once() -> None:
    until, said = Event(), list[str]()

    def told(line: str) -> None:
        said.append(line)
        until.set()  # the other one ends as soon as somebody waits for it

    with another_measurement(until), waiting(60.0, told), only_one("measure"):
        pass
    (line,) = said
    assert f"another measurement is running (process {os.getpid()}, study web): waiting for it" in line


def test_what_does_not_end_in_time_is_an_error_that_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_lock, "LOOK_S", 0.01)
    with another_measurement(Event()):
        with pytest.raises(Busy, match="--wait 10m"), only_one("measure"):
            pass
        with pytest.raises(Busy), waiting(0.03, nothing), only_one("measure"):
            pass


def test_who_holds_it_measures_several_times_and_nobody_comes_between() -> None:
    with holding("capacity", 0.0, nothing):
        for _ in range(2):
            with only_one("measure"):
                pass
            with pytest.raises(Busy, match=r"\(process \d+, capacity\)"):
                machine_lock.ask("another")
    machine_lock.ask("another")


@pytest.fixture
def ports() -> Iterator[tuple[str, str]]:
    """An open one and a closed one, as URLs."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        other.close()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/a", f"http://127.0.0.1:{port}/a"


@pytest.mark.parametrize("verb", ["measure", "capacity", "compare --service-urls"])
def test_a_closed_port_is_said_before_the_lock_and_the_lock_before_all_else(ports: tuple[str, str], verb: str) -> None:
    there, gone = ports
    words = verb.split()
    with another_measurement(Event()):
        with pytest.raises(ServiceError, match="nothing listens at"):
            ask_early([*words, gone, there])
        with pytest.raises(Busy):
            ask_early([*words, there, "--objective", "nonsense"])
        ask_early([*words, there, "--wait", "10m"])
        for quiet in (["--help"], ["--from-runs", "runs"]):
            ask_early([*words, gone, *quiet])


def test_other_commands_are_not_asked(ports: tuple[str, str]) -> None:
    with another_measurement(Event()):
        for words in (["load", ports[1]], ["compare", "a", "b"], ["study", "web"], ["measure"], []):
            ask_early(words)


def test_a_url_in_an_option_is_no_service() -> None:
    words = [
        "http://a:1/",
        "--body",
        "http://b:2/",
        "--service-urls",
        "https://c/",
        "memcached://d:3",
        "ftp://e/",
        "runs",
    ]
    assert urls_of(words) == ["http://a:1/", "https://c/", "memcached://d:3"]
