"""What benches/telemetry is made of: a day whose counters obey the laws, saturation rates by formula, judgements by hand."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCH = Path(__file__).parents[3] / "benches" / "telemetry"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Modules of the bench by name; they find each other."""
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])

    def loaded(name: str) -> ModuleType:
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return loaded


def test_saturation_is_that_of_the_closed_network_of_workers(bench) -> None:  # type: ignore[no-untyped-def]
    day = bench("replayed_day")
    # two customers, delay and service of 1: p = 1, 2, 2 over 5, so that the queue is busy 4/5
    assert day.closed_throughput(2, 1.0, 1.0, 1) == pytest.approx(0.8)
    # as many servers as customers: nobody waits, N/(Z + S)
    assert day.closed_throughput(3, 0.5, 0.25, 3) == pytest.approx(4.0)
    service = day.ReplayedService
    assert service(Path(), workers=4, service_s=0.01, grows=0.25).saturation_per_s == pytest.approx(320)
    assert service(Path(), workers=2, service_s=1.0, then_s=1.0).saturation_per_s == pytest.approx(0.8)


def test_the_truth_of_two_servers_is_erlangs(bench) -> None:  # type: ignore[no-untyped-def]
    """M/M/2: R = S/(1 - U²), here with U = 0.7 and a delay of 1 ms."""
    service = bench("replayed_day").ReplayedService(Path(), workers=2, service_s=0.01, delay_s=0.001, seed=3)
    mean, error = service.mean_response_s(140.0)
    assert mean == pytest.approx(0.001 + 0.01 / (1 - 0.7**2), abs=4 * error)
    assert error < 0.01 * mean


