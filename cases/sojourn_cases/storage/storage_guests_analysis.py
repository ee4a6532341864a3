"""`storage-guests`: what an I/O costs in CPU by guest, by hypervisor and in sum, on each path, from the runs of a study.

Option: `section`, the 2^5 r experiment. All runs at zero IOPS are the background of each part. The fifth source document has the
hypervisor's part alone; its figures stand beside ours (`PUBLISHED_US`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from sojourn.errors import DesignError, StudyError
from sojourn.files import write_whole
from sojourn.report import Section, Table
from sojourn.study import Analysis
from sojourn_cases.storage.costs import cost_per_io, cost_ratio, run_faults, storage_effects
from sojourn_cases.storage.costs.cost_per_io import CpuCostPerIo, loaded
from sojourn_cases.storage.costs.sizing import RUNS
from sojourn_cases.storage.measured_lines import latency_lines, marked_lines
from sojourn_cases.storage.storage_analysis import effect_sections, run_list, us_per_io
from sojourn_cases.storage.storage_figures import cpu_figures
from sojourn_cases.storage.storage_guest_pair import LOCAL, NFS

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

OPTIONS = {"section"}
# column → what it is the CPU of
CLIENT = {"guest_cores": "guest", "hypervisor_cores": "hypervisor", "cpu_cores": "sum"}
# the server's virtual CPU shares its core with other threads, and waits while it counts as busy: its sum alone is told
SERVER = {"server_vm_cores": "server's virtual machine", "machine_cores": "whole machine"}
ONE_SIDED = {"server's virtual machine"}  # it does nothing for the path local: a ratio to nothing says nothing
# the fifth source document, step 5 and equation 1: of the hypervisor, writes
PUBLISHED_US, PUBLISHED_RATIO = {"Fibre Channel": 41.0, "NFS": 81.0}, 1.96
STOLEN = 0.1  # of the guest's busy time: above it, what the guest counts as busy is not what it ran

Ratio: TypeAlias = tuple[float, float, float] | None


@dataclass(frozen=True)
class PartOfCost:
    """CPU per I/O of one part on each path; `ratios`: of each other path to local, with its interval (None: not known)."""

    name: str
    by_path: Mapping[str, CpuCostPerIo]
    ratios: Mapping[str, Ratio]

    @property
    def ratio(self) -> Ratio:
        """NFS to local."""
        return self.ratios.get(NFS)


def parts_of_cost(runs: pl.DataFrame, columns: Mapping[str, str] | None = None) -> list[PartOfCost]:
    """Of a run list with these columns (default: all that there are). DesignError as `cost_per_io`."""
    found = []
    for column, name in (columns or {**CLIENT, **SERVER}).items():
        if column in runs.columns:
            costs = cost_per_io(runs.with_columns(cpu_cores=pl.col(column)))
            by_path = {one.path: one for one in costs}
            others = [path for path in by_path if path != LOCAL]
            ratios = {path: None if name in ONE_SIDED else over_local(by_path, path) for path in others}
            found.append(PartOfCost(name, by_path, ratios))
    return found


def over_local(by_path: Mapping[str, CpuCostPerIo], path: str) -> Ratio:
    """The ratio with its interval, which is below 1 where `path` is the cheaper one; None where it is not known, as in `cost_ratio`."""
    pair = [by_path[name] for name in (LOCAL, path) if name in by_path]
    found = cost_ratio(pair)
    if found is None:
        return None
    ratio, low, high = found
    return found if pair[1].seconds >= pair[0].seconds else (1 / ratio, 1 / high, 1 / low)


def storage_guests_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Costs by part, their ratios, effects, faults; writes the run list into the study's folder, for `calc storage`.

    Raises:
        StudyError: an option that is missing or unknown.
    """
    section = options.get("section")
    if set(options) - OPTIONS or not isinstance(section, str):
        raise StudyError(f"options {dict(options)}", "[[analysis]] storage-guests", "give section")
    runs = run_list(found.runs)
    if runs.is_empty():
        return Analysis(("there is no storage run",), warn=True)
    design = runs.filter((pl.col("section") == section) | (pl.col("iops") == 0))
    write_whole(found.folder / RUNS, design.drop("section").write_csv())
    if loaded(design).is_empty():
        return Analysis((f"no run of {section} counts", *marked_lines(design, found.folder)), warn=True)
    parts = parts_of_cost(design)
    lines = [*cost_lines(parts), *latency_lines(loaded(design)), *marked_lines(design, found.folder)]
    sections = [Section("CPU per I/O, by guest and hypervisor", "", (cost_table(parts), *cpu_figures(design)))]
    lines += explained_lines(design)
    if loaded(design)["path"].n_unique() > 2:
        lines.append("no effects: they are those of two paths")
    else:
        sections += [*effect_sections(design, lines)]
    warn = False
    if stolen := stolen_line(design):
        warn = True
        lines.append(stolen)
    for fault in run_faults(design):
        warn = True
        lines.append(f"{fault.name}: {fault.seen}; {fault.remedy}")
    return Analysis(tuple(lines), tuple(sections), warn)


