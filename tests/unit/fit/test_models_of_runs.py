"""`[where]`: models of different runs, each fitted to its own, in one fitted file that answers with the one it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli.model_file_commands import of_one_model
from sojourn.errors import FitError, InputError, ModelError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.plan.predictor import predictor_of
from sojourn.query.sources.fitted_source import FittedSource

TEXT = """
name = "{name}"
[where]
design = "{name}"
[stations.cpu]
[classes.user]
kind = "closed"
population = 1
think_s = 0.1
[demands_s.cpu]
user = {{ free = true }}
"""
WORK_S = {"small": 0.01, "large": 0.03}
MODELS = {name: sj.Model.parse(TEXT.format(name=name)) for name in WORK_S}


def throughput(work_s: float, users: int) -> float:
    """One queue and 0.1 s of thinking, by its recursion."""
    queue = x = 0.0
    for n in range(1, users + 1):
        x = n / (0.1 + work_s * (1 + queue))
        queue = x * work_s * (1 + queue)
    return x


def runs() -> FitRuns:
    found = []
    for design, work_s in WORK_S.items():
        for users in (1, 2, 4, 8):
            for k in (-1, 1):
                x = throughput(work_s, users) * (1 + 0.002 * k)
                means = {("", "throughput"): (x, 0.003), ("", "response_time"): (users / x - 0.1, 0.003)}
                found.append(FitRun(f"{design}-{users}-{k}", {"design": design, "users": users}, means, {}))
    return FitRuns(found)


@pytest.fixture(scope="module")
def fitted() -> FittedModel:
    return sj.fit_rivals(runs(), MODELS).best


@pytest.mark.parametrize("design", list(WORK_S))
def test_each_is_fitted_to_its_own_runs_and_answers_there(fitted: FittedModel, design: str) -> None:
    own = fitted.at({"design": design})
    assert own.estimates["demands_s.cpu.user"].value == pytest.approx(WORK_S[design], rel=0.02)
    told = fitted.predict({"design": design, "users": [3, 6]}, 0.9)
    for users in (3, 6):
        assert told.value("throughput", cls="", users=users) == pytest.approx(
            throughput(WORK_S[design], users), rel=0.02
        )
    assert fitted.knows({"design": design}) and not fitted.knows({"design": "other"})


def test_a_file_has_them_all(fitted: FittedModel, tmp_path: Path) -> None:
    fitted.write(tmp_path / "fitted.toml")
    again = FittedModel.read(tmp_path / "fitted.toml")
    for design in WORK_S:
        point = {"design": design, "users": 5}
        assert again.predict(point, 0.9).frame.equals(fitted.predict(point, 0.9).frame)
    assert "small" in str(again) and "large" in str(again)
    found = again.validate(runs())
    assert set(found["design"]) == set(WORK_S) and found["error"].abs().max() < 0.05  # type: ignore[operator]


@pytest.mark.parametrize(
    ("point", "value"),
    [({"users": 3}, "no design"), ({"design": "other", "users": 3}, "no model describes runs with design = 'other'")],
)
def test_a_point_must_say_of_which_runs_it_is(fitted: FittedModel, point: dict[str, object], value: str) -> None:
    with pytest.raises(FitError) as error:
        fitted.predict(point, 0.9)
    assert error.value.value == value
    assert error.value.remedy == "say design = 'small' or design = 'large'"


def test_a_method_that_takes_one_model_says_which(fitted: FittedModel, tmp_path: Path) -> None:
    fitted.write(tmp_path / "fitted.toml")
    assert of_one_model(tmp_path / "fitted.toml") == "of small alone; `sojourn predict` uses large for their runs"


def test_one_model_leaves_the_other_runs_out_and_says_so() -> None:
    one = sj.fit(runs(), MODELS["large"])
    assert "left out: 8 runs without design = 'large'" in one.message
    assert one.estimates["demands_s.cpu.user"].value == pytest.approx(0.03, rel=0.02)
    assert set(one.validate(runs())["design"]) == {"large"}, "runs that it is no model of are left out"
    with pytest.raises(FitError, match="no run with design = 'huge'"):
        sj.fit(runs(), sj.Model.parse(TEXT.format(name="huge")))


def test_a_question_and_a_plan_ask_the_model_of_these_runs(fitted: FittedModel) -> None:
    point = {"design": "large", "users": 4}
    source = FittedSource(fitted, point)
    assert source.name == "large"
    assert sj.query("throughput", source).value == pytest.approx(throughput(0.03, 4), rel=0.02)
    predictor = predictor_of(fitted, {name: [value] for name, value in point.items()})
    assert predictor.fitted is not None and predictor.fitted.model.name == "large"


def test_two_models_that_could_be_of_the_same_run_are_refused() -> None:
    other = sj.Model.parse(TEXT.format(name="small").replace("design =", "users ="))
    with pytest.raises(InputError, match="some runs may belong to both") as error:
        sj.fit_rivals(runs(), {**MODELS, "other": other})
    assert error.value.place == "where" and "same factors" in error.value.remedy


@pytest.mark.parametrize(("text", "place"), [("where = 3", "where"), ("[where]\ndesign = [1]", "where.design")])
def test_what_is_no_table_of_factors_is_an_error(text: str, place: str) -> None:
    whole = TEXT.format(name="small")
    given = (
        f"{text}\n{whole}".replace('[where]\ndesign = "small"\n', "")
        if place == "where"
        else whole.replace('[where]\ndesign = "small"', text)
    )
    with pytest.raises(ModelError) as error:
        sj.Model.parse(given)
    assert str(error.value.place).endswith(place)


def test_the_file_of_a_model_says_of_which_runs_it_is() -> None:
    assert sj.Model.parse(MODELS["small"].to_toml()) == MODELS["small"]
    assert MODELS["small"].where == {"design": "small"}
