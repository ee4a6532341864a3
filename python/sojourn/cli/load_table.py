"""The summary of a load as tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from sojourn.narrow_tables import WidthAwareTable
from sojourn.query.objectives import lines
from sojourn.units import percent, seconds

# counts that are told only where they are not 0
RARE = {
    "acknowledged": "acknowledged",
    "late": "acknowledged too late",
    "unknown": "puts without an answer",
    "foreign": "from another run",
}
SESSIONS_SAID = {
    "steps beside their matrices": "transitions_p_value",
    "counted pages compared with the expected mix": "mix_p_value",
}
STORAGE_MARKS = {
    "saturated": "less than 98 % of the I/Os were done in time: the path is at its limit, below this rate",
    "cached": "more than 1 % of the span was in the page cache: some I/Os may not have reached the device; take --direct",
    "ack stall": "answers waited for an acknowledgement (Nagle's algorithm and delayed ACK): the latency is not that of "
    "the path; take --quick-ack",
}
ACK_STALL = 0.5  # mean number of answers under way
MIX_AWAY = 1e-3  # of all pages


def show(summary: dict[str, Any], out: Console) -> None:
    """The summary of a load as a table: both latencies, so that neither the queue nor the client can hide."""
    out.print(
        f"{summary['ok']} of {summary['requested']} requests answered, {summary['achieved_per_s']:.1f}/s, "
        f"seed {summary['seed']}" + (", records sampled" if summary["sampled"] else "")
    )
    if line := by_chance(summary):
        out.print(line, highlight=False)
    table = Table("", "mean", "p50", "p90", "p99", "p99.9", "max", box=None, header_style="dim")
    latency = summary["latency"]
    for name, figures in (
        ("intended to done", latency["from_intended"]["to_done"]),
        ("sent to done", latency["from_sent"]["to_done"]),
        ("sent to received", latency["from_sent"]["to_received"]),
        ("late to send", summary["lateness"]),
    ):
        cells = [figures.get(f"{c}_s") for c in ("mean", "p50", "p90", "p99", "p999", "max")]
        table.add_row(name, *(seconds(cell) for cell in cells))
    out.print(WidthAwareTable(table))
    if summary["failed"]:
        out.print(
            "failed requests count as later than all answers; – means that the quantile falls among them",
            highlight=False,
        )
    if agents := summary.get("agents"):
        show_agents(agents, out)
    if kv := summary.get("kv"):
        show_kv(kv, out)
    if messages := summary.get("messages"):
        show_messages(messages, out)
    if sessions := summary.get("sessions"):
        show_sessions(sessions, out)
    if storage := summary.get("storage"):
        show_storage(storage, out)
    failed = {kind: count for kind, count in summary["failures"].items() if count}
    if failed:
        out.print("failures: " + ", ".join(f"{kind} {count}" for kind, count in failed.items()), highlight=False)
    for note in summary.get("notes", ()):
        out.print(f"note: {note}", highlight=False, markup=False)
    for line in notes_of(summary):
        out.print(line, highlight=False, markup=False)
    for line in lines(summary.get("objectives", ())):
        out.print(line, style="bold red" if line.endswith("MISSED") else None, highlight=False, markup=False)
    why = "" if out.is_terminal else ": " + "; ".join(summary["reasons"])  # in a terminal the error below says it
    verdict = valid_for(summary) if summary["valid"] else f"NOT VALID{why}"
    out.print(verdict, style="green" if summary["valid"] else "bold red", highlight=False, markup=False)


def notes_of(manifest: Mapping[str, Any]) -> list[str]:
    """Whose CPU time a request takes, and the warnings, of a manifest or a summary."""
    said = [manifest["found"]] if manifest.get("found") else []
    if demands := manifest.get("demands_s"):
        said.append("a request takes " + ", ".join(f"{of} {seconds(value)}" for of, value in demands.items()))
    return said + list(manifest.get("warnings") or ())


def valid_for(manifest: Mapping[str, Any]) -> str:
    """Of a valid run, whether it is so for all of its figures."""
    lacking = manifest.get("not_valid_for")
    return f"valid, but not for {', '.join(lacking)}" if lacking else "valid"


def show_agents(agents: list[dict[str, Any]], out: Console) -> None:
    """Each agent: its share, whether it was on time, and its clocks from ours when the run began."""
    table = Table(
        "", "on", "requests", "late p99", "thread busy", "clock", "wall clock", "drift", box=None, header_style="dim"
    )
    for one in agents:
        generator, clock = one["generator"], one["clock"]
        bound = f" ± {seconds(clock['bound_s'])}"
        table.add_row(
            f"agent {one['agent']}", one["machine"]["host"], str(generator["requested"]),
            seconds(generator["own_lateness"]["p99_s"]), percent(one["checks"].get("busiest thread")),
            seconds(clock["offset_s"]) + bound, seconds(clock["wall_offset_s"]) + bound, seconds(clock["drift_s"]),
        )  # fmt: skip
    out.print(WidthAwareTable(table))


def by_chance(summary: dict[str, Any]) -> str:
    """Where a Poisson schedule has so many more or fewer requests than its rate says that the rate looks missed."""
    expected = summary.get("expected")
    if not expected or abs(summary["requested"] - expected["requests"]) <= expected["deviation"]:
        return ""
    mean, deviation = round(expected["requests"]), round(expected["deviation"])
    return f"Poisson: {summary['requested']} requests, expected {mean} ± {deviation}"


def show_kv(kv: dict[str, Any], out: Console) -> None:
    """The memcached part: each class from sent to done, and whether what was read was there and right."""
    show_classes(kv["classes"], out)
    compared = f"{kv['wrong']} wrong" if kv["verified"] else f"{kv['wrong']} wrong keys, values not compared"
    out.print(f"keys read: {kv['hits']} hits, {kv['misses']} misses, {compared}", highlight=False)


def show_messages(messages: dict[str, Any], out: Console) -> None:
    """The message part: each class from sent to done, and whether what was put came out again, right and once."""
    show_classes(messages["classes"], out)
    compared = f"{messages['wrong']} wrong" if messages["verified"] else "not compared"
    takes = messages["taken"] + messages["empty"]
    share = f" ({percent(messages['empty'] / takes)} of all takes)" if takes else ""
    out.print(f"messages: {messages['put']} put, {messages['taken']} taken, {messages['empty']} empty takes{share}",
              highlight=False)  # fmt: skip
    said = [f"{messages['left']} left", compared, f"{messages['twice']} taken twice"]
    said += [f"{messages[key]} {text}" for key, text in RARE.items() if messages[key]]
    out.print(", ".join(said), highlight=False)


def show_sessions(sessions: dict[str, Any], out: Console) -> None:
    """The run between the ramps: each page from sent to done, and whether users, think time and throughput agree."""
    show_classes(sessions["classes"], out)
    run_s = sessions["run_end_s"] - sessions["run_start_s"]
    out.print(f"run of {run_s:g} s: {sessions['ok']} pages, {sessions['failed']} failed, "
              f"X = {sessions['throughput_per_s']:.1f}/s, R = {seconds(sessions['response_s'])}, {sessions['users']} users, "
              f"X (R + Z) / N = {sessions['interactive_law']:.3f}", highlight=False)  # fmt: skip
    said = [f"{what}: p = {p:.2g}" for what, key in SESSIONS_SAID.items() if (p := sessions.get(key)) is not None]
    if said:
        out.print(", ".join(said), highlight=False)
    if (away := sessions.get("mix_from_stationary") or 0.0) > MIX_AWAY:
        out.print(f"sessions begin with the same page: in a run of this length the expected shares of pages differ by "
                  f"up to {percent(away)} from the stationary ones; give a longer --ramp-up", highlight=False)  # fmt: skip


def show_storage(storage: dict[str, Any], out: Console) -> None:
    """The block part: rate, what was read and written, page cache, contents, and what is wrong with the run as a measurement."""
    out.print(f"{storage['path']} by {storage['engine']}{', direct' if storage['direct'] else ''}: {storage['achieved_iops']:.1f} "
              f"of {storage['asked_iops']:g} IOPS; {storage['reads']} reads, {storage['writes']} writes, {storage['flushes']} "
              f"flushes, {storage['refused']} refused", highlight=False)  # fmt: skip
    done = max(storage["completed"], 1)
    said = [f"generator {seconds(storage['generator_cpu_s'] / done)} CPU an I/O, {storage['reaps']} reaps"]
    if (share := storage["cache_share"]) is not None:
        said.append(f"page cache {percent(share)} of the span")
    if storage["verified"] or storage["not_compared"] or storage["wrong"]:
        said.append(
            f"reads compared: {storage['verified']} correct, {storage['wrong']} wrong, {storage['not_compared']} not comparable"
        )
    if storage["reconnects"]:
        said.append(f"{storage['reconnects']} times connected again")
    out.print("; ".join(said), highlight=False)
    if storage["first_wrong"]:
        out.print(f"first wrong: {storage['first_wrong']}", style="bold red", highlight=False, markup=False)
    if storage["errors"]:
        out.print("errors: " + ", ".join(f"{name} {n}" for name, n in storage["errors"].items()), highlight=False)
    if storage["quick_ack"] is False and (storage["latency_s"] or 0.0) * storage["achieved_iops"] > ACK_STALL:
        out.print("without quick ACK, and answers take at least the time between requests: they may wait for the "
                  "acknowledgement in the next request (Nagle's algorithm and delayed ACK); run again with --quick-ack",
                  style="bold yellow", highlight=False)  # fmt: skip
    for mark in storage["status"]:
        out.print(f"{mark}: {STORAGE_MARKS[mark]}", style="bold yellow", highlight=False)


def show_classes(classes: dict[str, Any], out: Console) -> None:
    """Each class of operations, from sent to done."""
    table = Table("", "requests", "mean", "p25", "p50", "p75", "p90", "p99", box=None, header_style="dim")
    for name, figures in classes.items():
        latency = figures["latency"] | {key: figures[key] for key in ("p25_s", "p75_s")}
        cells = [latency.get(f"{c}_s") for c in ("mean", "p25", "p50", "p75", "p90", "p99")]
        table.add_row(name, str(figures["ok"]), *(seconds(cell) for cell in cells))
    out.print(WidthAwareTable(table))
