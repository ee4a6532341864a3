"""What benches/capacity counts: services that failed, answers that begin at 0, and what an interval owes to the part of the machine."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sojourn.capacity.rate_interval import RateInterval

BENCH = Path(__file__).parents[3] / "benches" / "capacity"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Modules of the bench by name; other benches have some of the same names."""
    monkeypatch.syspath_prepend(str(BENCH))

    def loaded(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"capacity_bench_{name}", BENCH / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)  # where dataclasses look for it
        spec.loader.exec_module(module)
        return module

    yield loaded
    sys.modules.pop("truth", None)


ROWS = """\
service,beside,objective,truth,truth_error,value,low,high,half_width,answered,inside,agrees,touches,most,runs,took_s,failed
a,False,p90,,,,,,,False,,,,,,,OSError: it does not answer
b,True,mean < 1ms,105,0.03,100,90,110,0.1,True,True,True,True,0.8,4,40,
c,True,mean < 1ms,120,0.03,100,90,110,0.1,True,False,False,False,0.8,4,41,
d,True,mean < 1ms,105,0.03,100,0,110,0.55,True,True,True,True,0.8,4,42,
e,True,mean < 1ms,,0.2,100,90,110,0.1,True,,,,0.8,4,43,
f,True,mean < 1ms,,,,,,,False,,,,0.8,4,44,
g,True,mean,,,,,,,False,,,,,,,KeyError: x
g,True,mean < 1ms,101,0.03,100,90,110,0.1,True,True,True,True,0.8,4,45,
"""


def test_live_table_counts_what_failed_and_what_was_not_answered(bench, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "raw.csv").write_text(ROWS)
    told = bench("live_table").summary(tmp_path / "raw.csv")
    assert "7 asked, 1 failed, 2 not answered, 3 judged, 1 not judged" in told
    assert "inside in 2 of 3" in told
    assert "with the 1 that were not answered and whose truth is known as misses: 2 of 4" in told  # d begins at 0
    assert "failed before, and tried again: g" in told
    assert told.splitlines()[2] == "| a | no | | | failed: OSError: it does not answer | | | | | |"


def test_an_interval_without_the_part_of_the_machine_is_that_before_it_was_widened(bench) -> None:  # type: ignore[no-untyped-def]
    run = bench("run")
    before = RateInterval(100.0, 92.0, 115.0)
    widened = before.with_machine(0.9)
    row = {"seed": 1, "value": widened.value, "low": widened.low, "high": widened.high}
    assert run.without_machine(row, 0.025) == pytest.approx((92.0, 115.0))
    # by hand: the root of 0.05² less (1.6449 · 0.025)² is 0.02844
    by_hand = run.without_machine({"seed": 1, "value": 100.0, "low": 100 * math.exp(-0.05), "high": 110.0}, 0.025)
    assert by_hand[0] == pytest.approx(100 * math.exp(-0.02844), rel=1e-4)
    with pytest.raises(ValueError, match="give --machine 0"):
        run.without_machine({"seed": 1, "value": 100.0, "low": 99.0, "high": 110.0}, 0.025)


def test_the_limit_of_a_truth_is_what_its_first_runs_say_at_75_per_cent(bench) -> None:  # type: ignore[no-untyped-def]
    """M/M/1, R = 1/(mu - lambda): 4/mu at 75 %."""
    runs = bench("truth").TruthRuns(200.0)
    for _ in range(4):
        rate = runs.next_rate()
        runs = runs.with_run(rate, 1 / (200 - rate))
    runs = runs.limited()
    assert runs.limit_s == pytest.approx(0.02, rel=0.03)
    for _ in range(4):
        rate = runs.next_rate()
        runs = runs.with_run(rate, 1 / (200 - rate))
    assert runs.crossing().rate_per_s == pytest.approx(200 - 1 / runs.limit_s, rel=0.01)
