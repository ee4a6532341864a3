"""What limits a service, where it is known: closed forms of queues, and runs of simulated services."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn as sj
from sojourn.diagnosis import LoadLevel, WatchedResource, diagnose_levels, queue_utilisation, summary
from sojourn.diagnosis.load_levels import diagnose, read_level
from sojourn.errors import InputError, RunFolderError
from sojourn.model.unknown_parameters import replaced
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run
from sojourn.table import Metrics


def mmm(rate: float, service_s: float, servers: int = 1, delay_s: float = 0.0) -> float:
    """Mean response time of M/M/m by Erlang's C formula, s."""
    offered, lost = rate * service_s, 1.0
    for k in range(1, servers + 1):
        lost = offered * lost / (k + offered * lost)
    return lost / (1 - offered / servers * (1 - lost)) * service_s / (servers - offered) + service_s + delay_s


def mg1(rate: float, service_s: float, scv: float) -> float:
    """Pollaczek and Khinchine, s."""
    load = rate * service_s
    return service_s + load * service_s * (1 + scv) / 2 / (1 - load)


def series(
    response: Callable[[float], float], *resources: WatchedResource, rates: tuple[float, ...] = (10, 25, 40, 55, 70, 77)
) -> list[LoadLevel]:
    """Levels of an open loop; `resources` are as busy at the last of them, and less before in proportion."""
    return [
        LoadLevel(r, r, response(r), sent_s=response(r), throughput_error=0.01, response_error=0.01,
              resources=tuple(replace(x, busy=x.busy * r / rates[-1]) for x in resources))
        for r in rates
    ]  # fmt: skip


QUEUES = {
    "M/M/1": lambda r: mmm(r, 0.01),
    "M/M/1 and a delay": lambda r: mmm(r, 0.01, 1, 0.02),
    "M/M/2": lambda r: mmm(r, 0.02, 2),
    "M/M/8": lambda r: mmm(r, 0.08, 8, 0.01),
    "M/D/1": lambda r: mg1(r, 0.01, 0.0),
    "M/G/1, c² = 5": lambda r: mg1(r, 0.01, 5.0),
}


@pytest.mark.parametrize("name", QUEUES)
def test_the_queue_says_how_full_it_is(name: str) -> None:
    """All are full at 100/s, so that at 85/s the share is 0.85."""
    rates = [10.0, 25.0, 40.0, 55.0, 70.0, 85.0]
    found = queue_utilisation(rates, [QUEUES[name](r) for r in rates], [0.01] * 6)
    assert found is not None and found[0] <= 0.85 <= found[1] and found[0] > 0.5


def test_a_flat_response_time_and_too_few_levels_say_nothing() -> None:
    assert queue_utilisation([1.0, 2.0, 3.0], [1.0, 1.1, 1.2]) is None
    low, high = queue_utilisation([1.0, 2.0, 3.0, 4.0, 5.0], [0.01] * 5) or (1.0, 0.0)
    assert low < 0.1 and high > 0.9


def test_a_lock_where_cores_are_less_busy_than_the_queue_is_full() -> None:
    """One server of 10 ms, full at 100/s, 77 % at 77/s; two cores at 51 %."""
    found = diagnose_levels(series(QUEUES["M/M/1"], WatchedResource("cores 0-1", "cores", 0.51)))
    assert found.kind == "unseen" and "a lock, a pool" in found.sentence and "cores 0-1 are 51 % busy" in found.sentence
    low, high = found.utilisation_by_waiting or (1.0, 0.0)
    assert low <= 0.77 <= high
    _, low, high = found.saturation_rate_per_s or (0.0, None, None)
    assert low is not None and high is not None and low <= 100 <= high
    assert "workers" in found.next_step


