"""What a soak must have shown, from the counts of all sides."""

from __future__ import annotations

from collections import Counter
from typing import Any

from faults import RECOVERY_S, Faults
from memory import RULE, Memory
from probes import ANSWERED_S, Tally

from sojourn_cases.common.memcached import version

Json = dict[str, Any]
# what is judged, whether it holds, what was seen
Judgement = tuple[str, bool, str]
CLASSES = {"set": "set", "get": "get", "multi-get": "multi_get"}
LOADS = ("closed", "open")


def judgements(raw: Json, tallies: list[Tally], faults: Faults, memory: Memory) -> list[Judgement]:
    loads = [raw[name] for name in LOADS]
    failures = sum((Counter(load["failures"]) for load in loads), Counter())
    wrong = [fault for tally in tallies for fault in tally.faults]
    stuck = {name: failures[name] for name in ("timeout", "reset", "closed", "refused", "connect_timeout", "protocol")}
    checked, quiet = sum(tally.batches for tally in tallies), sum(tally.undisturbed for tally in tallies)
    hits = sum(load["kv"]["hits"] for load in loads)
    unsent = failures["unsent"]
    return [
        (
            "the load was sent to its end: else a busy machine made it fall behind, and what was under way was cut off",
            unsent == 0,
            f"{unsent} requests never sent",
        ),
        (
            "the faults were carried out",
            not faults.failed and bool(faults.faults),
            faults.failed or f"{len(faults.faults)}",
        ),
        (
            "no wrong value",
            failures["wrong"] == 0 and not wrong,
            f"{hits} values of the load compared, {failures['wrong']} wrong",
        ),
        (
            "no answer out of order, none but what is possible",
            not wrong and checked > 0,
            "; ".join(wrong) or f"{checked} numbered batches, {quiet} of them with all servers well: no error in these",
        ),
        (
            f"no stuck connection: each batch answered within {ANSWERED_S:g} s, no request of the load lost",
            not any(stuck.values()) and not wrong,
            f"longest batch {max(t.longest_s for t in tallies):.2f} s; lost: {sum(stuck.values())}",
        ),
        (
            "nothing left in the proxy",
            raw["left"]["connections"] == 1 and raw["left"]["queue_length"] == 0,
            f"{raw['left']}",
        ),
        (f"memory flat: {RULE}", memory.is_flat(), memory.told()),
        *counts(raw, tallies),
    ]


def counts(raw: Json, tallies: list[Tally]) -> list[Judgement]:
    """What the proxy counted, beside what its clients did."""
    proxy, loads = raw["proxy"], [raw[name] for name in LOADS]
    clients = sum((tally.kinds for tally in tallies), Counter({"admin": raw["left"]["asked"]}))
    for load in loads:
        clients["set"] += load["kv"]["populated"]
        for name, kind in CLASSES.items():
            seen = load["kv"]["classes"].get(name, {"ok": 0, "failed": 0})
            clients[kind] += seen["ok"] + seen["failed"]
    unsent = sum(load["failures"].get("unsent", 0) for load in loads)
    kinds = {kind: count for kind, count in proxy["by_kind"].items() if count}
    same = kinds == dict(clients) if unsent == 0 else sum(kinds.values()) == clients.total() - unsent
    errors = sum(load["failures"].get("error", 0) for load in loads) + sum(tally.errors for tally in tallies)
    hits, misses = (
        sum(load["kv"][n] for load in loads) + sum(getattr(t, n) for t in tallies) for n in ("hits", "misses")
    )
    opened = sum(lane["connections_opened"] for load in loads for lane in load["lanes"])
    opened += sum(load["kv"]["populated"] > 0 for load in loads) + sum(tally.connections for tally in tallies) + 1
    pairs = [("errors", proxy["errors"], errors), ("hits", proxy["hits"], hits), ("misses", proxy["misses"], misses)]
    pairs += [
        ("connections", proxy["accepted"], opened),
        ("requests answered", proxy["completions"], proxy["arrivals"]),
    ]
    return [
        (
            "requests by kind are the same on both sides",
            same,
            f"{dict(clients)}" + (f" less {unsent} never sent" if unsent else ""),
        ),
        *(
            (f"{name} are the same on both sides", mine == theirs, f"{mine} and {theirs}")
            for name, mine, theirs in pairs
        ),
    ]


def summary(asked: Json, judged: list[Judgement], raw: Json, tallies: list[Tally], faults: Faults) -> str:
    """The judgements, and what happened."""
    kinds = Counter(fault.kind for fault in faults.faults)
    late = max((faults.recovery_s(at) for tally in tallies for at, _ in tally.said), default=0.0)
    opened = raw["open"]
    lines = [
        f"# Soak of the {asked['design']} proxy before {version()}", "",
        f"Seed {asked['seed']}, {asked['seconds']:g} s, three servers. Closed loop: {raw['closed']['achieved_per_s']:.0f} requests/s; "
        f"then {opened['offered_per_s']:.0f}/s offered, {opened['achieved_per_s']:.0f}/s answered well.", "",
        "| judgement | holds | seen |", "|---|---|---|",
        *(f"| {what} | {'yes' if good else 'NO'} | {seen} |" for what, good, seen in judged), "",
        "Faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) + "; faults.csv has each. "
        f"The last error after a fault came {late:.2f} s after its end; more than {RECOVERY_S:g} s would be a fault of the proxy.", "",
        f"Errors that the load was told: {opened['failures']}; the proxy's connections to servers were opened again "
        f"{sum(server['reconnects'] for server in raw['proxy']['servers'])} times.", "",
    ]  # fmt: skip
    return "\n".join(lines)
