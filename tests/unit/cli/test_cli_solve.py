"""`sojourn solve` and `sojourn methods`: what they print, for people and for programs, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.cli.vary_option import factors
from sojourn.errors import InputError, MethodRefused, ModelError
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.table import Metrics

SHOP = """
name = "shop"
[stations.cpu]
[stations.disk]
[classes.user]
kind = "closed"
population = 2
think_s = 1.0
[demands_s.cpu]
user = 0.2
[demands_s.disk]
user = 0.3
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.toml"
    path.write_text(SHOP)
    return path


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(command_line(), [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_stations_by_quantities(shop: Path) -> None:
    out = run("solve", shop).output
    assert out.startswith("shop: ") and "(system)" in out and "exact" in out
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["cpu", "disk"]


def test_json_is_the_metrics_of_the_function(shop: Path) -> None:
    text = run("solve", shop, "--method", "mva", "--json").output
    assert sorted(json.loads(text)) == ["message", "method", "rows", "schema", "status"]
    assert Metrics.from_json(text).frame.equals(sj.solve(sj.Model.read(shop), method="mva").frame)


def test_csv_has_all_rows(shop: Path) -> None:
    text = run("solve", shop, "--output-format", "csv", "--vary", "classes.user.population=1..3").output
    frame = pl.read_csv(text.encode())
    assert frame["classes.user.population"].unique().sort().to_list() == [1, 2, 3]
    first = frame.filter((pl.col("classes.user.population") == 1) & (pl.col("metric") == "throughput"))
    assert first["value"].to_list() == pytest.approx([1 / 1.5] * first.height)  # alone: 1 pass in 1 + 0.2 + 0.3 s


def test_a_sweep_is_a_line_a_point(shop: Path) -> None:
    out = run(
        "solve", shop, "--vary", "classes.user.population=1,2", "--vary", "demands_s.cpu.user=0.1..0.3:0.1"
    ).output
    lines = out.splitlines()
    assert "demands_s.cpu.user" in lines[1] and "busiest" in lines[1]
    assert [line.split()[:2] for line in lines[2:8]] == [[n, d] for n in "12" for d in ("0.1", "0.2", "0.3")]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_figure(shop: Path, ending: str) -> None:
    path = shop.with_suffix(f".{ending}")
    out = run("solve", shop, "--vary", "classes.user.population=1..5", "--plot", path).output
    assert f"written to {path}" in out.replace("\n", "")
    assert path.read_bytes().startswith(b"\x89PNG" if ending == "png" else b"<svg")


def test_what_is_refused(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="add --vary"):
        run("solve", shop, "--plot", "x.svg")
    with pytest.raises(InputError, match="choose one"):
        run("solve", shop, "--json", "--output-format", "csv")
    with pytest.raises(InputError, match=r"end it with one of \.svg"):
        run("solve", shop, "--vary", "classes.user.population=1..5", "--plot", "x.gif")
    with pytest.raises(InputError, match="did you mean mva"):
        run("solve", shop, "--method", "mvaa")
    with pytest.raises(MethodRefused, match="exactly one station of kind `multicore`, but the model has none"):
        run("solve", shop, "--method", "two-class/paper")
    with pytest.raises(ModelError, match=r"shop\.toml:7: classes\.user\.population: -2"):
        shop.write_text(SHOP.replace("population = 2", "population = -2"))
        run("solve", shop)
    with pytest.raises(ModelError, match="give a model file"):
        run("solve", tmp_path / "none.toml")


def test_methods(shop: Path) -> None:
    assert "mva" in run("methods").output and "two-class/priority" in run("methods").output
    told = run("methods", shop).output
    assert "auto takes it" in told and "`multicore`, but the model has none" not in " ".join(told.split())
    assert "others do not apply: --all shows why" in told  # issue 29, point 12: 34 lines of no
    assert "`multicore`, but the model has none" in " ".join(run("methods", shop, "--all").output.split())
    rows = {row["name"]: row for row in json.loads(run("methods", shop, "--json").output)["methods"]}
    assert rows["mva"]["applies"] and rows["mva"]["exact"] and not rows["two-class/paper"]["applies"]
    assert all(row["sources"] and row["family"] for row in rows.values())


def test_methods_where_none_applies_says_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        '[stations.q]\nservers = 2\ndiscipline = "priority"\n[classes.o]\nkind = "open"\nrate_per_s = 0.2\n[classes.p]\n'
        'kind = "open"\nrate_per_s = 0.2\npriority = 1\n[demands_s.q]\no = { kind = "lognormal", mean = 1.0, scv = 2.0 }\np = 1.0\n'
    )
    told = " ".join(run("methods", path).output.split())
    assert "no method applies" in told and told.count("would apply with") in (1, 2) and "sojourn simulate" in told


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..4", [1, 2, 3, 4]),
        ("1..9:4", [1, 5, 9]),
        ("0.1..0.3:0.1", [0.1, 0.2, 0.3]),
        ("1e-3..1*10", [0.001, 0.01, 0.1, 1.0]),
        ("1..8*2", [1, 2, 4, 8]),
        ("3,1.5,fcfs", [3, 1.5, "fcfs"]),
        ("1..2,9", [1, 2, 9]),
    ],
)
def test_values(text: str, values: list[object]) -> None:
    found = factors([f"a.b={text}"])["a.b"]
    assert found == values and list(map(type, found)) == list(map(type, values))


