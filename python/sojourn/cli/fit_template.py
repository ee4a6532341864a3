"""`sojourn fit RUNS --model web-models`: the models of a case, as its studies fit them."""

from __future__ import annotations

from pathlib import Path

from sojourn.cases import known
from sojourn.cli.run_folders import run_paths
from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.terminal import say
from sojourn.units import percent


def fit_template(name: str, runs: list[Path], out: Path, seed: int) -> None:
    """Fits the models that a case has by this name, says why one is taken or all are averaged, and writes that to `out`.

    Raises:
        InputError: no case has such a name. FitError: the runs do not carry them.
    """
    from sojourn.runs.run_folder import RunFolder
    from sojourn.study.fit_templates import template_of
    from sojourn.study.verdict import estimate_text

    there = known("fit_templates", {})
    if name not in there:
        remedy = f"give a model file, auto, demands, or models of a case: {meant(name, there)}"
        raise InputError(repr(name), "--model", remedy)
    rivals = template_of(name, Path(), out).fit([RunFolder.open(path) for path in run_paths(runs)], seed, {})
    fitted = rivals.first
    fitted.write(out)
    for line in rivals.notes or (rivals.why,):
        say(line)
    say(f"{rivals.best}, intervals at {percent(fitted.level, 0)}")
    for path, estimate in fitted.estimates.items():
        say(f"  {path}  {estimate_text(estimate)}")
    for line in filter(None, fitted.message.splitlines()):
        say(f"  {line}")
    say(f"written to {out}")