def test_cores_that_are_as_busy_as_the_queue_is_full() -> None:
    found = diagnose_levels(
        series(QUEUES["M/M/2"], WatchedResource("cores 0-1", "cores", 0.77), WatchedResource("disk vda", "disk", 0.3))
    )
    assert (found.kind, found.name) == ("cores", "cores 0-1")
    assert found.saturation_rate_per_s is not None and found.saturation_rate_per_s[0] == pytest.approx(100)
    assert "77 % busy at 77.0 /s" in found.sentence and "full at 100 /s" in found.sentence
    first, last = (f"{1e3 * mmm(rate, 0.02, 2):.1f} ms" for rate in (10, 77))
    _, low, high = found.saturation_rate_per_s
    assert low is not None and high is not None and low <= 100 <= high <= 77 / 0.5  # the queue is at least half full
    assert summary(found).startswith(f"{first} → {last} up to 77.0 /s, cores 0-1 77 % busy, full near 100 /s (")


def test_one_thread_of_a_process_on_several_cores() -> None:
    one, all_ = (
        WatchedResource("one thread of process 7", "thread", 0.77),
        WatchedResource("CPU of process 7", "cores", 0.385),
    )
    found = diagnose_levels(series(QUEUES["M/M/1"], one, all_))
    assert (found.kind, found.name) == ("thread", "one thread of process 7")
    idle = diagnose_levels(series(lambda r: 0.01, one, all_))
    assert idle.kind == "unknown", "a busy thread alone limits nothing"


def test_a_disk_and_cores_that_are_full_whatever_the_queue_says() -> None:
    for kind, name in (("disk", "disk vda"), ("cores", "cores 0-1")):
        found = diagnose_levels(
            series(lambda r: 0.01, WatchedResource(name, kind, 0.93), WatchedResource("other", "station", 0.4))
        )
        assert (found.kind, found.name) == (kind, name) and "93 % busy" in found.sentence


def test_more_comes_than_leaves() -> None:
    levels = series(QUEUES["M/M/1"], WatchedResource("cores 0-1", "cores", 0.5))
    over = replace(levels[-1], offered_per_s=130.0, throughput_per_s=100.0, response_s=3.0)
    found = diagnose_levels([*levels, over])
    assert found.kind == "unseen" and "more requests arrive than leave" in found.sentence
    assert found.saturation_rate_per_s is not None and found.saturation_rate_per_s[0] == 100.0
    full = replace(over, resources=(WatchedResource("cores 0-1", "cores", 0.96),))
    assert diagnose_levels([*levels, full]).kind == "cores"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"client_busy": 0.97}, "thread is 97 % busy"),
        (
            {"connections": 8, "sent_s": 0.1, "response_s": 0.4},
            "8 of its 8 connections are in use (Little's law), and 75 %",
        ),
        ({"client_shares": 0.45}, "45 % of the service's cores, which are otherwise 50 % busy"),
    ],
)
def test_the_client(what: dict[str, Any], words: str) -> None:
    levels = series(QUEUES["M/M/1"], WatchedResource("cores 0-1", "cores", 0.5))
    found = diagnose_levels([*levels, replace(levels[-1], throughput_per_s=80.0, offered_per_s=80.0, **what)])
    assert found.kind == "client" and words in found.sentence


def closed(users: int, demand_s: float, think_s: float, *resources: WatchedResource) -> LoadLevel:
    """Exact mean value analysis of one queue and a delay (Reiser and Lavenberg 1980)."""
    queue = rate = response = 0.0
    for n in range(1, users + 1):
        response = demand_s * (1 + queue)
        rate = n / (think_s + response)
        queue = rate * response
    own = tuple(replace(x, busy=x.busy * rate * demand_s) for x in resources)
    return LoadLevel(rate, rate, response, users=users, throughput_error=0.005, resources=own)


def test_users_who_bring_no_more_throughput() -> None:
    """Full at 1/0.02 = 50/s; N* = 1.02/0.02 = 51 users."""
    many = (5, 20, 100, 200)
    cores = diagnose_levels(closed(n, 0.02, 1.0, WatchedResource("cores 0-1", "cores", 1.0)) for n in many)
    assert cores.kind == "cores" and "more users bring no more throughput" in cores.sentence
    lock = diagnose_levels(closed(n, 0.02, 1.0, WatchedResource("cores 0-1", "cores", 0.5)) for n in many)
    assert lock.kind == "unseen" and (lock.saturation_rate_per_s or (0.0,))[0] == pytest.approx(50, rel=0.01)
    few = diagnose_levels(closed(n, 0.02, 1.0, WatchedResource("cores 0-1", "cores", 0.5)) for n in (2, 5, 10))
    assert few.kind == "unknown" and "more users" in few.next_step
    assert few.utilisation_by_waiting is not None
    assert few.utilisation_by_waiting[0] <= few.top.throughput_per_s * 0.02, "a bound: never above the truth"


