"""A load run with a live view, its summary printed, its verdict as exit code."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer
from sojourn.cli.live_view import live
from sojourn.cli.output_format import OutputFormat
from sojourn.errors import LoadError, ServiceError
from sojourn.runs.manifest import Manifest
from sojourn.runs.run_folder import RunFolder
from sojourn.table import Metrics
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.measure.agents import AgentLoad
    from sojourn.query.objectives import Objective

ALSO = ("found", "demands_s", "warnings", "not_valid_for")


def perform(
    config: dict[str, Any], out: Path | None, form: OutputFormat, objectives: Sequence[Objective] = (),
    agents: AgentLoad | None = None,
) -> None:  # fmt: skip
    """Runs the load with a live view, and prints its summary, cut off or not.

    Raises:
        LoadError, ServiceError: for a run that is not valid. ObjectiveMissed: for a valid one.
    """
    from sojourn.measure.load_once import executed

    where = Path(tempfile.mkdtemp(prefix="sojourn-load-")) / "run" if out is None else out
    try:
        with live("load") as view:
            what = {"name": where.name, **_allowed(objectives)}
            if agents is None:
                folder = executed(where, config, what, view)
            else:
                from sojourn.measure.agents import execute_on_agents  # with the workers of `sojourn.parallel`

                folder = execute_on_agents(where, config, agents, what=what, progress=view)
        from sojourn.query.objectives import demand_met, judge  # what ends a run is imported when it has ended

        found = judge(folder, objectives, whole=True)
        summary = _summary(json.loads(json.dumps(folder.manifest, default=str)))  # as it was written
        assert summary is not None, "a run that ended without an error has a summary"
        tell(summary | ({"objectives": found} if found else {}), form, where)
    except KeyboardInterrupt:
        if (summary := summary_of(where)) is not None:
            tell(summary, form, where)
        raise
    finally:
        if out is None:
            shutil.rmtree(where.parent, ignore_errors=True)
    end(summary["reasons"], "load")
    demand_met(found, "load")


def _allowed(objectives: Sequence[Objective]) -> dict[str, float]:
    """For the manifest: the share of requests that may fail by the objectives."""
    if not objectives:
        return {}
    from sojourn.query.objectives import failures_allowed

    share = failures_allowed(objectives)
    return {"failures_allowed": share} if share else {}


def summary_of(where: Path) -> dict[str, Any] | None:
    """What the generator said at its end, with the verdict of the run and how many requests its schedule stands for; None
    if it had not begun."""
    if not (where / "manifest.json").exists():
        return None
    return _summary(RunFolder.open(where).manifest)


def _summary(manifest: Manifest) -> dict[str, Any] | None:
    generator = manifest.get("generator")
    if not generator:
        return None
    told = {key: value for key, value in generator.items() if key != "in_flight"}
    if "sessions" in told:
        from sojourn.runs.session_mix import AWAY, MIX, STEPS

        checks = manifest.get("checks") or {}
        told["sessions"] |= {
            "transitions_p_value": checks.get(STEPS), "mix_p_value": checks.get(MIX), "mix_from_stationary": checks.get(AWAY),
        }  # fmt: skip
    if agents := manifest.get("agents"):
        told["agents"] = agents
    told |= {key: manifest[key] for key in ALSO if manifest.get(key)}  # type: ignore[literal-required]
    return told | {key: manifest[key] for key in ("valid", "reasons", "status")} | expectation(manifest)


def expectation(manifest: Manifest) -> dict[str, Any]:
    """The count of requests that a Poisson schedule is expected to have, and its standard deviation."""
    lanes, whole = manifest["load"]["lanes"], manifest["status"] == "complete"
    arrivals = [lane.get("arrivals") or {} for lane in lanes]
    if not whole or any(one.get("kind") != "poisson" for one in arrivals):
        return {}
    mean = sum(one["rate_per_s"] for one in arrivals) * manifest["load"]["duration_s"]
    return {"expected": {"requests": mean, "deviation": mean**0.5}}


def tell(summary: dict[str, Any], form: OutputFormat, where: Path) -> None:
    """Prints the summary as one JSON object or as a table, or the Metrics of the run as CSV."""
    if form.as_json:
        say_answer("load", summary)
    elif form.as_csv:
        if (where / "metrics.parquet").exists():
            say(Metrics.read(where / "metrics.parquet").frame.write_csv(), end="")
    else:
        from sojourn.cli.load_table import show

        show(summary, console())


def end(reasons: Sequence[str], verb: str) -> None:
    """Ends with the exit code of a run that is not valid: 5 if the service failed, else 3.

    Raises:
        LoadError, ServiceError: for those two.
    """
    from sojourn.runs.assess_run import service_failed

    if failed := [reason for reason in reasons if service_failed(reason)]:
        raise ServiceError(failed[0], verb, "see the failures above")
    for reason in reasons:
        remedy = (
            "the figures above do not describe the service"
            if "generator" in reason
            else "the figures above are unreliable"
        )
        raise LoadError(f"not valid, {reason}", verb, remedy)