def test_busy_seconds_of_intervals(bench) -> None:  # type: ignore[no-untyped-def]
    found = bench("replayed_day").busy_until(np.array([0.5, 1.5, 2.5, 4.0]), np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    assert found == pytest.approx([0.5, 2.0, 3.5, 4.0])


def test_a_day_of_counters_obeys_the_laws(bench) -> None:  # type: ignore[no-untyped-def]
    """Constant times of one worker at 50 %: each answer is 10 ms of CPU, and R = S + US/(2(1 - U)) (Pollaczek, Khinchine)."""
    replayed = bench("replayed_day")
    service = replayed.ReplayedService(Path(), workers=1, service_s=0.01, law="constant", delay_s=0.0, other_work=0.02)
    day = replayed.Day(np.full(96, 50.0), 60)
    random = np.random.default_rng(5)
    arrivals = day.arrivals(random)
    served = service.served(arrivals, random)
    assert len(arrivals) == pytest.approx(50 * 1440, abs=5 * math.sqrt(72_000))
    assert served.ended_s - served.begun_s == pytest.approx(np.full(len(arrivals), 0.01), rel=1e-6)
    seen = service.counters(served, day, 0.1)
    assert len(seen.at_s) == 5760 and seen.at_s[-1] == pytest.approx(0.1 + 5759 * 0.25)
    answers, seconds, busy = seen.answers[-1], seen.seconds[-1], seen.busy_s[-1]
    assert busy == pytest.approx(0.01 * answers + 0.02 * seen.at_s[-1], abs=0.02)
    load = len(arrivals) * 0.01 / 1440
    assert seconds / answers == pytest.approx(0.01 + load * 0.01 / (2 * (1 - load)), rel=0.03)
    assert (np.diff(seen.within, axis=0) >= 0).all() and (np.diff(seen.answers) >= 0).all()
    assert seen.within[0][-1] == 0 and seen.within[-1][-1] == answers  # none is faster than 10 ms, all than 1 s


def test_twenty_per_cent_more_is_in_the_cpu_time_from_then_on(bench) -> None:  # type: ignore[no-untyped-def]
    replayed = bench("replayed_day")
    service = replayed.ReplayedService(Path(), workers=4, service_s=0.01, law="constant")
    arrivals = np.arange(1000) * 0.02  # nobody waits
    served = service.served(arrivals, np.random.default_rng(1), np.where(arrivals < 10.0, 1.0, 1.2))
    assert served.ended_s - served.begun_s == pytest.approx(np.where(arrivals < 10.0, 0.01, 0.012))


def test_text_of_a_day_with_a_restart_and_a_gap(bench) -> None:  # type: ignore[no-untyped-def]
    scraped = bench("scraped")
    values = np.array([10.0, 20.0, 30.0, 40.0])
    seen = sys.modules["replayed_day"].ScrapedCounters(
        np.arange(4.0), values, values / 10, np.tile(values, (8, 1)), values / 2
    )
    lines = scraped.open_metrics(seen, 1000.0, 2, range(3, 4)).splitlines()
    assert [line.split()[1:] for line in lines if line.startswith(f"{scraped.NAME}_count")] == [
        ["10", "1000.000"], ["20", "1001.000"], ["5", "1002.000"],
    ]  # fmt: skip
    assert [line.split()[1] for line in lines if line.startswith(scraped.CPU)] == ["5", "10", "2.5"]
    assert lines[-1] == "# EOF" and sum(line.startswith("# TYPE") for line in lines) == 2


def test_services_are_drawn_within_what_is_said(bench) -> None:  # type: ignore[no-untyped-def]
    replayed = bench("replayed_day")
    for seed in range(20):
        kind, service, day = replayed.drawn(seed)
        assert kind == replayed.KINDS[seed % 5]
        assert 0.2 <= day.peak_per_s / service.saturation_per_s <= 0.46
        assert day.rates_per_s.mean() * day.length_s <= replayed.REQUESTS or day.compress == 60


def answered(value: float | None, low: float | None, high: float | None, status: str = "ok") -> dict[str, object]:
    both = {"": value, "_low": low, "_high": high, "_status": status, "_truth": 10.0}
    return {f"{figure}{end}": told for figure in ("response", "saturation") for end, told in both.items()}


@pytest.mark.parametrize(
    ("row", "inside", "error"),
    [
        (answered(11.0, 9.0, 12.0), True, 0.1),
        (answered(8.0, 7.0, 9.0), False, -0.2),
        (answered(12.0, 9.0, None, "open_above"), True, 0.2),
        (answered(12.0, 11.0, None, "open_above"), False, 0.2),
        (answered(None, None, None, "unstable"), False, math.inf),
        (answered(None, None, None, "not_answered"), None, None),
    ],
)
def test_what_is_inside(bench, row, inside, error) -> None:  # type: ignore[no-untyped-def]
    told = bench("twice_the_peak").judged(row)
    assert told["response_inside"] is inside
    assert told["saturation_error"] == (None if error is None else pytest.approx(error))


def test_the_table_counts_what_was_refused(bench) -> None:  # type: ignore[no-untyped-def]
    twice = bench("twice_the_peak")
    rows = [
        {"seed": k, "kind": "lock", "refused": refused, **one, **twice.judged(one)}
        for k, (one, refused) in enumerate(
            [(answered(11.0, 9.0, 12.0), ""), (answered(8.0, 7.0, 9.0), "do not extrapolate"), (answered(9.0, 8.0, None, "open_above"), "")]
        )
    ]  # fmt: skip
    lines = twice.summary(rows).splitlines()
    assert "| response, all | 3 | 3 | 2 of 3 |" in lines[2] and "| 1 | 10.0% | 20% |" in lines[2]
    assert "| response, not refused | 2 | 2 | 2 of 2 |" in lines[4]
    assert lines[-1] == "refused by name: 1 of 3: 1 (lock)"


def test_delays_of_changes_are_counted(bench) -> None:  # type: ignore[no-untyped-def]
    changes = bench("day_changes")
    table = changes.pl.DataFrame({"false_alarms": [0, 2, 0], "delay_s": [120.0, None, 700.0], "others": [0, 0, 1]})
    assert changes.summary(table) == (
        "3 days without a change: 1 with a false alarm\n3 with one: 1 found within 10 minutes, 2 within an hour (410 s in the median, "
        "700 s at most); 1 with other changes beside it"
    )
