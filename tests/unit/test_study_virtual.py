"""A study on a virtual host from its file to its report: small, in simulated time."""

from pathlib import Path

import polars as pl
import pytest

from sojourn.errors import StudyError
from sojourn.measure.folder import RunFolder
from sojourn.study import StudyResult, read_plan, run_study
from sojourn.study.judge import all_errors
from sojourn.study.phases import Findings
from sojourn.study.truth import covered
from sojourn.table import Metrics
from sojourn.testbed import VirtualTestbed
from sojourn.validate import table3_text

STUDY = """
name = "tiny"
title = "Tiny"
testbed = "virtual"
[lab]
kind = "virtual"
[service]
crossing_s = 2e-4
[demand]
interrupt_s = 5e-4
page_s = 3e-3
[load]
seconds = 20
[[configuration]]
name = "two cores, one NIC"
cores = 2
[[configuration]]
name = "two cores, two NICs"
cores = 2
nics = 2
[[configuration]]
name = "one core"
cores = 1
demand = { page_s = 2e-3 }
[fit]
configuration = "two cores, one NIC"
also = ["one core"]
load_shares = [0.3, 0.5, 0.65, 0.8]
variants = ["priority"]
[[predict]]
configuration = "two cores, two NICs"
load_shares = [0.3, 0.6]
[saturation]
users = 32
seconds = 20
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("virtual") / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def study(file: Path) -> StudyResult:
    return run_study(file, out=file.parent / "out", say=lambda text: None)


def found(study: StudyResult) -> Findings:
    return study.findings


def test_known_demands_come_back(study: StudyResult) -> None:
    two, one = found(study).groups
    for group, page_s in ((two, 3e-3), (one, 2e-3)):
        fitted = group.fits["priority"].parameters
        assert 1 / fitted["mu1_per_s"].value == pytest.approx(5e-4, rel=0.02)
        assert 1 / fitted["mu2_per_s"].value == pytest.approx(page_s, rel=0.05)


def test_saturation_is_where_the_law_has_it(study: StudyResult) -> None:
    """m/(S + p A): one NIC, p = 1/2: 500/s; two NICs: 571/s; one core of 2 ms pages: 400/s; within 5 % (20 s)."""
    two, one = found(study).groups
    assert two.baseline_saturation and one.baseline_saturation and two.predictions[0].saturation
    assert two.baseline_saturation.value == pytest.approx(500, rel=0.05)
    assert two.predictions[0].saturation.value == pytest.approx(2 / 3.5e-3, rel=0.05)
    assert one.baseline_saturation.value == pytest.approx(400, rel=0.05)


def test_the_verdict_and_the_report_say_what_is_known(study: StudyResult) -> None:
    text = "\n".join(study.verdict)
    for words in (
        "known: interrupt 500 µs, page 3.00 ms",
        "truth known:",
        "the model's own error",
        "Num. of Cores",
        "before it was run",
    ):
        assert words in text, words
    html = study.report.read_text()
    for words in (
        "error with the truth known",
        "one core: which model, and why",
        "The virtual hosts",
        "Relative errors, priority",
    ):
        assert words in html, words


def test_table_3_has_every_configuration(study: StudyResult) -> None:
    assert table3_text(all_errors(found(study), "priority")).splitlines()[1].split() == [
        "Num.",
        "of",
        "Cores",
        "1",
        "2",
        "2",
    ]


def test_the_models_own_error_is_small_where_the_model_fits(study: StudyResult) -> None:
    truth = found(study).truth
    assert truth is not None
    error = truth.own_error()
    assert error is not None and error[0] < 0.03
    assert truth.said_saturated == (0, 10)
    busy = truth.own_error("lead_busy")
    assert busy is not None and busy[0] < 0.01


def test_runs_are_run_folders_that_say_simulated(study: StudyResult) -> None:
    run = found(study).baseline_runs[0]
    again = RunFolder.open(run.path)
    assert again.manifest["simulated"] and again.manifest["lab"] == {"kind": "virtual"}
    assert Metrics.read(run.path / "metrics.parquet").frame["source"].unique().to_list() == ["simulated"]
    assert (study.folder / "fitted.toml").exists() and (study.folder / "fitted-one-core.toml").exists()


def test_a_seed_repeats_a_run(study: StudyResult, file: Path, tmp_path: Path) -> None:
    run = found(study).baseline_runs[0]
    rate, seed = run.manifest["factors"]["rate_per_s"], run.manifest["seed"]
    plan = read_plan(file)
    again = VirtualTestbed.run(
        tmp_path / "again", plan.host(found(study).baseline), rate_per_s=rate, users=0, duration_s=20.0,
        timeout_s=10.0, seed=seed, manifest={},
    )  # fmt: skip
    for name in ("requests", "host", "app"):
        one, two = run.frame(name), again.frame(name)
        assert one is not None and two is not None and one.equals(two)


def test_runs_that_are_there_are_not_repeated(study: StudyResult, file: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (study.folder / "runs").glob("*/manifest.json")}
    resumed = run_study(file, out=study.folder, say=lambda text: None)
    assert {p: p.stat().st_mtime_ns for p in (study.folder / "runs").glob("*/manifest.json")} == before
    assert resumed.findings.observations.equals(found(study).observations)


def test_coverage_names_truth_value_and_interval(study: StudyResult, file: Path) -> None:
    plan = read_plan(file)
    group = found(study)
    rows = covered("two", group.fits["priority"], plan.host(group.baseline))
    assert [(row.name, row.truth) for row in rows] == [
        ("interrupt", pytest.approx(5e-4)),
        ("page", pytest.approx(3e-3)),
        ("crossing", 2e-4),
    ]
    assert all(row.low <= row.value <= row.high for row in rows)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "virtual"', 'kind = "loopback"', "'virtual' goes with 'virtual'"),
        ("cores = 1\n", "cores = 0\n", "give each configuration cores and nics"),
        ('also = ["one core"]', 'also = ["three cores"]', "fit.also: 'three cores' is not one of"),
        ("crossing_s = 2e-4", "crossing = 2e-4", "service.crossing"),
        ("demand = { page_s = 2e-3 }", "demand = { page_s = -1 }", "one core: demand.page_s"),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises(StudyError, match=words):
        read_plan(tmp_path)


def test_the_shipped_studies_are_the_documents_sizes() -> None:
    """Chen et al., Table 2: mu2 by number of cores; section 4.3: mu1; Table 3: its nine configurations."""
    root = Path(__file__).parents[2]
    rates = pl.read_csv(root / "tests/published/data/chen_table2_mu2.csv")
    mu2 = dict(zip(rates["cores"], rates["mu2_req_per_s"], strict=True))
    sizes = pl.read_csv(root / "tests/published/data/chen_table3_relative_errors.csv").drop_nulls("cores")
    for name in ("study.toml", "free.toml"):
        plan = read_plan(root / "studies/web-virtual" / name)
        assert {(c.nics, c.cores) for c in plan.study.configuration} == {
            (int(n), int(c)) for n, c in sizes.select("nics", "cores").iter_rows()
        }
        for c in plan.study.configuration:
            demand = plan.demand_of(c)
            assert 1 / demand.page_s == pytest.approx(mu2[c.cores], rel=1e-4)
            assert 1 / demand.interrupt_s == pytest.approx(3301, rel=1e-4)
