"""What else the machine did while a run was made: time that a hypervisor took, and that other processes used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from sojourn.runs.host_samples import core_shares, counter_changes
from sojourn.runs.run_folder import RunFolder

DISTURBED = "disturbed: "  # how each reason begins
MOST_STEAL = 0.02
STEAL_TICK_S = 0.01  # the kernel counts stolen time in these (USER_HZ): one of them cannot be told from none
MOST_OTHERS = 0.025
MOST_OTHERS_BY_TICKS = 0.1  # of all cores
MOST_NAMED = 3
PID = re.compile(r" \(\d+\)")
USED = "other processes used"  # how what is said of them begins
BESIDE_TEXT = "other programs used"  # the same, of several runs
BESIDE = "beside_others"  # in the manifest: what is asked is the service beside whatever else runs, which is told and no reason
ONLY_BESIDE = "used only while the load lasted"  # how what is worth knowing of these processes begins


def disturbed(
    folder: RunFolder, host: pl.DataFrame, window: tuple[float, float], checks: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """Reasons for which the run is not valid, and what is worth knowing."""
    shares = core_shares(host, *window)
    if not shares:
        return [], []
    reasons, told = [], []
    steal = max(share["steal"] for share in shares.values())
    checks["steal"] = steal
    most_steal = MOST_STEAL + STEAL_TICK_S / (window[1] - window[0])
    if steal > most_steal:
        reasons.append(f"{DISTURBED}the hypervisor took {steal:.1%} of a core; at most {most_steal:.1%}; run again")
    others = _others(folder, host, window, shares)
    checks["others"] = others
    by_tree = folder.manifest.get("cpu_time")
    cores = by_tree["cores"] if by_tree else len(shares)
    most = MOST_OTHERS if "spinners" in folder.manifest.get("pids", {}) else MOST_OTHERS_BY_TICKS * cores
    if others is not None and others > most:
        said = f"{USED} {others:.1%} of a core{_named(by_tree, 'others')}"
        remedy = "end them" + "; if they belong to the service, measure them" * (by_tree is not None)
        if folder.manifest.get(BESIDE):
            told.append(f"{said}: the figures are those of the service beside them")
        else:
            reasons.append(f"{DISTURBED}{said}; at most {most:.1%}; {remedy}")
    beside = sum((by_tree or {}).get("beside", {}).values())
    if beside > most:
        told.append(
            f"{ONLY_BESIDE}{_named(by_tree, 'beside')}: if it belongs to the service, measure it too "
            "(measure --service-pids)"
        )
    return reasons, told


def beside_in_one_line(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """What two runs or more say of processes that used the CPU only while the load lasted, as one line; nothing where fewer do. A program
    is told by the most that it used in a run."""
    said = [one for one in manifests if any(line.startswith(ONLY_BESIDE) for line in one.get("warnings") or ())]
    if len(said) < 2:
        return []
    most: dict[str, float] = {}
    for manifest in said:
        for name, share in ((manifest.get("cpu_time") or {}).get("beside") or {}).items():
            program = PID.sub("", name)
            most[program] = max(share, most.get(program, 0.0))
    order = sorted(most, key=lambda program: -most[program])
    named = [f"{program} up to {most[program]:.0%}" for program in order[:MOST_NAMED]]
    more = [f"{len(order) - MOST_NAMED} more"] if len(order) > MOST_NAMED else []
    return [
        f"{ONLY_BESIDE}, in {len(said)} of {len(manifests)} runs: {', '.join([*named, *more]) or 'other processes'}; if one belongs to the "
        "service, measure it too (measure --service-pids)"
    ]


def beside_text(folders: Iterable[RunFolder]) -> str:
    """What other programs used while runs were made that are valid beside them, of all runs in one sentence; "" where that was little."""
    runs = list(folders)
    told = [run for run in runs if any(str(one).startswith(USED) for one in run.manifest.get("warnings") or ())]
    if not told:
        return ""
    shares = [float(run.manifest["checks"]["others"] or 0.0) for run in told]
    names: dict[str, float] = {}
    for run in told:
        for name, share in ((run.manifest.get("cpu_time") or {}).get("others") or {}).items():
            plain = name.rpartition(" (")[0] or name  # without the process id
            names[plain] = max(names.get(plain, 0.0), share)
    most = sorted(names, key=lambda name: -names[name])[:MOST_NAMED]
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    used = low if low == high else f"{low} to {high}"
    where = f" in {len(told)} of {len(runs)} runs" if len(runs) > 1 else ""
    named = f" ({', '.join(most)})" if most else ""
    return f"{BESIDE_TEXT} {used} of a core{where}{named}: the figures are those of the service beside them"


def _named(account: Mapping[str, Any] | None, of: str) -> str:
    """` (yes (4711) 95 %, cc1 (4712) 40 %)`, the greatest."""
    named = list((account or {}).get(of, {}).items())[:MOST_NAMED]
    return f" ({', '.join(f'{name} {share:.0%}' for name, share in named)})" if named else ""


def _others(
    folder: RunFolder, host: pl.DataFrame, window: tuple[float, float], shares: dict[int, dict[str, float]]
) -> float | None:
    """What the run's own processes did not get of the cores' time: with spinners, which take what is left over, of all of it;
    else of what was used, by ticks, where all processes of the run are known, or which they started. Where it is not known what the
    service is made of, what those used who are busy without the load, too. None where none of it was recorded."""
    if "spinners" in folder.manifest.get("pids", {}):
        total = float(len(shares))
    elif time := folder.manifest.get("cpu_time"):
        return float(time.get("others_s", max(0.0, time["machine_s"] - time["own_s"])) / time["over_s"])
    elif folder.manifest.get("all_known"):
        total = sum(share["busy"] + share["nice"] for share in shares.values())
    else:
        return None
    runs = counter_changes(host, *window).filter((pl.col("source") == "procs") & (pl.col("item") == "run_s"))
    used = {
        int(key): change / over for key, change, over in zip(runs["key"], runs["change"], runs["over_s"], strict=True)
    }
    return max(0.0, total - sum(used.values())) if used else None
