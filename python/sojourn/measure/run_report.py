"""Run folders as a report: what came out and what limits it, response times, errors over time, what was run, where and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sojourn.diagnosis import Diagnosis, Rate, summary
from sojourn.diagnosis import lines as limit_lines
from sojourn.diagnosis.load_levels import diagnose, load_of
from sojourn.diagnosis.oscillation_section import oscillation_section
from sojourn.errors import InputError
from sojourn.measure.agents_section import agents_section
from sojourn.measure.run_figures import errors_section, measured_section
from sojourn.report import Document, Section, Table, Text
from sojourn.runs.assess_run import PULSE
from sojourn.runs.disturbances import BESIDE, beside_text
from sojourn.runs.manifest import Manifest
from sojourn.runs.run_folder import RunFolder
from sojourn.units import interval, per_second, percent, seconds

FullRate: TypeAlias = "Callable[[Mapping[str, Any]], Rate | None]"
MOST_NAMED = 3
TIMES = "Response times: from when a request was due until its answer arrived at this host."


def runs_document(paths: Sequence[Path], model: Section | None = None, full_per_s: FullRate | None = None) -> Document:
    """A report of the runs at `paths`; `model`: what a fitted model says of them; `full_per_s`: factors of a run → the rate at which it is
    full by that model, with its interval."""
    runs = [RunFolder.open(path) for path in paths]
    invalid = [run for run in runs if not run.manifest.get("valid")]
    found, beside = diagnose(runs, full_per_s), beside_text(runs)
    seen = [model, measured_section(runs, found), oscillation_section(runs), errors_section(runs)]
    sections = [*seen, runs_section(runs), agents_section(runs), where_section(runs)]
    return Document(
        title=", ".join(targets(runs)[:MOST_NAMED]) or "Measured runs",
        subtitle=", ".join(sorted({run.path.parent.name for run in runs})),
        verdict=[*_came_out(found, len(runs) - len(invalid), len(runs)), *_why(invalid), *filter(None, [beside])],
        status="warn" if invalid or beside else "ok",
        sections=tuple(section for section in sections if section is not None),
        footer={"kernel": str(runs[0].manifest.get("machine", {}).get("kernel", "")), "runs": str(len(runs))},
        numbers=_of_one_run(runs[0]) if len(runs) == 1 else _numbers(found),
    )


def run_document(run: RunFolder) -> Document:
    """The report of one run."""
    return runs_document([run.path])


def measured_document(runs: Sequence[RunFolder]) -> Document:
    """The report of the runs of one measurement. Raises InputError where there is none."""
    if not runs:
        raise InputError("no run", "report", "measure at least one load")
    return runs_document([run.path for run in runs])


def _numbers(found: Mapping[str, Diagnosis]) -> tuple[tuple[str, str], ...]:
    """Of the only setting: the response time at the highest load, and where it is full."""
    if len(found) != 1:
        return ()
    (one,) = found.values()
    top = one.top
    told = [(seconds(top.response_s), f"mean response time at {per_second(top.throughput_per_s)}")]
    if one.saturation_rate_per_s is not None:
        told.append((interval(*one.saturation_rate_per_s, "1/s"), "where it is full"))
    return tuple(told)


def _of_one_run(run: RunFolder) -> tuple[tuple[str, str], ...]:
    known = _known(run)
    told = (
        (seconds, ("response_time", None), "mean response time"), (seconds, ("response_time_quantile", 0.99), "99 % are answered within"),
        (per_second, ("throughput", None), "are answered"),
    )  # fmt: skip
    return tuple((shown(known[key]), what) for shown, key, what in told if known.get(key) is not None)


def _came_out(found: Mapping[str, Diagnosis], valid: int, count: int) -> list[str]:
    heads = [f"{setting}: {summary(one)}" if setting else summary(one) for setting, one in found.items()]
    limits = limit_lines(found)
    return [*heads, *limits, f"{valid} of {count} runs are valid"]


def _why(invalid: Sequence[RunFolder]) -> list[str]:
    return [f"{run.path.name}: {'; '.join(run.manifest.get('reasons', []))}" for run in invalid]


def targets(runs: Sequence[RunFolder]) -> list[str]:
    """What was asked, each once."""
    lanes = [lane for run in runs for lane in run.manifest.get("load", {}).get("lanes", [])]
    urls = [str(target.get("url", "")) for lane in lanes for target in lane.get("targets", [])]
    return list(dict.fromkeys(filter(None, urls)))


def runs_section(runs: Sequence[RunFolder]) -> Section:
    """Load, throughput, response time and verdict of each run, in the order of the load."""
    columns = ("run", "load", "throughput", "mean", "p50", "p90", "p99", "failed", "valid")
    rows = tuple(_row(run) for run in sorted(runs, key=lambda run: (load_of(run), run.path.name)))
    why = "\n".join(f"- {line}" for line in _why([run for run in runs if not run.manifest.get("valid")]))
    reasons = (Text(f"**Why runs are not valid**\n\n{why}"),) if why else ()
    return Section("Runs", "", (Table("Runs", columns, rows), *reasons, Text(f"{TIMES} {validity_rule(runs)}")))


def validity_rule(runs: Sequence[RunFolder]) -> str:
    """When a run is valid, with what of it was not checked."""
    steady = "" if runs and all(run.manifest.get(PULSE) for run in runs) else ", and the response time was stationary"
    kept = f"A run is valid if the generator kept its schedule{steady}"
    real = [run for run in runs if not run.manifest.get("simulated")]
    unknown = [run for run in real if run.manifest.get("checks", {}).get("others") is None]
    beside = [run for run in real if run.manifest.get(BESIDE)]
    if real and len(beside) == len(real):
        return (
            f"{kept}. Other programs do not make these runs invalid; where they used much CPU time, the report says so."
        )
    if not unknown:
        return f"{kept}, and no other programs used the machine.{_but(beside, real)}" if real else f"{kept}."
    which = "" if len(unknown) == len(real) else f" in {len(unknown)} of {len(real)} runs"
    return f"{kept}. It was not checked whether other programs used the machine{which}, because the service's processes are not known."


def _but(beside: Sequence[RunFolder], real: Sequence[RunFolder]) -> str:
    """Of some runs of several that is not asked."""
    return f" In {len(beside)} of {len(real)} runs other programs were allowed." if beside else ""


def _row(run: RunFolder) -> tuple[str, ...]:
    load = load_of(run)
    users = "users" in run.manifest.get("factors", {})
    known = _known(run)
    return (
        run.path.name, f"{load:g} users" if users else per_second(load), per_second(known.get(("throughput", None))),
        seconds(known.get(("response_time", None))), *(seconds(known.get(("response_time_quantile", q))) for q in (0.5, 0.9, 0.99)),
        percent(run.manifest.get("checks", {}).get("failed share")),
        "yes" if run.manifest.get("valid") else "no",
    )  # fmt: skip


def _known(run: RunFolder) -> dict[tuple[str, float | None], float]:
    """Metrics of the whole run, by name and quantile."""
    if not run.has("metrics"):
        return {}
    frame = run.metrics().frame
    whole = frame.filter((frame["station"] == "") & (frame["class"] == ""))
    return {(r["metric"], r["q"]): r["value"] for r in whole.iter_rows(named=True)}


def where_section(runs: Sequence[RunFolder]) -> Section:
    """What was run, where and when: of all runs, each answer once."""
    rows = tuple((name, said) for name, said in _facts(runs).items() if said)
    return Section("What was run, where and when", "", (Table("", ("", ""), rows),))


def _facts(runs: Sequence[RunFolder]) -> dict[str, str]:
    said = [run.manifest for run in runs]
    machines = [m.get("machine", {}) for m in said]
    starts, ends = (sorted(str(m[key].get("wall", "")) for m in said if m.get(key)) for key in ("start", "end"))
    return {
        "asked": ", ".join(targets(runs)),
        "load": _each(_load(m) for m in said),
        "each run": _each(f"{m['load']['duration_s']:g} s" for m in said if m.get("load", {}).get("duration_s")),
        "watched": _each(", ".join(_watched(m)) for m in said),
        "service's cores": _each(", ".join(map(str, (m.get("placement") or {}).get("server", ()))) for m in said),
        "host": _each(
            f"{m.get('cores', '?')} cores, {m.get('architecture', '')}, {m.get('kernel', '')}" for m in machines
        ),
        "sojourn": _each(str(m.get("sojourn", "")) for m in machines),
        "from": starts[0] if starts else "",
        "to": ends[-1] if ends else "",
        "seeds": _each(str(m.get("load", {}).get("seed", m.get("seed", ""))) for m in said),
    }


def _load(manifest: Manifest) -> str:
    if manifest.get("simulated"):
        return "simulated"
    lanes = manifest.get("load", {}).get("lanes", [])
    if any(lane.get("closed") for lane in lanes):
        think = next(lane["closed"] for lane in lanes if lane.get("closed")).get("think_s")
        return "a closed loop of users" + (
            f" who think {seconds(think)}" if isinstance(think, int | float) and think else ""
        )
    kinds = {str(lane["arrivals"].get("kind", "")) for lane in lanes if lane.get("arrivals")}
    return f"an open loop, {', '.join(sorted(kinds))} arrivals" if kinds else ""


def _watched(manifest: Manifest) -> list[str]:
    return list(manifest.get("resources") or manifest.get("demands_s") or ())


def _each(texts: Any) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))