def test_where_no_error_is_known_nothing_is_told_by_it() -> None:
    """Errors taken as none had made a lock of 6 % fewer answers than requests."""
    known = series(QUEUES["M/M/1"], WatchedResource("cores 0-1", "cores", 0.3), rates=(10, 25, 40))
    last = replace(known[-1], throughput_per_s=0.94 * 40)
    assert diagnose_levels([*known[:-1], last]).kind == "unseen"
    assert diagnose_levels([*known[:-1], replace(last, throughput_error=None)]).kind == "unknown"
    slow = series(QUEUES["M/M/1"], rates=(10, 25, 40, 55, 70, 85))
    assert diagnose_levels(slow).utilisation_by_waiting is not None
    assert diagnose_levels(replace(level, response_error=None) for level in slow).utilisation_by_waiting is None


def test_no_interval_of_a_run_is_no_error_of_a_level(tmp_path: Path) -> None:
    model = sj.Model.parse(POOL)
    folder = as_run(model, tmp_path / "run", until_s=2, seed=1)
    metrics = Metrics.read(folder.path / "metrics.parquet")
    level = read_level(folder)
    assert level is not None and metrics.interval("response_time") == (None, None) and level.response_error is None


def test_no_level_and_one() -> None:
    with pytest.raises(InputError, match="no level"):
        diagnose_levels([])
    found = diagnose_levels(series(QUEUES["M/M/1"], rates=(20.0,)))
    assert found.kind == "unknown" and "one level" in found.sentence and "four levels" in found.next_step


POOL = """
[stations.cpu]
servers = 2
[stations.database]
kind = "delay"
[stations.connections]
kind = "pool"
size = 4
held_over_stations = ["database"]
[classes.user]
kind = "open"
rate_per_s = 20
[demands_s]
cpu = { user = 0.004 }
database = { user = 0.02 }
"""


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [(POOL, "unseen", ""), (POOL.replace("size = 4", "size = 40").replace("0.004", "0.01"), "station", "cpu")],
    ids=["pool", "cores"],
)
def test_simulated_services(tmp_path: Path, text: str, kind: str, name: str) -> None:
    """Both are full at 200/s: 4 connections of 20 ms, or 2 cores of 10 ms."""
    model = sj.Model.parse(text)
    for seed, rate in enumerate((20, 50, 80, 110, 140, 170)):
        as_run(replaced(model, {"classes.user.rate_per_s": rate}), tmp_path / f"rate-{rate}", until_s=120, seed=seed)
    found = diagnose([tmp_path])[""]
    assert found.kind == kind and name in found.name, str(found)
    assert found.saturation_rate_per_s is not None and found.saturation_rate_per_s[0] == pytest.approx(200, rel=0.15)
    low, high = found.utilisation_by_waiting or (1.0, 0.0)
    assert low <= 0.85 <= high


def test_simulated_users(tmp_path: Path) -> None:
    """A disk of 10 ms, full at 100/s; with Z = 1 s users wait from N* = 101 on."""
    text = POOL.replace('kind = "open"\nrate_per_s = 20', 'kind = "closed"\npopulation = 1\nthink_s = 1.0').replace(
        "0.004", "0.02"
    )
    for seed, users in enumerate((10, 50, 150, 220)):
        as_run(replaced(sj.Model.parse(text.replace("size = 4", "size = 40")), {"classes.user.population": users}),
               tmp_path / f"users-{users}", until_s=200, seed=seed)  # fmt: skip
    found = diagnose([tmp_path])[""]
    assert (found.kind, found.name) == ("station", "cpu") and "220 users" in found.sentence, str(found)
    assert found.saturation_rate_per_s is not None and found.saturation_rate_per_s[0] == pytest.approx(100, rel=0.05)


