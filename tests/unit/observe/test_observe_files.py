"""`observe` from a request log to what `fit` finds: an M/M/1 queue with processor sharing, whose response time is D/(1 - U)."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError, RunFolderError
from sojourn.observe import observe_files

DEMAND_S = {"a": 0.02, "b": 0.06}


def _day(folder: Path, windows: int = 24, each_s: float = 60.0, seed: int = 3) -> list[Path]:
    """A log whose means are those of the model but for 3 %, with rates that go up and down; of each class every request of a window takes
    its mean, give or take."""
    rng = np.random.default_rng(seed)
    rows, cpu = [], []
    for i in range(windows):
        rates = {"a": 8 + 6 * np.sin(i / 3), "b": 5 + 4 * np.cos(i / 4)}
        counts = {name: int(rate * each_s) for name, rate in rates.items()}
        used = sum(DEMAND_S[name] * count / each_s for name, count in counts.items())
        for name, count in counts.items():
            mean = DEMAND_S[name] / (1 - used) * np.exp(rng.normal(0, 0.03))
            came = 1.7e9 + i * each_s + np.sort(rng.uniform(0, each_s, count))
            took = mean * rng.uniform(0.5, 1.5, count)
            rows.append(pl.DataFrame({"arrival_s": came, "response_s": took, "class": name}))
        cpu.append({"end_s": 1.7e9 + (i + 1) * each_s, "cpu": used})
    log, series = folder / "requests.csv", folder / "cpu.csv"
    pl.concat(rows).write_csv(log)
    pl.DataFrame(cpu).write_csv(series)
    return [log, series]


def test_demands_by_class_are_found_from_hours_without_a_load_test(tmp_path: Path) -> None:
    seen = observe_files(_day(tmp_path))
    assert seen.users == {}
    assert seen.model is not None
    fitted = sj.fit(seen.write(tmp_path / "week"), seen.model)
    for name, demand in DEMAND_S.items():
        estimate = fitted.estimates[f"demands_s.cpu.{name}.mean"]
        assert estimate.value == pytest.approx(demand, rel=0.04)
        assert estimate.low < demand < estimate.high
    # half as much again of each than 8 and 5 a second: U = 1.5 (0.16 + 0.30) = 0.69
    told = sj.predict(fitted, {"rate_a_per_s": 12.0, "rate_b_per_s": 7.5})
    assert told.value("response_time", cls="a") == pytest.approx(0.02 / 0.31, rel=0.08)
    low, high = told.interval("response_time", cls="b")
    assert low is not None and high is not None and low < 0.06 / 0.31 < high


def test_windows_are_run_folders_that_say_where_they_are_from(tmp_path: Path) -> None:
    files = _day(tmp_path, windows=4)
    seen = observe_files(files, capacity={"cpu": 2})
    paths = seen.write(tmp_path / "week")
    assert [path.name for path in paths] == [f"2023-11-14T22-{13 + i}-20Z" for i in range(3)]  # the last is not whole
    manifest = json.loads((paths[0] / "manifest.json").read_text())
    assert manifest["observed"]["source"] == "requests.csv, cpu.csv"
    assert manifest["resources"] == {"cpu": {"capacity": 2.0}}
    metrics = sj.RunFolder.open(paths[0]).metrics()
    rates = [manifest["factors"][f"rate_{name}_per_s"] for name in "ab"]
    assert metrics.value("throughput") == pytest.approx(sum(rates))
    with pytest.raises(RunFolderError, match="exists"):
        seen.write(tmp_path / "week")


def test_parts_of_a_log_by_time(tmp_path: Path) -> None:
    files = _day(tmp_path, windows=10)
    assert len(observe_files(files, end_s=300.0).windows) == 5
    assert len(observe_files(files, start_s=-181.0).windows) == 3


def test_a_constant_rate_is_said_to_tell_nothing_of_growth(tmp_path: Path) -> None:
    came = np.arange(0, 600, 0.1)
    log = tmp_path / "log.csv"
    pl.DataFrame({"arrival_s": came, "response_s": np.full(len(came), 0.01)}).write_csv(log)
    said = "\n".join(observe_files([log]).notes)
    assert "nearly constant" in said
    assert "no resource was watched" in said


def test_files_without_requests_are_refused(tmp_path: Path) -> None:
    _, cpu = _day(tmp_path, windows=3)
    with pytest.raises(InputError, match="no request log"):
        observe_files([cpu])
    with pytest.raises(InputError, match="windows with answers"):
        observe_files(_day(tmp_path, windows=3), window_s=3600)
    with pytest.raises(InputError, match="at least 1 s"):
        observe_files([cpu], window_s=0)


def test_the_verb_says_what_was_seen_and_what_comes_next(tmp_path: Path) -> None:
    out = tmp_path / "week"
    files = [str(path) for path in _day(tmp_path, windows=6)]
    done = CliRunner().invoke(command_line(["observe"]), ["observe", *files, "--to", "4m", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "4 windows of 60 s" in done.output
    assert "cpu busy" in done.output
    assert f"sojourn fit {out} --model {out}/model.toml" in done.output.replace("\n", " ").replace("  ", " ")
    assert "unknown" not in sj.Model.read(out / "model.toml").name
    again = CliRunner().invoke(command_line(["observe"]), ["observe", *files, "--out", str(out)])
    assert isinstance(again.exception, InputError)


def test_a_file_whose_name_begins_like_a_server_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, cpu = _day(tmp_path, windows=6)
    log.rename(tmp_path / "prometheus.csv")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line(["observe"]), ["observe", "prometheus.csv", str(cpu), "--out", "week"])
    assert done.exit_code == 0, done.output
    other = CliRunner().invoke(command_line(["observe"]), ["observe", "http://127.0.0.1:9090", "--out", "week2"])
    assert "write prometheus://HOST:9090" in str(other.exception)


def test_no_window_begins_before_the_first_request_or_ends_after_the_last(tmp_path: Path) -> None:
    """With `--from -7d` of a log of minutes, a window had seven seconds of requests, and a rate of an eighth."""
    files = _day(tmp_path, windows=4)
    whole = observe_files(files)
    assert [w.start_s for w in observe_files(files, start_s=-7 * 86400.0).windows] == [w.start_s for w in whole.windows]
    assert [w.start_s for w in observe_files(files, end_s=7 * 86400.0).windows] == [w.start_s for w in whole.windows]
    with pytest.raises(InputError, match="nothing lies between"):
        observe_files(files, start_s=7 * 86400.0)


def test_a_file_counts_once(tmp_path: Path) -> None:
    log, cpu = _day(tmp_path, windows=4)
    with pytest.raises(InputError, match=r"twice.*once"):
        observe_files([log, cpu, Path(str(log))])


@pytest.mark.parametrize(("capacity", "said"), [({"disk": 2.0}, "disk.*cpu"), ({"cpu": 0.0}, "above 0")])
def test_servers_are_of_a_resource_of_the_series(tmp_path: Path, capacity: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        observe_files(_day(tmp_path, windows=4), capacity=capacity)
