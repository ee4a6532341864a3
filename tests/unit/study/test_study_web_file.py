"""The web studies' files are right, and each way in which one is wrong."""

from pathlib import Path

import polars as pl
import pytest

from sojourn.errors import InputError, LabError, StudyError
from sojourn.lab.backends import LoopbackBackend
from sojourn.lab.cpu_topology import cores
from sojourn.study.checked_study import read_plan
from sojourn_cases.web import web_shop
from sojourn_cases.web.web_service import KnownDemand, choose_demand

ROOT = Path(__file__).parents[3]
STUDY = ROOT / "studies/web/study.toml"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = STUDY.read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    return tmp_path


def test_the_web_study_is_right_and_quick_is_quicker() -> None:
    plan, quick = read_plan(STUDY.parent), read_plan(STUDY, quick=True)
    assert len(plan.measured) > len(quick.measured)
    assert plan.study.load["for"] > quick.study.load["for"]
    assert plan.fingerprint != quick.fingerprint


def test_without_interrupts_what_needs_them_is_left_out(tmp_path: Path) -> None:
    path = changed(tmp_path, 'kind = "auto" ', 'kind = "loopback" ')
    plan = read_plan(path)
    assert plan.predicted == [] or len(cores()) == 1
    assert plan.not_shown[0] == "loopback was asked for"
    if len(cores()) > 1:
        assert (
            f"interrupts spread: it needs {min(len(cores()), 4)} NICs, and loopback has {LoopbackBackend.most_nics}"
            in plan.not_shown
        )
    assert {point.factors["interrupt_s"] for point in plan.measured} == {0.0}


def test_who_has_no_rights_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_shop, "why_not_namespaces", lambda: ["root: no (run as root)"])
    assert read_plan(STUDY).not_shown[0] == "root: no (run as root)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[load]", "[load]\nsecond = 3", r"load.second: unknown key 'second'"),
        (
            'name = "web"',
            'name = "web"\ncolour = "red"',
            r"study.toml:\d+: colour: unknown key 'colour'; use one of name, title",
        ),
        ("for = 25 ", 'for = "long" ', r"load.for: .*"),
        ("connections = 512", "connections = 0", "load.connections"),
        ('kind = "web"', 'kind = "wob"', "system.kind = 'wob'"),
        ('model = "web-models"', 'model = "web-model"', "fit.model = 'web-model'.*web-models"),
        ("vary.share = [0.2, 0.35, 0.5, 0.65, 0.8]", "vary.share = [2.5]", "share = 2.5"),
        ('path = "/item/7"', 'path = "item"', "system.path"),
        ('page = "exponential"', 'page = "normal"', "system.page"),
        ("nics = 0 }", "nics = 9 }", "nics = 9; give a value in"),
        ("[load]", "[load", "line"),
    ],
)
def test_a_broken_study_names_the_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        read_plan(changed(tmp_path, old, new))


def test_no_such_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="give a study file"):
        read_plan(tmp_path / "nothing")


def test_demands_follow_the_rule_n_greater_than_one_plus_a_over_s() -> None:
    for count in (2, 4, 16):
        demand = choose_demand(KnownDemand(interrupt_s="auto", page_s="auto"), count)
        assert count > 1 + float(demand.page_s) / float(demand.interrupt_s)


def test_a_demand_out_of_range_is_named() -> None:
    with pytest.raises(LabError, match=r"interrupt_s = 3.0"):
        choose_demand(KnownDemand(interrupt_s=3.0, page_s="auto"), 2)


def test_the_virtual_studies_have_the_document_s_sizes() -> None:
    """Chen et al., Table 2: mu2 by number of cores; section 4.3: mu1; Table 3: its nine configurations."""
    data = ROOT / "tests/published/data"
    rates = pl.read_csv(data / "chen_table2_mu2.csv")
    mu2 = dict(zip(rates["cores"], rates["mu2_req_per_s"], strict=True))
    sizes = pl.read_csv(data / "chen_table3_relative_errors.csv").drop_nulls("cores")
    for name in ("study.toml", "free.toml"):
        plan = read_plan(ROOT / "studies/web-virtual" / name)
        points = [point.factors for point in (*plan.measured, *plan.predicted)]
        assert {(f["nics"], f["cores"]) for f in points} == {
            (int(n), int(c)) for n, c in sizes.select("nics", "cores").iter_rows()
        }
        for factors in points:
            assert 1 / float(factors["page_s"]) == pytest.approx(mu2[factors["cores"]], rel=1e-4)
            assert 1 / float(factors["interrupt_s"]) == pytest.approx(3301, rel=1e-4)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("crossing_s = 1e-4", "crossing = 1e-4", "system.crossing"),
        ("page_s = 2.7248e-3", "page_s = -1.0", "1 core 1 NIC: set, vary: page_s = -1.0"),
        ("cores = 2, nics = 2", "cores = 2, nics = 3", "2 cores 2 NICs: set, vary: nics = 3; give 1 to 2"),
        ('variants = ["priority"', 'variants = ["best"', "variants"),
    ],
)
def test_mistakes_in_a_virtual_study(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = (ROOT / "studies/web-virtual/study.toml").read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=words):
        plan = read_plan(tmp_path)
        assert plan.template is not None and plan.study.fit is not None
        plan.template.fit([], 1, plan.study.fit.options)
