"""Runs the message study part by part into one folder; a run that is there is not run again.

First the reference and the calibration once, then a fit; the best configuration by each model is written down before it
is run, and before any other section. Then everything else in one order at random, the other repetitions of reference and
calibration among it. From these the models are fitted that are judged: a machine is not as fast in one minute as in the
next, and so all that the fit knows is of the same minutes as what it is judged by.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl

from sojourn.lab.registry import only_one
from sojourn.lab.topology import cores
from sojourn.study.folder import Say, open_study
from sojourn.study.judged import Judgement
from sojourn.study.messages.analysis import QUIET_CORES, undisturbed
from sojourn.study.messages.modelled import Outcome, Outcomes, judged, predicted
from sojourn.study.messages.models import CALIBRATION, REFERENCE, Best, Fitted, Regret, best, fit, regret
from sojourn.study.messages.plan import BEST, MODELS, MessagesPlan, read_messages_plan
from sojourn.study.messages.points import Point
from sojourn.study.messages.seen import CONFIGURATION, Seen, frame
from sojourn.study.points import kept, spread


class System(Protocol):
    """What runs points: this machine, or a simulation. `kind` says what it is, with the database's version."""

    @property
    def kind(self) -> str: ...
    def run(self, point: Point) -> Seen: ...


@dataclass
class MessagesFindings:
    """All that was found: rows of all sections, the fit, predictions by model, the best by each, and the regret."""

    folder: Path
    cores: int
    system: str = ""
    seen: pl.DataFrame = field(default_factory=lambda: frame([]))
    fitted: Fitted | None = None
    outcomes: Outcomes = field(default_factory=dict)
    models: list[Judgement[Outcome]] = field(default_factory=list)
    choices: list[Best] = field(default_factory=list)
    regrets: list[Regret] = field(default_factory=list)
    seconds: float = 0.0


def measure(plan: MessagesPlan, folder: Path, say: Say, system: System | None = None) -> MessagesFindings:
    """All parts of the plan. `system`: instead of this machine."""
    found = MessagesFindings(folder, len(cores()))
    started = time.monotonic()
    with ExitStack() as stack:
        if system is None:
            from sojourn.study.messages.live import LiveSystem

            stack.enter_context(only_one(f"study {plan.study.name}"))
            system = stack.enter_context(LiveSystem(folder, plan.study.load))
        found.system = system.kind
        _runs(plan, system, found, say)
    if found.seen.height:
        found.seen.write_csv(folder / "seen.csv")
    _models(plan, found)
    found.seconds = time.monotonic() - started
    return found


def _runs(plan: MessagesPlan, system: System, found: MessagesFindings, say: Say) -> None:
    rows: list[Seen] = []

    def run(name: str, points: list[Point]) -> None:
        say(f"{name}: {len(points)} runs")
        rows.extend(_once(found.folder, point, system, plan.study.load.tries, say) for point in points)
        found.seen = frame(rows)

    first = [p for p in plan.first() if p.section in plan.parts]
    fits = {REFERENCE, CALIBRATION} <= set(plan.parts)
    if early := [p for p in first if p.repetition == 1]:
        run("reference and calibration", early)
    if fits and BEST in plan.parts:
        _choose(plan, fit(undisturbed(found.seen)), found, say)
    shapes = dict.fromkeys(choice.shape for choice in found.choices)
    rest = [p for p in first if p.repetition > 1]
    rest += [p for shape in shapes for p in plan.best(shape.workers, shape.connections)]
    rest += [p for section in plan.sections() for p in plan.points(section)]
    if rest:
        run("all others, in one order at random", spread(rest, plan.study.load.seed))
    if fits:
        found.fitted = fit(undisturbed(_meanwhile(found.seen)))


def _meanwhile(seen: pl.DataFrame) -> pl.DataFrame:
    """Without the first repetitions of what is fitted, which were run before all others, if each of their points has
    another."""
    fitted = pl.col("section").is_in([REFERENCE, CALIBRATION])
    repeated = seen.filter(fitted).group_by("section", *CONFIGURATION).agg(pl.col("repetition").max() > 1)
    return seen.filter(~fitted | (pl.col("repetition") > 1)) if repeated["repetition"].all() else seen


def _once(folder: Path, point: Point, system: System, tries: int, say: Say) -> Seen:
    """The row kept in the folder, or a new one: of several tries the least disturbed, up to the first that was not."""

    def run() -> Seen:
        rows = [system.run(point)]
        while disturbed(rows[-1]) and len(rows) < tries:
            say(f"  {point.name}: others used {rows[-1].others_cores:.2f} cores meanwhile; once more")
            rows.append(system.run(point))
        return min(rows, key=lambda row: row.others_cores)

    row, now = kept(folder / "points" / f"{point.name}.json", Seen, run)
    if now:
        trouble = "".join(f", {n} {what}" for n, what in ((row.wrong, "wrong"), (row.errors, "errors")) if n)
        say(f"  {point.name}: {row.throughput_per_s:.0f}/s, {1e3 * row.response_s:.3f} ms" + trouble)
    return row


def disturbed(row: Seen) -> bool:
    """Other processes of this machine used more of its cores than they may; never where that is not known."""
    return row.others_cores > QUIET_CORES


def _choose(plan: MessagesPlan, fitted: Fitted, found: MessagesFindings, say: Say) -> None:
    """The best by each of our models, written down before it is run."""
    r, most = plan.study.reference, plan.study.best
    for name, database in fitted.parallelisms.items():
        choice = best(
            fitted.demands_of(name), database, plan.best_clients, r.retry_s, most.workers_most, most.connections_most
        )  # fmt: skip
        found.choices.append(choice)
        say(f"  best by {name}: {choice.shape.workers} workers, {choice.shape.connections} connections")
    written = json.dumps([asdict(choice) for choice in found.choices], indent=1)
    (found.folder / "best.json").write_text(written + "\n")


def _models(plan: MessagesPlan, found: MessagesFindings) -> None:
    if found.fitted is None or MODELS not in plan.parts:
        return
    seen = undisturbed(found.seen)
    found.outcomes = predicted(seen, found.fitted)
    found.models = judged(seen, found.outcomes)
    same = (pl.col("middlewares") == 1) & (pl.col("section") != CALIBRATION)
    same &= (pl.col("clients") == plan.best_clients) & (pl.col("retry_s") == plan.study.reference.retry_s)
    grid = seen.filter(same)
    found.regrets = [regret(choice, grid) for choice in found.choices]


def run_messages(
    path: Path, *, out: Path | None, quick: bool, only: tuple[str, ...], seed: int | None, say: Say
) -> tuple[MessagesPlan, MessagesFindings]:
    """Reads, measures, keeps.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    plan = read_messages_plan(path, quick=quick, only=only, seed=seed)
    folder = open_study(out, plan, say)
    return plan, measure(plan, folder, say)