@pytest.mark.parametrize(
    "text", ["a", "a=", "=1", "a=4..1", "a=1..4:0", "a=0..4*2", "a=1..4*1", "a=1..x", "a=1..20001", "a=1..1e9:1"]
)
def test_values_that_are_none(text: str) -> None:
    with pytest.raises(InputError):
        factors([text])


def test_a_path_twice() -> None:
    with pytest.raises(InputError, match="twice"):
        factors(["a=1", "a=2"])


def test_a_sweep_is_solve_with_vary() -> None:
    """`sj.sweep` has no verb of its own name."""
    said = subprocess.run(
        [sys.executable, "-m", "sojourn", "sweep", "m.toml"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert "No such command 'sweep', use sojourn solve MODEL --vary PATH=VALUES" in said.stderr


def test_a_file_that_is_an_average_says_which_model_is_solved(tmp_path: Path) -> None:
    """Of what was fitted `solve` and `simulate` take one model; they gave it as if it were all."""
    fitted = tmp_path / "fitted.toml"
    _average().write(fitted)
    for verb in (["solve", fitted], ["simulate", fitted, "--until", "200s"], ["solve", fitted, "--json"]):
        out = run(*verb).output
        assert "of two alone, weight 0.70; `sojourn predict` averages it with one 0.30" in out.replace("\n", " "), verb
    assert "alone" not in run("solve", tmp_path / "fitted.toml", "--output-format", "csv").output


def _average() -> sj.FittedModel:
    def fit(name: str, servers: int) -> sj.FittedModel:
        text = f'name = "{name}"\n[stations.cpu]\nservers = {servers}\n[classes.user]\nkind = "open"\nrate_per_s = 20\n'
        model = sj.Model.parse(text + f"[demands_s]\ncpu = {{ user = {0.01 * servers} }}\n")
        draws = np.full((40, 1), 0.01 * servers)
        estimate = {"demands_s.cpu.user": ParameterEstimate(0.01 * servers, 0.0, 1.0)}
        return sj.FittedModel(
            model,
            model,
            ("demands_s.cpu.user",),
            estimate,
            draws,
            None,
            {},
            9,
            (),
            ({"rate_per_s": 20.0},),
            0.95,
            1,
            "mmm",
            "",
        )

    return replace(fit("two", 2), alternatives=((0.3, fit("one", 1)),))


def test_what_a_fit_does_not_take_is_refused(shop: Path) -> None:
    """--tracking-settings were passed over beside a model file, without a word."""
    with pytest.raises(InputError, match="--tracking-settings cpu=0.1"):
        run("fit", shop.parent, "--model", shop, "--tracking-settings", "cpu=0.1")
