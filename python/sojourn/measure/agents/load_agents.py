"""One load by several agents: which workers take part, how far their clocks are from ours, the common start, and the end.

Each arrival of the one schedule belongs to one agent, by a draw that all make alike from the seed
(crates/loadgen/src/config/agent.rs); so agents exchange nothing while they run. Where an agent fails, there is one error.
"""

from __future__ import annotations

import math
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, SojournError, WorkerError
from sojourn.lab.cleanup_registry import start_time
from sojourn.lab.owned_folder import stale_folders
from sojourn.load.credentials import hidden
from sojourn.load.load_options import RECORD_LIMIT
from sojourn.measure.agents.agent_run import PREFIX, AgentProcess, AgentTask, look, run_agent
from sojourn.measure.agents.clock_offsets import ClockOffset, clock_offset, read_clocks
from sojourn.measure.agents.joined_run import join, reasons_of_agents
from sojourn.measure.execute_run import GRACE_S, machine
from sojourn.parallel import Workers, open_workers, run_at_once
from sojourn.runs.assess_run import assess
from sojourn.runs.run_folder import RunFolder, clock_times

PLACE = "--agents"
STILL_S = 20.0  # without a sign of life
LOOK_S = 120.0  # for all workers to say who they are
# To the common start: at least; times a process's start; for each connection. On a machine where five processes share two cores 2 s and
# four starts were up to 0.4 s too few (an agent that is late ends the run).
LEAD_S, LEAD_STARTS, CONNECT_S = 3.0, 6.0, 2e-3
MOST_AGENTS = 10_000
CUT_OFF = "the run was cut off: interrupted"
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class AgentLoad:
    """`on`: the workers (`local:N`, `tls://HOST:PORT`); `per_agent_per_s`: the highest mean rate that an agent is given, 1/s
    (None: every worker is an agent)."""

    on: str
    per_agent_per_s: float | None = None

    def __post_init__(self) -> None:
        if self.per_agent_per_s is not None and not 0 < self.per_agent_per_s < math.inf:
            raise InputError(f"{self.per_agent_per_s:g}", "--rate-per-agent", "give requests per second above 0")


def execute_on_agents(
    out: Path, load: dict[str, Any], agents: AgentLoad, *, what: dict[str, Any], progress: Progress | None = None
) -> RunFolder:
    """Runs `load` (the generator's configuration: an open loop over HTTP) from several agents, and returns the one run folder,
    judged: by its records as any run, and not valid where one agent's run is not.

    Raises:
        InputError: a load that agents cannot share, too few workers, no place to run. WorkerError: an agent was lost or is silent.
        SojournError: as `execute`, with the agent's name. Such a run leaves nothing. KeyboardInterrupt: after the agents ended, and what
        they recorded was kept and marked as cut off; where the load had not begun, nothing is.
    """
    rate_per_s = shared_rate(load)
    with _of_agents(), open_workers(agents.on) as workers:
        slots = chosen_slots(workers, agents, rate_per_s)
        if not agents.on.startswith("local:") and (names := hidden(load)):
            raise InputError(f"a credential in header {', '.join(names)}", PLACE,
                             "credentials are not sent to other machines: export the credential as a variable on every agent, and "
                             "use env:VARIABLE")  # fmt: skip
        owner = {"pid": os.getpid(), "pid_started": start_time(os.getpid())}
        folder = RunFolder.create(out, {**what, "load": load, **owner, "start": clock_times(), "machine": machine()})
        try:
            _run(folder, workers, slots, load, progress)
        except BaseException:
            if folder.manifest.get("status") != "cut off":
                folder.discard()
            raise
        finally:
            if agents.on.startswith("local:"):
                workers.close()
                for place in stale_folders(PREFIX):
                    shutil.rmtree(place, ignore_errors=True)
    return folder


def shared_rate(load: dict[str, Any]) -> float:
    """The mean rate of a load that agents can share, 1/s.

    Raises:
        InputError: another load.
    """
    arrivals = [lane.get("arrivals") for lane in load["lanes"]]
    if any(one is None for one in arrivals):
        raise InputError("a load of users", PLACE, "give --rate: agents divide a schedule, not users")
    return float(sum(one["rate_per_s"] for one in arrivals if one))


