"""A study file that is right, and each way in which one is wrong."""

from pathlib import Path

import pytest

from sojourn.errors import LabError, StudyError
from sojourn.study.plan import read_plan
from sojourn.testbed.web import Demand, choose_demand

STUDY = Path(__file__).parents[2] / "studies/web/study.toml"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = STUDY.read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    return tmp_path


def test_the_web_study_is_right_and_quick_is_quicker() -> None:
    plan, quick = read_plan(STUDY.parent), read_plan(STUDY, quick=True)
    assert plan.study.load.seconds > quick.study.load.seconds
    assert plan.fingerprint != quick.fingerprint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[load]", "[load]\nsecond = 3", r"load.second.*Extra"),
        ('name = "web"', 'name = "web"\ncolour = "red"', r"colour: Extra.*known keys here: name, title"),
        ("seconds = 25 ", 'seconds = "long" ', r"load.seconds: .*number"),
        ("connections = 512", "connections = 0", "load.connections"),
        ('testbed = "web"', 'testbed = "wob"', "testbed 'wob' is not one of"),
        (
            '[fit]\nconfiguration = "interrupts on core 0"',
            '[fit]\nconfiguration = "c"',
            "configuration 'c' is not one of",
        ),
        ("load_shares = [0.2, 0.35, 0.5, 0.65, 0.8]", "load_shares = [1.5]", "between 0 and 1"),
        ('path = "/item/7"', 'path = "item"', "service.path"),
        ('page = "exponential"', 'page = "normal"', "demand.page"),
        ("[lab]", "[lab", "line"),
    ],
)
def test_a_broken_study_names_the_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        read_plan(changed(tmp_path, old, new))


def test_no_such_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="give a study file"):
        read_plan(tmp_path / "nothing")


def test_demands_follow_the_rule_n_greater_than_one_plus_a_over_s() -> None:
    for cores in (2, 4, 16):
        demand = choose_demand(
            Demand(interrupt_s="auto", page_s="auto", interrupt="deterministic", page="exponential"), cores
        )
        assert cores > 1 + float(demand.page_s) / float(demand.interrupt_s)


def test_a_demand_out_of_range_is_named() -> None:
    with pytest.raises(LabError, match=r"interrupt_s = 3.0"):
        choose_demand(Demand(interrupt_s=3.0, page_s="auto", interrupt="deterministic", page="exponential"), 2)
