"""How busy each core was with the service and its load, in consecutive intervals of time.

Three meters, the best that a core allows:

- A core that takes no interrupts (trailing): the exact run time of the service's own threads there. Run time is
  useless where interrupts are, because it is charged with those that hit a thread, and exact where there are none.
- With spinners, where the client shares the core and takes its interrupts: what the core's spinner did not get; exact,
  no tick involved. Taken out of it are the run times of the instruments (collector, generator's book-keeping, this
  process) and what the lab uses at rest.
- Otherwise ticks: an interrupt that comes from another core hits the spinner and is charged to it. Where there are no spinners, as in
  a guest, what the machine does at rest (manifest: `at_rest`) is taken out.

What the last two are off in all runs alike is bounded (`meter_errors`): ticks by 2 %, as interrupts of 1.50 ms came out between
1.47 and 1.53 ms at all rates (docs/decisions/0008); what a spinner did not get by 2.5 %, the most by which it missed known work on
a core that was busy for 40 % and more (benches/meters).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.runs.host_samples import BUSY, EVERYTHING, growth
from sojourn.runs.manifest import Manifest

Array = NDArray[np.float64]
INSTRUMENTS = ("observer", "sojourn", "interrupt work")
TICKS_OFF, SPINNER_OFF = 0.02, 0.025  # of the share, at most
MAIN_THREAD_IS_INSTRUMENT = ("spinners", "generator")


def softirq_shares(host: pl.DataFrame, edges: Array) -> dict[int, Array]:
    """Share of each core's time in interrupts, by ticks, in each interval."""
    return {core: (state["softirq"] + state["irq"]) / total for core, state, total in _ticks(host, edges)}


def busy_shares(host: pl.DataFrame, manifest: Manifest, edges: Array) -> dict[int, Array]:
    """Busy share of each core in each interval, by the best of the three meters."""
    rest = {int(core): share for core, share in manifest.get("at_rest", {}).items()}
    placement = manifest.get("placement") or {}
    busy = shares_by_ticks(host, edges)
    if placement.get("client_shares"):
        exact = shares_by_spinner(host, manifest, edges)
        busy |= {core: np.clip(share - rest.get(core, 0.0), 0.0, 1.0) for core, share in exact.items()}
    elif rest and "spinners" not in manifest.get("pids", {}):
        busy = {core: np.clip(share - rest.get(core, 0.0), 0.0, 1.0) for core, share in busy.items()}
    return busy | _service_shares(host, manifest, edges)


def meter_errors(manifest: Manifest) -> dict[str, float]:
    """Bounds of the relative error of the shares of leading cores, `util_leading_error` and `softirq_leading_error`; 0 where they
    were simulated."""
    if manifest.get("simulated"):
        return {"util_leading_error": 0.0, "softirq_leading_error": 0.0}
    spun = "spinners" in manifest.get("pids", {}) and (manifest.get("placement") or {}).get("client_shares")
    return {"util_leading_error": SPINNER_OFF if spun else TICKS_OFF, "softirq_leading_error": TICKS_OFF}


def core_groups(manifest: Manifest) -> tuple[list[int], list[int]]:
    """The leading cores (they take interrupts) and the trailing ones of a run; without a placement, all lead."""
    placement = manifest.get("placement")
    if not placement:
        return list((manifest.get("host") or {}).get("cores", [])), []
    leading = list(dict.fromkeys(placement.get("interrupts", ())))
    return leading, [core for core in placement.get("server", ()) if core not in leading]


def run_time(host: pl.DataFrame, pid: int, cores: list[int]) -> float:
    """Run time of a process's threads on `cores` between the first and the last sample, its main thread left out, s."""
    threads = [part for process, thread, part in _threads(host) if process == pid and thread != pid]
    parts = [part for part in threads if part["core"][-1] in cores]
    return float(sum(part["run_s"][-1] - part["run_s"][0] for part in parts))


def _service_shares(host: pl.DataFrame, manifest: Manifest, edges: Array) -> dict[int, Array]:
    """Run time of the service's threads on cores where no interrupts are steered and no client runs."""
    service = manifest.get("pids", {}).get("service")
    _, trailing = core_groups(manifest)
    alone = set(trailing) - set((manifest.get("placement") or {}).get("client", ()))
    used: dict[int, Array] = {}
    for pid, thread, part in _threads(host) if service and alone else ():
        if pid == service and thread != pid:
            _add(used, part, edges)
    return {core: run / np.diff(edges) for core, run in used.items() if core in alone}


def shares_by_ticks(host: pl.DataFrame, edges: Array) -> dict[int, Array]:
    """Busy share of each core by ticks; a spinner's time is `nice` and does not count."""
    return {core: np.sum([state[k] for k in BUSY], axis=0) / total for core, state, total in _ticks(host, edges)}


def shares_by_spinner(host: pl.DataFrame, manifest: Manifest, edges: Array) -> dict[int, Array]:
    """What each core's spinner did not get, without instruments; nothing where there are no spinners."""
    pids = manifest.get("pids", {})
    if "spinners" not in pids:
        return {}
    lengths = np.diff(edges)
    free: dict[int, Array] = {}
    used: dict[int, Array] = {}
    for pid, thread, part in _threads(host):
        if pid == pids["spinners"] and thread != pid:
            _add(free, part, edges)
        elif _is_instrument(pid, thread, pids):
            _add(used, part, edges)
    nothing = np.zeros(lengths.size)
    return {core: 1 - (run + used.get(core, nothing)) / lengths for core, run in free.items()}


def _is_instrument(pid: int, thread: int, pids: dict[str, int]) -> bool:
    role = next((role for role, number in pids.items() if number == pid), "")
    return role in INSTRUMENTS or (role in MAIN_THREAD_IS_INSTRUMENT and thread == pid)


def _ticks(host: pl.DataFrame, edges: Array) -> list[tuple[int, dict[str, Array], Array]]:
    found = []
    for (key,), group in host.filter(pl.col("source") == "cpu").group_by("key"):
        state = {name: np.zeros(len(edges) - 1) for name in EVERYTHING}
        for (item,), part in group.sort("t_s").group_by("item"):
            state[str(item)] = growth(part["t_s"].to_numpy(), part["value"].to_numpy(), edges)
        total = np.sum([state[name] for name in EVERYTHING], axis=0)
        found.append((int(str(key)), state, np.where(total > 0, total, np.nan)))
    return found


def _threads(host: pl.DataFrame) -> list[tuple[int, int, pl.DataFrame]]:
    """Process, thread, and its samples (t_s, run_s, core) in order."""
    rows = host.filter(pl.col("source") == "thread")
    if rows.is_empty():
        return []
    wide = rows.pivot("item", index=["t_s", "key"], values="value").sort("t_s")
    parts = []
    for (key,), part in wide.group_by("key"):
        pid, thread = str(key).split("/")
        parts.append((int(pid), int(thread), part))
    return parts


def _add(sums: dict[int, Array], part: pl.DataFrame, edges: Array) -> None:
    """Adds a thread's run time to the core it was on at the end of each step between samples."""
    times, run, where = (part[name].to_numpy() for name in ("t_s", "run_s", "core"))
    steps = np.diff(run, prepend=run[0])
    for core in np.unique(where):
        there = np.cumsum(np.where(where == core, steps, 0.0))
        sums[int(core)] = sums.get(int(core), np.zeros(len(edges) - 1)) + growth(times, there, edges)