def cost_lines(parts: list[PartOfCost]) -> Iterator[str]:
    """What the parts come to: a line a path, then the ratios."""
    paths = sorted({path for part in parts for path in part.by_path})
    client = [part for part in parts if part.name in CLIENT.values()]
    server = [part for part in parts if part.name in SERVER.values()]
    for path in paths:
        yield f"{path}, us of CPU an I/O: {_by_part(client, path)}; beside it {_by_part(server, path)}"
    published = " and ".join(f"{us:g} us" for us in PUBLISHED_US.values())
    for path in client[0].ratios if client else ():
        told = ", ".join(f"{part.name} {_ratio(part.ratios[path])}" for part in client)
        beside = f"; in the document {PUBLISHED_RATIO} ({published} of its hypervisor)" if path == NFS else ""
        yield f"ratio of the paths, {path} to local: {told}{beside}"


def _by_part(parts: list[PartOfCost], path: str) -> str:
    return ", ".join(f"{part.name} {us_per_io(part.by_path[path])}" for part in parts)


def _ratio(ratio: Ratio) -> str:
    return "not known" if ratio is None else "{:.2f} ({:.2f} to {:.2f})".format(*ratio)


def cost_table(parts: list[PartOfCost]) -> Table:
    """A row a part; half-widths of 95 % intervals beside."""
    paths = sorted({path for part in parts for path in part.by_path})
    others = list(parts[0].ratios) if parts else []
    ratios = [(f"{path} to local", f"{path} low", f"{path} high") for path in others]
    columns = ("part", *(f"{path}, us per I/O" for path in paths), *(name for three in ratios for name in three))
    rows = [
        (
            part.name,
            *(us_per_io(part.by_path[path]) for path in paths),
            *(value for path in others for value in part.ratios[path] or (None, None, None)),
        )
        for part in parts
    ]
    note = (
        "Guest: what the client's guest was busy, by its own count. Hypervisor: what QEMU used beyond that. Sum: both, which is the "
        "client's virtual machine. "
        f"In the fifth source document, its hypervisor alone: {', '.join(f'{k} {v:g} us' for k, v in PUBLISHED_US.items())}, "
        f"ratio {PUBLISHED_RATIO}. Whole machine: all that the host's cores did, both virtual machines and the host's kernel."
    )
    return Table("CPU per I/O, by part", columns, tuple(rows), note)


def explained_lines(runs: pl.DataFrame) -> Iterator[str]:
    """Which share of the variation of CPU per I/O the path explains, by part; nothing where the design has gaps, or more than two paths."""
    told = []
    for column, name in CLIENT.items():
        try:
            found = storage_effects(runs.with_columns(cpu_cores=pl.col(column))).per_io.effect("path")
        except DesignError:
            return
        told.append(f"{name} {found['share_of_total']:.0%}")
    yield f"of the variation of CPU per I/O the path explains: {', '.join(told)}"


def stolen_line(runs: pl.DataFrame) -> str:
    """That the client's virtual CPU waited for a core for more than `STOLEN` of what it was busy; empty where it did not."""
    busy = loaded(runs)
    if "stolen_cores" not in busy.columns or busy.is_empty():
        return ""
    share = float(busy["stolen_cores"].sum()) / max(float(busy["guest_cores"].sum()), 1e-9)
    if share <= STOLEN:
        return ""
    return (
        f"the client's virtual CPU waited for a core for {share:.0%} of its guest's busy time, which counts as the guest's CPU: "
        "leave a core to it"
    )
