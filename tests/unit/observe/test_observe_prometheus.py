"""From a real Prometheus to a prediction: processor sharing on two cores, R = D/(1 - U^2), no load test."""

import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_data import CORES, DEMAND_S, open_metrics, prometheus
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.observe.observe_prometheus import observe_prometheus
from sojourn.observe.series_map import read_map

ROOT = Path(__file__).parents[3]
HOURS = 8.0
MAP = """
[classes.a]
requests = 'http_server_request_duration_seconds_count{http_route="/a"}'
seconds = 'http_server_request_duration_seconds_sum{http_route="/a"}'

[classes.b]
requests = 'http_server_request_duration_seconds_count{http_route="/b"}'
seconds = 'http_server_request_duration_seconds_sum{http_route="/b"}'

[resources.cpu]
busy = 'node_cpu_seconds_total{mode!~"idle|iowait"}'
cores = 'count(node_cpu_seconds_total{mode="idle"})'
"""


@pytest.fixture(scope="module")
def started_s() -> float:
    return float(int(time.time() / 3600) * 3600 - 10 * 3600)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, started_s: float) -> Iterator[str]:
    """Restarted after four hours, and not scraped for six minutes of the sixth."""
    with prometheus(
        tmp_path_factory.mktemp("prometheus"), open_metrics(started_s, HOURS, 960, range(1300, 1324))
    ) as found:
        yield found


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.map.toml"
    path.write_text(MAP)
    return path


def test_a_day_of_counters_is_windows_with_their_loads(address: str, map_file: Path, started_s: float) -> None:
    seen = observe_prometheus(f"prometheus://{address}", read_map(map_file), started_s, started_s + HOURS * 3600)
    assert seen.capacity == {"cpu": CORES}
    assert "windows are left out" in seen.notes[0]
    assert 88 <= len(seen.windows) <= 94  # of 96: the gap, and the first and the last
    for window in seen.windows:
        means = [window.classes[name] for name in "ab"]
        used = sum(one.rate_per_s * demand for one, demand in zip(means, DEMAND_S.values(), strict=True)) / CORES
        assert window.busy["cpu"] == pytest.approx(used, rel=0.02)  # the restart too: no window has a negative rate
        for one, demand in zip(means, DEMAND_S.values(), strict=True):
            assert one.response_s == pytest.approx(demand / (1 - used**2), rel=0.03)


def test_the_verb_and_what_follows_it(address: str, map_file: Path, tmp_path: Path, started_s: float) -> None:
    out = tmp_path / "week"
    arguments = [
        "observe",
        f"prometheus://{address}",
        "--metric-map",
        str(map_file),
        "--from",
        "-11h",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(command_line(["observe"]), arguments)
    assert done.exit_code == 0, done.output
    assert "cpu busy" in done.output
    model = sj.Model.read(out / "model.toml")
    assert model.stations[0].servers == CORES  # type: ignore[union-attr]


def test_a_first_map_is_written_from_names(address: str, tmp_path: Path, started_s: float) -> None:
    arguments = ["observe", f"prometheus://{address}", "--suggest-metric-map"]
    done = CliRunner().invoke(command_line(["observe"]), arguments)
    assert done.exit_code == 0, done.output
    path = tmp_path / "first.map.toml"
    path.write_text(done.output)
    found, wanted = read_map(path), tmp_path / "wanted.toml"
    wanted.write_text(MAP)
    assert found == read_map(wanted)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('seconds_count{http_route="/a"}', "seconds_cuont", "no sample"),
        ('{http_route="/b"}', "{http_route=}", "classes|parse|unexpected"),
        ('count(node_cpu_seconds_total{mode="idle"})', "node_cpu_seconds_total", "series"),
    ],
)
def test_a_selector_that_is_wrong_is_named(
    address: str, tmp_path: Path, started_s: float, before: str, after: str, said: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(MAP.replace(before, after))
    with pytest.raises(InputError, match=said):
        observe_prometheus(f"prometheus://{address}", read_map(path), started_s, started_s + 7200)


def test_a_window_shorter_than_four_scrapes_is_refused(address: str, map_file: Path, started_s: float) -> None:
    with pytest.raises(InputError, match="--window 4"):
        observe_prometheus(f"prometheus://{address}", read_map(map_file), started_s, started_s + 3600, 30.0)


def test_the_page_does_what_it_says(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files and its commands, on this server; what is predicted is what the law says: 20 of a and 20 of b a second, U = 0.8."""
    page = (ROOT / "docs/howto/from-prometheus.md").read_text()
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```toml\n# file: (\S+)\n(.*?)```", page, re.S):
        Path(name).write_text(text)
    lines = [line for block in re.findall(r"```console\n(.*?)```", page, re.S) for line in block.splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ sojourn ")]
    assert len(commands) >= 4
    said = ""
    for command in commands:
        words = shlex.split(command.replace("127.0.0.1:9090", address))[1:]
        done = CliRunner().invoke(command_line(words), words)
        assert done.exit_code == 0, (command, done.output, done.exception)
        said += done.output
    assert "[classes.a]" in said
    fitted = sj.FittedModel.read("fitted.toml")
    for name, demand in (("a", 0.02), ("b", 0.06)):
        assert fitted.estimates[f"demands_s.cpu.{name}.mean"].value == pytest.approx(demand, rel=0.03)
    told = sj.predict(fitted, {"rate_a_per_s": 20.0, "rate_b_per_s": 20.0})
    low, high = told.interval("response_time", cls="a")
    assert (
        low is not None
        and high is not None
        and low <= 0.02 / (1 - 0.8**2) * 1.01
        and high >= 0.02 / (1 - 0.8**2) * 0.99
    )
