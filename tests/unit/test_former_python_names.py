"""The verbs are functions of `sojourn`; a former name says the present one."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sojourn as sj
from sojourn.capacity import SearchLimits
from sojourn.cli.verbs import VERBS
from sojourn.errors import InputError
from sojourn.solve.method import RequestedOutputs

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


# former keywords: the present ones, and a call with the other arguments that it needs
KEYWORDS = {
    "up_to": ("max_saturation_share", lambda **given: sj.validate(None, None, **given)),
    "at_least_per_s": ("required_rate_per_s", lambda **given: sj.capacity_of_runs(["no folder"], **given)),
}
FIELDS = {
    (sj.ParameterFromRuns, "per"): ("divisor_metric", "throughput"),
    (sj.ParameterFromRuns, "at"): ("run_factors", {"users": 10}),
    (sj.ParameterFromRuns, "each"): ("one_value_per_run", True),
    (SearchLimits, "up_to_per_s"): ("max_rate_per_s", 100.0),
    (SearchLimits, "at_least_per_s"): ("required_rate_per_s", 90.0),
    (RequestedOutputs, "probabilities"): ("state_probabilities", 3),
}


@pytest.mark.parametrize("old", KEYWORDS)
def test_a_former_keyword_is_understood_and_the_new_one_is_said(old: str) -> None:
    new, call = KEYWORDS[old]
    with pytest.warns(DeprecationWarning, match=rf"\({old}=…\) is now {new}=…"), pytest.raises(InputError):
        call(**{old: -1.0})


@pytest.mark.parametrize(("kind", "old"), FIELDS)
def test_a_former_field_is_understood_and_read(kind: type[Any], old: str) -> None:
    new, value = FIELDS[kind, old]
    needed = {"metric": "throughput"} if kind is sj.ParameterFromRuns else {}
    with pytest.warns(DeprecationWarning, match=rf"{kind.__name__}\({old}=…\) is now {new}=…") as told:
        made = kind(**needed, **{old: value})
    assert told[0].filename == __file__ and made == kind(**needed, **{new: value})
    with pytest.warns(DeprecationWarning, match=rf"{kind.__name__}.{old} is now {new}"):
        assert getattr(made, old) == value == getattr(made, new)
    assert pickle.loads(pickle.dumps(made)) == made


def test_former_keys_of_a_model_file_are_read() -> None:
    text = (
        '[parameters]\nshare = { metric = "throughput", PER = "throughput", EACH = true, AT = { users = 10 } }\n'
        '[stations.a]\n[classes.u]\nkind = "open"\nrate_per_s = 1\n[service_s.a]\nu = 0.1\n'
    )
    now = text.replace("PER", "divisor_metric").replace("EACH", "one_value_per_run").replace("AT", "run_factors")
    assert sj.Model.parse(text.replace("PER", "per").replace("EACH", "each").replace("AT", "at")) == sj.Model.parse(now)


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