def run(path: Path, rate: float, **more: Any) -> None:
    """A run folder with no more than a diagnosis reads: an M/M/1 queue of 10 ms, a process on two cores."""
    path.mkdir(parents=True)
    manifest = {
        "format": "sojourn-run", "version": 1, "status": "complete", "valid": True, "reasons": [],
        "factors": {"rate_per_s": rate, "cores": 2, "nics": 2}, "placement": {"server": [0, 1], "client": []},
        "demands_s": {"process 7": 0.004, "disk vda": 0.0095}, "load": {"lanes": [{"connections": 64}]},
        "generator": {"lanes": [{"cpu_s": 1.0, "wall_s": 10.0}]},
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(manifest | more))
    rows = [
        {"metric": "throughput", "value": rate, "low": rate * 0.98, "high": rate * 1.02, "unit": "1/s"},
        {"metric": "response_time", "value": (r := mmm(rate, 0.01)), "low": r * 0.98, "high": r * 1.02, "unit": "s"},
        *({"station": f"core {c}", "metric": "utilisation", "value": 0.9, "unit": "1"} for c in (0, 1)),
    ]
    Metrics.of([{"source": "measured", **row} for row in rows], "measured").write(path / "metrics.parquet")


def test_run_folders(tmp_path: Path) -> None:
    for rate in (10.0, 30.0, 50.0, 70.0, 85.0):
        run(tmp_path / f"a/rate-{rate:g}", rate)
        run(
            tmp_path / f"b/rate-{rate:g}",
            rate,
            factors={"rate_per_s": rate, "workers": 4},
            demands_s={"process 7": 0.004},
        )
    run(tmp_path / "a/rate-99", 99.0, reasons=["disturbed: the hypervisor took 9 % of a core"], valid=False)
    found = diagnose([tmp_path])
    assert {setting: one.kind for setting, one in found.items()} == {"": "disk", "workers = 4": "unseen"}
    assert found[""].name == "disk vda" and found[""].top.throughput_per_s == 85.0
    # what was watched counts, not the cores with all that runs on them: 4 ms at 85/s on two cores
    assert found["workers = 4"].busy_shares == {"CPU of process 7": pytest.approx(0.17)}
    with pytest.raises(RunFolderError):
        diagnose([tmp_path / "nowhere"])


@pytest.mark.parametrize("named", [False, True])
def test_a_run_whose_recorder_was_stopped_says_nothing_of_its_cores(tmp_path: Path, named: bool) -> None:
    """Found by benches/faults: utilisation is null there, and `measure` ended with a trace after its last level."""
    resources = {"core 0": {"capacity": 1.0}} if named else None
    for rate in (10.0, 30.0, 50.0):
        run(tmp_path / f"rate-{rate:g}", rate, demands_s={}, **({"resources": resources} if named else {}))
    path = tmp_path / "rate-50/metrics.parquet"
    rows = Metrics.read(path).frame.with_columns(
        value=pl.when(pl.col("metric") == "utilisation").then(None).otherwise("value")
    )
    Metrics(rows, "measured").write(path)
    level = read_level(RunFolder.open(tmp_path / "rate-50"))
    assert level is not None and level.resources == ()
    (found,) = diagnose([tmp_path]).values()
    assert found.top.throughput_per_s == 50.0


def test_a_closed_loop_beside_open_ones_changes_nothing() -> None:
    """As in a study: open runs, and the closed loop that says what the service does at most."""
    levels = series(QUEUES["M/M/1"], WatchedResource("cpu", "cores", 0.77))
    loop = LoadLevel(0.0, 99.0, 8 / 99, users=8, sent_s=8 / 99, resources=(WatchedResource("cpu", "cores", 0.99),))
    assert diagnose_levels([*levels, loop]) == diagnose_levels(levels)
    assert diagnose_levels([loop]).kind == "cores"