def chosen_slots(workers: Workers, agents: AgentLoad, rate_per_s: float) -> list[int]:
    """One slot of each worker that takes part: all, or as many as the rate of one demands.

    Raises:
        InputError: fewer workers than that.
    """
    first: dict[str, int] = {}
    for slot in range(workers.count):
        first.setdefault(workers.place(slot), slot)
    slots = list(first.values())[:MOST_AGENTS]
    if agents.per_agent_per_s is None:
        return slots
    needed = max(1, math.ceil(rate_per_s / agents.per_agent_per_s * (1 - 1e-12)))
    if needed > len(slots):
        raise InputError(
            f"{rate_per_s:g}/s needs {needed} agents of {agents.per_agent_per_s:g}/s, and there are {len(slots)} workers",
            "--rate-per-agent", "start more workers, or give a lower --rate",
        )  # fmt: skip
    return slots[:needed]


def _run(
    folder: RunFolder, workers: Workers, slots: Sequence[int], load: dict[str, Any], progress: Progress | None
) -> None:
    count = len(slots)
    own = {**load, "record_limit": max(1, load.get("record_limit", RECORD_LIMIT) // count)}
    run = uuid.uuid4().hex
    handle = workers.send(
        {"load": own, "count": count, "run": run, "allowed": folder.manifest.get("failures_allowed", 0.0)}
    )
    seen = run_at_once(workers, look, handle, range(count), slots, limit_s=LOOK_S, still_s=STILL_S)
    before = _offsets(workers, handle, slots)
    slowest_s = max(took_s for _, took_s in seen)
    connections = max(lane.get("connections", 0) for lane in load["lanes"])
    start_s = time.monotonic() + LEAD_S + LEAD_STARTS * slowest_s + CONNECT_S * connections
    tasks = [
        AgentTask(k, start_s + offset.offset_s, identity)
        for k, (offset, (identity, _)) in enumerate(zip(before, seen, strict=True))
    ]
    duration_s = load["duration_s"]
    limit_s = start_s - time.monotonic() + duration_s + load.get("timeout_s", 10.0) + 2 * GRACE_S

    def tell() -> None:
        if progress and (elapsed_s := time.monotonic() - start_s) >= 0:
            progress({"elapsed_s": elapsed_s, "duration_s": duration_s, "text": f"{count} agents"})

    ending: list[bool] = []

    def end() -> None:
        ending.append(True)
        workers.end_early(run)

    try:
        found = run_at_once(
            workers, run_agent, handle, tasks, slots, limit_s=limit_s, still_s=STILL_S, tell=tell, end=end
        )
    except SojournError:
        if ending:
            raise KeyboardInterrupt from None  # an agent did not end: there is nothing whole to keep
        raise
    if any(one is None or not one.manifest.get("generator") for one in found):
        raise KeyboardInterrupt  # before the load began
    after = _offsets(workers, handle, slots)
    workers.drop(handle)
    for one, identity, slot in zip(found, (identity for identity, _ in seen), slots, strict=True):
        one.manifest["machine"] |= {"host": identity.host, "worker": workers.place(slot)}
    join(folder, found, start_s, before, after)
    folder.manifest["end"] = clock_times()
    if ending:
        folder.manifest |= {"status": "cut off", "valid": False, "reasons": [CUT_OFF]}
        folder.save()
        raise KeyboardInterrupt
    folder.manifest["status"] = "complete"
    assess(folder)
    if reasons := reasons_of_agents(found):
        folder.manifest |= {"valid": False, "reasons": [*reasons, *folder.manifest["reasons"]]}
    folder.save()


def _offsets(workers: Workers, handle: Any, slots: Sequence[int]) -> list[ClockOffset]:
    """One agent after the other: side by side they would wait for each other, and the round trips would be longer."""

    def ask(slot: int) -> tuple[float, float]:
        found: tuple[float, float] = run_at_once(
            workers, read_clocks, handle, [None], [slot], limit_s=LOOK_S, still_s=STILL_S
        )[0]
        return found

    return [clock_offset(lambda slot=slot: ask(slot)) for slot in slots]  # type: ignore[misc]


@contextmanager
def _of_agents() -> Iterator[None]:
    """Errors of workers speak of `--parallel`; here the option is another."""
    try:
        yield
    except (InputError, WorkerError) as error:
        if not str(error.place).startswith("--parallel"):
            raise
        raise _again(error, str(error.place).replace("--parallel", PLACE)) from None


def _again(error: SojournError, place: str) -> SojournError:
    return type(error)(error.value, place, error.remedy)


__all__ = ["AgentLoad", "AgentProcess", "execute_on_agents"]
