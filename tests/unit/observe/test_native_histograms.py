"""Native histograms of a real Prometheus: counts and sums, a service that starts anew, series that end. R = D/(1 - U^2), no load test."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from native_histograms import used_by, write
from prometheus_data import DEMAND_S, SCRAPE_S, prometheus
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.observe.observe_prometheus import observe_prometheus
from sojourn.observe.series_map import SeriesMap, read_map

HOURS, RESET_AT, GAP = 3.0, 300, range(500, 524)  # samples of 15 s: after 75 minutes; six minutes
NAME = "http_server_request_duration_seconds"
CPU = """
[resources.cpu]
busy = 'node_cpu_seconds_total{mode!~"idle|iowait"}'
cores = 2
"""


@pytest.fixture(scope="module")
def started_s() -> float:
    return float(int(time.time() / 3600) * 3600 - 4 * 3600)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, started_s: float) -> Iterator[str]:
    options = ["--enable-feature=native-histograms", "--web.enable-remote-write-receiver"]
    with prometheus(tmp_path_factory.mktemp("prometheus"), "", *options) as found:
        write(found, started_s, HOURS, RESET_AT, GAP)
        yield found


def mapped(folder: Path, of_a: str) -> SeriesMap:
    path = folder / "shop.map.toml"
    path.write_text(f"[classes.a]\n{of_a}\n[classes.b]\nhistogram = '{NAME}{{http_route=\"/b\"}}'\n{CPU}")
    return read_map(path)


def test_windows_have_its_counts_and_sums(address: str, tmp_path: Path, started_s: float) -> None:
    series = mapped(tmp_path, f"histogram = '{NAME}{{http_route=\"/a\"}}'")
    seen = observe_prometheus(f"prometheus://{address}", series, started_s, started_s + HOURS * 3600)
    starts = np.array([window.start_s for window in seen.windows]) - started_s
    ended = GAP.start * SCRAPE_S, GAP.stop * SCRAPE_S
    whole = [s for s in 300.0 * np.arange(1, 36) if s + 300 <= ended[0] or s >= ended[1]]
    assert set(whole) <= set(starts)  # the window in which the service started anew too
    assert not any(ended[0] <= s < ended[1] for s in starts)
    for window in seen.windows:
        t = window.start_s - started_s + np.linspace(0, 300, 101)
        rates, used = used_by(t)
        assert window.busy["cpu"] == pytest.approx(used.mean(), rel=0.02)
        for name, (route, demand) in zip("ab", DEMAND_S.items(), strict=True):
            wanted_s = float((rates[route] * demand / (1 - used**2)).mean() / rates[route].mean())
            assert window.classes[name].rate_per_s == pytest.approx(rates[route].mean(), rel=0.02)
            assert window.classes[name].response_s == pytest.approx(wanted_s, rel=0.02)


def test_a_map_that_takes_it_for_counters_is_told(address: str, tmp_path: Path, started_s: float) -> None:
    series = mapped(tmp_path, f"requests = '{NAME}'\nseconds = '{NAME}'")
    with pytest.raises(InputError, match="a native histogram for .*give histogram = SELECTOR in place of requests"):
        observe_prometheus(f"prometheus://{address}", series, started_s, started_s + 3600)


@pytest.mark.parametrize(
    ("selector", "said"),
    [("node_cpu_seconds_total", "is no native histogram.*NAME_count"), ("nothing", "no sample.*NAME_count")],
)
def test_a_counter_taken_for_one_is_told(
    address: str, tmp_path: Path, started_s: float, selector: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        series = mapped(tmp_path, f"histogram = '{selector}'")
        observe_prometheus(f"prometheus://{address}", series, started_s, started_s + 3600)


def test_a_first_map_has_it(address: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(command_line(["observe"]), ["observe", f"prometheus://{address}", "--suggest-metric-map"])
    assert done.exit_code == 0, done.output
    (path := tmp_path / "first.map.toml").write_text(done.output)
    assert [one.histogram for one in read_map(path).classes.values()] == [
        f'{NAME}{{http_route="{r}"}}' for r in DEMAND_S
    ]
