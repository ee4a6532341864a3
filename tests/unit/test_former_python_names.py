"""The verbs are functions of `sojourn`; a former name says the present one."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sojourn as sj
from sojourn.capacity import Capacity, CapacityRun, SearchLimits
from sojourn.check import CheckedLoad, CheckResult, Finding
from sojourn.cli.verbs import VERBS
from sojourn.compare import Comparison, MetricComparison
from sojourn.control.decision import Decision, Seen
from sojourn.control.over_hours import PolicyOverHours, PolicyWindow
from sojourn.control.replay import Replayed
from sojourn.diagnosis import Diagnosis, LoadLevel
from sojourn.diagnosis.oscillation import Oscillation
from sojourn.errors import InputError
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.plan.balance import Balance
from sojourn.plan.merge import Merged, Priority
from sojourn.plan.plan_result import Plan, PlannedConfiguration, Step
from sojourn.readers import Observation
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.trial.trial import Trial

# verbs whose work has another name, or no single function, from Python
ELSEWHERE = {
    "calc",
    "control",
    "cpu",
    "design",
    "doctor",
    "examples",
    "lab",
    "observe",
    "report",
    "serve",
    "study",
    "try",
    "ui",
}
FORMER = {
    "fit_model": "fit",
    "observe_runs": "fit",
    "http_load": "load",
    "execute": "load",
    "gain": "capacity_ratio",
    "Resource": "MeasuredResource",
    "MeasuredParameter": "ParameterFromRuns",
}


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - ELSEWHERE))
def test_a_verb_is_a_function_of_the_same_name(verb: str) -> None:
    assert verb in sj.__all__ and callable(getattr(sj, verb))


@pytest.mark.parametrize(("old", "new"), FORMER.items())
def test_a_former_name_works_and_says_the_new_one(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"sojourn\.{old} is now sojourn\.{new}") as told:
        assert callable(getattr(sj, old))
    assert told[0].filename == __file__ and old not in sj.__all__


# functions with former keywords and the present ones
KEYWORDS: list[tuple[Callable[..., Any], str, str]] = [
    (sj.validate, "up_to", "max_saturation_share"),
    (sj.validate, "changed", "changed_settings"),
    (sj.capacity_of_runs, "at_least_per_s", "required_rate_per_s"),
    (sj.capacity, "told", "on_text_line"),
    (sj.capacity, "on_line", "on_text_line"),
    (sj.capacity, "limits", "search_limits"),
    (sj.check, "format_name", "input_format"),
    (sj.cite, "name", "method"),
    (sj.compare, "margin", "equivalence_margin"),
    (sj.simulate, "max_seconds", "max_wall_time_s"),
    (sj.compare_simulated, "max_seconds", "max_wall_time_s"),
    (sj.diagnose, "full_per_s", "saturation_rate_of"),
    (sj.oscillation, "a", "shares_a"),
    (sj.oscillation, "b", "shares_b"),
    (sj.run_study, "only", "only_parts"),
    (sj.solve, "wanted", "requested_outputs"),
    (sj.solve, "budget_s", "exact_time_limit_s"),
    (sj.sweep, "wanted", "requested_outputs"),
    (sj.sweep, "budget_s", "exact_time_limit_s"),
    (sj.sweep, "path", "parameter_path"),
    (sj.capacity, "shown", "run_progress"),
    (sj.capacity, "report", "html_report"),
    (sj.capacity_ratio, "from_", "from_settings"),
    (sj.capacity_ratio, "to", "to_settings"),
    (sj.compare_simulated, "precision", "precision_of_each"),
    (sj.measure, "shown", "run_progress"),
    (sj.measure, "measured", "on_run"),
    (sj.measure, "cores", "service_runs_on_cores"),
    (sj.capacity, "cores", "service_runs_on_cores"),
    (sj.measure, "service_cores", "service_runs_on_cores"),
    (sj.measure, "interrupt_cores", "interrupts_arrive_on_cores"),
    (sj.capacity, "service_cores", "service_runs_on_cores"),
    (sj.measure, "others", "allow_other_levels"),
    (sj.measure, "beside_others", "tolerate_other_programs"),
    (sj.plan, "price", "miss_price"),
    (sj.read_traces, "sampled", "trace_share"),
    (sj.read_traces, "alike", "same_time_per_visit"),
    (sj.plan.balance, "quanta", "pieces_per_item"),
    (sj.plan.balance, "mean", "item_mean"),
    (sj.plan.balance, "deviation", "item_deviation"),
    (sj.plan.balance, "quantum_deviation", "piece_deviation"),
    (sj.run_study, "draw", "random_configurations"),
    (sj.run_study, "paths", "storage_paths"),
    (sj.two_class, "rate_per_s", "total_rate_per_s"),
    (sj.mmm, "rate_per_s", "total_rate_per_s"),
]
FIELDS = {
    (sj.ParameterFromRuns, "per"): ("divisor_metric", "throughput"),
    (sj.ParameterFromRuns, "at"): ("run_factors", {"users": 10}),
    (sj.ParameterFromRuns, "each"): ("one_value_per_run", True),
    (sj.ParameterFromRuns, "station"): ("metric_station", "cpu"),
    (sj.ParameterFromRuns, "cls"): ("metric_class", "user"),
    (sj.ParameterFromRuns, "formula"): ("model_formula", "a + b"),
    (sj.NumberByFactor, "of"): ("factor", "work"),
    (sj.Queue, "schedule"): ("server_schedule", ((0.0, 2),)),
    (sj.Queue, "period_s"): ("schedule_period_s", 60.0),
    (sj.Closed, "reference"): ("reference_station", "cpu"),
    (sj.Pool, "over"): ("held_over_stations", ("cpu",)),
    (sj.Case, "systems"): ("system_classes", {"desk": "one:Desk"}),
    (sj.Case, "commands"): ("command_functions", {"serve": {"desk": "one:desk"}}),
    (SearchLimits, "up_to_per_s"): ("max_rate_per_s", 100.0),
    (SearchLimits, "at_least_per_s"): ("required_rate_per_s", 90.0),
    (RequestedOutputs, "probabilities"): ("state_probabilities", 3),
    (sj.Set, "steering"): ("packet_steering", "spread"),
    (sj.Set, "why"): ("reason", "busy"),
    (Seen, "steering"): ("packet_steering", "one core"),
    (Seen, "at_s"): ("window_end_s", 4.0),
    (Seen, "ready"): ("ready_workers", 2),
    (Seen, "late"): ("metrics_late", True),
    (Finding, "weight"): ("severity", "note"),
    (Finding, "sure"): ("certainty", "likely"),
    (Finding, "said"): ("found", "5 of 7"),
    (Finding, "means"): ("meaning", "nothing"),
    (Diagnosis, "next"): ("next_step", "measure again"),
    (Diagnosis, "queue"): ("utilisation_by_waiting", (0.2, 0.4)),
    (Diagnosis, "full_per_s"): ("saturation_rate_per_s", (90.0, 80.0, None)),
    (Diagnosis, "resources"): ("busy_shares", {"cpu": 0.5}),
    (Diagnosis, "changing"): ("changing_times", "longer"),
    (Observation, "unknown"): ("missing_values", ("think time",)),
}
RESULTS: list[type[Any]] = [
    Capacity, CapacityRun, CheckResult, CheckedLoad, Comparison, Decision, Finding, FittedModelData, Method, MetricComparison, Observation,
    Oscillation, PlannedConfiguration, PolicyOverHours, PolicyWindow, Replayed, Trial, Balance, Merged, Priority, Plan, Step,
    sj.FittedModel,
]  # fmt: skip
LEVEL = LoadLevel(10.0, 10.0, 0.1, users=2)
# what they cannot be made without
NEEDED: dict[type[Any], dict[str, Any]] = {
    sj.ParameterFromRuns: {"metric": "throughput"},
    sj.NumberByFactor: {"factor": "work", "value": "get", "cases": {"get": 1.0}},
    sj.Queue: {"name": "cpu"},
    sj.Closed: {"name": "user", "population": 2},
    sj.Pool: {"name": "threads", "size": 2, "held_over_stations": ("cpu",)},
    Seen: {"window_end_s": 2.0, "window_s": 2.0, "workers": 1, "ready_workers": 1},
    Finding: {
        "law": "warm_up", "severity": "note", "certainty": "certain", "source": "x", "found": "", "meaning": "", "remedy": "",
        "numbers": {},
    },
    Observation: {"source": "x", "tool": "wrk"},
    Diagnosis: {"kind": "disk", "name": "vda", "sentence": "", "next_step": "", "top": LEVEL, "first": LEVEL},
}  # fmt: skip


@pytest.mark.parametrize(("function", "old", "new"), KEYWORDS)
def test_a_former_keyword_is_understood_and_the_new_one_is_said(
    function: Callable[..., Any], old: str, new: str
) -> None:
    parameters = inspect.signature(function).parameters
    assert new in parameters and old not in parameters
    with (
        pytest.warns(DeprecationWarning, match=rf"\({old}=…\) is now {new}=…") as told,
        pytest.raises(
            TypeError, match="unexpected keyword argument 'none'|missing"
        ),  # the former one was no such error
    ):
        function(**{old: 1}, none=1)
    assert told[0].filename == __file__


@pytest.mark.parametrize(("kind", "old"), FIELDS)
def test_a_former_field_is_understood_and_read(kind: type[Any], old: str) -> None:
    new, value = FIELDS[kind, old]
    needed = {name: one for name, one in NEEDED.get(kind, {}).items() if name != new}
    with pytest.warns(DeprecationWarning, match=rf"{kind.__name__}\({old}=…\) is now {new}=…") as told:
        made = kind(**needed, **{old: value})
    assert told[0].filename == __file__ and made == kind(**needed, **{new: value})
    with pytest.warns(DeprecationWarning, match=rf"{kind.__name__}.{old} is now {new}"):
        assert getattr(made, old) == value == getattr(made, new)
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize("kind", RESULTS)
def test_each_former_field_of_a_result_leads_to_one_of_today(kind: type[Any]) -> None:
    today = {one.name for one in dataclasses.fields(kind)}
    formers = [name for name, one in vars(kind).items() if isinstance(one, property) and "_reads" in str(one.fget)]
    assert formers and not today & set(formers)
    nothing = object.__new__(kind)
    for former in formers:
        with (
            pytest.warns(DeprecationWarning, match=rf"{kind.__name__}\.{former} is now ") as told,
            suppress(AttributeError),
        ):
            getattr(nothing, former)
        present = str(told[0].message).rpartition(" ")[2]
        assert present in today or isinstance(vars(kind).get(present), property), former


FORMER_KEYS = {
    "per": "divisor_metric", "each": "one_value_per_run", "at": "run_factors", "station": "metric_station", "of": "factor",
    "over": "held_over_stations", "schedule": "server_schedule", "period_s": "schedule_period_s", "reference": "reference_station",
}  # fmt: skip


def test_former_keys_of_a_model_file_are_read() -> None:
    text = (
        '[parameters]\nshare = { metric = "throughput", per = "throughput", each = true, at = { users = 10 }, station = "a" }\n'
        'keys = { of = "work", value = "get", cases = { get = 1 } }\n'
        '[stations.a]\nschedule = [[0, 1], [5, 2]]\nperiod_s = 9\n[stations.b]\nkind = "pool"\nsize = 2\nover = ["a"]\n'
        '[classes.u]\nkind = "closed"\npopulation = 1\nreference = "a"\n[service_s.a]\nu = 0.1\n'
    )
    now = text
    for old, new in FORMER_KEYS.items():
        now = now.replace(f"{old} =", f"{new} =")
    assert now != text and sj.Model.parse(text) == sj.Model.parse(now)


def test_load_is_a_function_and_its_room() -> None:
    assert isinstance(sj.load, ModuleType) and callable(sj.load.session_load)


@pytest.mark.parametrize(
    ("urls", "options", "message"),
    [
        ([], {}, "no URL"),
        ("http://127.0.0.1:1/", {}, "load: no load is given; give either --rate or --users"),
        ("http://127.0.0.1:1/", {"rate_per_s": 2.0, "users": 3}, r"a rate \(2\) and users \(3\)"),
        ("memcached://127.0.0.1:1", {"rate_per_s": -1.0}, "-1"),
        ("file:x", {"iops": -5.0}, "-5"),
    ],
)
def test_load_refuses_what_its_protocol_refuses(urls: object, options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sj.load(urls, Path("never"), **options)
    assert not Path("never").exists()


def test_fit_takes_folders(tmp_path: Path) -> None:
    with pytest.raises(sj.SojournError, match="no run folder"):
        sj.fit(
            [tmp_path],
            sj.Model.parse('[stations.a]\n[classes.u]\nkind = "open"\nrate_per_s = 1\n[service_s.a]\nu = 0.1\n'),
        )
