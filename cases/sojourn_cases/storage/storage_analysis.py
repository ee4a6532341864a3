"""`storage`: what an I/O costs in CPU on each path, from all runs of a study whose manifests say what a storage run used (`storage`).

Options: `section`, the 2^5 r experiment; `linearity`, that of several rates, if there is one. All runs at zero IOPS are the background.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.design import MEAN_EFFECT, Effects, residual_figures, variation_figure
from sojourn.errors import DesignError, StudyError
from sojourn.files import write_whole
from sojourn.report import Block, Section, Table, Text
from sojourn.runs import RunFolder
from sojourn.study import TOPOLOGY_PROBE as PROBE
from sojourn.study import Analysis
from sojourn_cases.storage.costs import cost_per_io, cost_ratio, linearity, run_faults, storage_effects
from sojourn_cases.storage.costs.cost_per_io import CpuCostPerIo
from sojourn_cases.storage.costs.sizing import RUNS
from sojourn_cases.storage.costs.storage_run_list import FACTORS
from sojourn_cases.storage.measured_lines import measured_lines
from sojourn_cases.storage.storage_figures import balance_figure, cpu_figures, levels_figure

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

OPTIONS = {"section", "linearity"}
SHOWN = 0.005  # share of the variation from which the lines name an effect
COLUMNS = ("effect", "estimate", "low", "high", "share of SST")


def storage_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Costs, effects, faults, linearity; writes the run list into the study's folder, for `calc storage`.

    Raises:
        StudyError: an option that is missing or unknown.
    """
    section, levels = options.get("section"), options.get("linearity")
    if set(options) - OPTIONS or not isinstance(section, str):
        raise StudyError(f"options {dict(options)}", "[[analysis]] storage", "give section, and optionally linearity")
    runs = run_list(found.runs)
    if runs.is_empty():
        return Analysis(("there is no storage run",), warn=True)
    of = lambda name: runs.filter((pl.col("section") == name) | (pl.col("iops") == 0))  # noqa: E731
    design = of(section)
    write_whole(found.folder / RUNS, design.drop("section").write_csv())
    lines, sections, warn = list[str](), list[Section](), False
    if section in runs["section"]:
        lines += [*_cost_lines(design), *measured_lines(design, found.folder)]
        sections += [_cpu(design), *effect_sections(design, lines)]
    for fault in run_faults(design):
        warn = True
        lines.append(f"{fault.name}: {fault.seen}; {fault.remedy}")
    if isinstance(levels, str):
        lines += _linearity_lines(of(levels))
    return Analysis(tuple(lines), tuple(sections), warn)


def _cpu(design: pl.DataFrame) -> Section:
    """CPU by IOPS, and how evenly the I/Os of a second would spread."""
    items = int(design["iops"].max())  # type: ignore[arg-type]
    return Section("CPU", "", (*cpu_figures(design), balance_figure(items), levels_figure(items)))


def effect_sections(design: pl.DataFrame, lines: list[str]) -> Iterator[Section]:
    """Figures of the effects; what they come to is added to `lines`."""
    try:
        effects = storage_effects(design)
    except DesignError as error:
        lines.append(f"no effects: {error}")
        return
    for title, one in (("CPU, cores", effects.cpu), ("CPU per I/O, us", effects.per_io)):
        lines.append(f"{title}: {_shares(one)}")
    cpu, per_io = _effect_blocks("CPU", effects.cpu), _effect_blocks("CPU per I/O", effects.per_io)
    if not effects.cpu.degrees:
        once = Text("One run of each combination: there are no errors to examine, and effects have no intervals.")
        yield Section("Effects", "", (*cpu, *per_io, once))
        return
    errors = residual_figures(effects.cpu_residuals, "CPU", "cores")
    errors_per_io = residual_figures(effects.per_io_residuals, "CPU per I/O", "us")
    yield Section("Effects", "", (*cpu, *errors, *per_io, *errors_per_io))


def run_list(folders: list[RunFolder]) -> pl.DataFrame:
    """A row a run that says what it used, in the order they were begun."""
    rows = []
    told = [run for run in folders if "storage" in run.manifest]
    for place, run in enumerate(sorted(told, key=_begun), 1):
        factors = run.manifest["factors"]
        named = {name: factors[name] for name in FACTORS}
        rows.append(
            {
                "section": run.manifest["section"],
                "run": place,
                **named,
                "transfer_s": (run.manifest.get(PROBE) or {}).get("transfer_s"),
                "repetition": run.manifest["repetition"],
                **{
                    k: v
                    for k, v in run.manifest["storage"].items()
                    if not isinstance(v, list | dict) and k not in named
                },
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _begun(run: RunFolder) -> tuple[str, float]:
    start = run.manifest.get("start") or {}
    return str(start.get("wall", "")), float(start.get("monotonic_s", 0.0))


def _cost_lines(runs: pl.DataFrame) -> Iterator[str]:
    costs = cost_per_io(runs)
    for cost in costs:
        yield f"{cost.path}: {us_per_io(cost)} us an I/O, {cost.per_core:.0f} I/Os per core"
        # from the least level to the greatest: twice the half difference
        told = [f"{name} {2e6 * q:+.1f} ± {2e6 * half:.1f}" for name, (q, half) in (cost.by_factor or {}).items()]
        if told:
            yield f"{cost.path}, us per I/O more at the highest level than at the lowest: {', '.join(told)}"
    if found := cost_ratio(costs):
        yield f"ratio of the paths: {found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})"


def us_per_io(cost: CpuCostPerIo) -> str:
    """In us, with the half-width of its interval."""
    us = f"{1e6 * cost.seconds:.1f}"
    return us if cost.high is None else f"{us} ± {1e6 * (cost.high - cost.seconds):.1f}"


def _shares(effects: Effects) -> str:
    rows = effects.table.filter(pl.col("effect") != MEAN_EFFECT, pl.col("share_of_total") >= SHOWN).sort(
        "share_of_total", descending=True
    )
    told = [
        f"{name} {estimate:+.3g} ({share:.1%})"
        for name, estimate, share in rows.select("effect", "estimate", "share_of_total").iter_rows()
    ]
    return ", ".join([*told, f"errors {effects.sse / effects.sst:.1%}"])


def _effect_blocks(title: str, effects: Effects) -> Iterator[Block]:
    columns = ("effect", "estimate", "low", "high", "share_of_total")
    yield Table(f"Effects: {title}", COLUMNS, tuple(tuple(row) for row in effects.table.select(columns).iter_rows()))
    yield variation_figure(effects, title)


def _linearity_lines(runs: pl.DataFrame) -> Iterator[str]:
    try:
        found = linearity(runs)
    except DesignError as error:
        yield f"linearity: {error}"
        return
    for one in found:
        p = "" if one.origin.p is None else f", lack of fit through the origin p = {one.origin.p:.2g}"
        curve = ", ".join(f"{1e6 * s:.1f} at {iops:g}" for iops, s, _ in one.curve)
        word = "in proportion to IOPS" if one.proportional else f"not proportional: us per I/O {curve}"
        yield f"{one.path}: R² of a line {one.line.r_squared:.3f}{p}; {word}"
