"""Utilisation law: X S = m U; and what a host did while a load ran (Denning and Buzen 1978)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Certainty, Finding
from sojourn.check.time_units import unit_hint
from sojourn.readers import Observation
from sojourn.readers.observation import Array
from sojourn.units import per_second, percent, seconds

TOLERANCE, SMALL = 0.15, 0.03
FULL = 0.95
FALLS, RISES = 0.1, 1.5


def utilisation(facts: LoadFacts) -> list[Finding] | None:
    """At one resource whose service time the file says; and Little's law on the number that it says, present or waiting."""
    of, found, asked = facts.of, [], False
    busy = max(of.busy.values(), default=None)
    if busy is not None and of.throughput_per_s is not None and of.service_s is not None:
        asked = True
        expected = of.throughput_per_s * of.service_s / of.servers
        if abs(expected - busy) > TOLERANCE * max(expected, busy) + SMALL:
            found.append(
                Finding(
                    "utilisation_law", "contradiction", "certain", facts.source,
                    f"{per_second(of.throughput_per_s)} x {seconds(of.service_s)} / {of.servers} = {percent(expected, 0)} busy, not "
                    f"{percent(busy, 0)}", "throughput, service time and utilisation cannot all be true",
                    f"{unit_hint(expected / busy) if busy else ''}look whose time it is, of how many cores, and whether both are "
                    "of the same minutes",
                    {"expected": expected, "said": busy, "throughput_per_s": of.throughput_per_s, "service_s": of.service_s},
                )
            )  # fmt: skip
    if of.queue_length is not None and facts.rate_per_s is not None and facts.mean_s is not None:
        asked = True
        found += _queue(facts, of.queue_length, facts.rate_per_s, facts.mean_s)
    return found if asked else None


def _queue(facts: LoadFacts, said: float, rate: float, mean: float) -> list[Finding]:
    """A queue length is the number present or, as often, that of those that wait; without a service time the latter is anything below."""
    service = facts.of.service_s
    present = rate * mean
    waiting = min(present, said) if service is None else max(rate * (mean - service), 0.0)
    if any(abs(one - said) <= TOLERANCE * max(one, said) + SMALL for one in (present, waiting)):
        return []
    of_them = f", of which {waiting:.4g} wait" if service is not None else ""
    return [
        Finding(
            "littles_law", "contradiction", "likely", facts.source,
            f"{per_second(rate)} x {seconds(mean)} = {present:.4g} present{of_them}, not {said:.4g}",
            "throughput, response time and number present cannot all be true",
            f"{unit_hint(present / said) if said else ''}look whether all are of the same requests",
            {"present": present, "said": said} | ({"waiting": waiting} if service is not None else {}),
        )
    ]  # fmt: skip


def over_full(facts: LoadFacts) -> list[Finding] | None:
    """More than all of a resource, and a resource that had nothing left."""
    if not facts.of.busy:
        return None
    found = []
    sure: Certainty = "likely" if facts.of.tool == "csv" else "certain"  # a column may be in percent, and not say so
    for name, share in facts.of.busy.items():
        if share > 1.02:
            found.append(
                Finding(
                    "utilisation_law", "contradiction", sure, facts.source, f"{name} is said to be busy for {percent(share, 0)}",
                    "no resource is busy for more than all of the time", "divide by the number of cores or disks", {"said": share},
                )
            )  # fmt: skip
        elif share > FULL and facts.of.tool == "sadf":
            found.append(
                Finding(
                    "utilisation_law", "note", "certain", facts.source, f"{name} was busy for {percent(share, 0)}",
                    "this host had nothing left: if the load generator ran on it, its times are late", "say which host it is",
                    {"said": share},
                )
            )  # fmt: skip
    return found


def host_and_load(observations: Sequence[Observation]) -> list[Finding]:
    """Each load beside each host's series of the same time: more work must keep something busier."""
    hosts = [one for one in observations if one.windows is not None and one.windows.busy and one.start_s]
    loads = [LoadFacts(one) for one in observations if one.requests is not None and one.start_s]
    return [finding for load in loads for host in hosts for finding in _beside(load, host)]


def _beside(load: LoadFacts, host: Observation) -> list[Finding]:
    assert load.requests is not None and host.windows is not None
    begin, length = host.windows.start_s, host.windows.length_s
    ends = np.sort(load.requests.end_s)
    rate: Array = (np.searchsorted(ends, begin + length) - np.searchsorted(ends, begin)) / length
    inside = (begin >= load.requests.start_s[0]) & (begin + length <= ends[-1])
    if inside.sum() < 10:
        return []
    order = np.argsort(rate[inside])
    third = max(3, order.size // 3)
    low, high = order[:third], order[-third:]
    before, after = float(rate[inside][low].mean()), float(rate[inside][high].mean())
    if after < RISES * max(before, 1e-9):
        return []
    change = {
        name: float(np.nanmean(v[inside][high]) - np.nanmean(v[inside][low])) for name, v in host.windows.busy.items()
    }
    name = max(change, key=lambda one: change[one])
    if change[name] > -0.02 and max(change.values()) > 0.02:
        return []
    return [
        Finding(
            "utilisation_law", "misleading", "likely", f"{load.source} and {host.label}",
            f"throughput rises from {per_second(before)} to {per_second(after)}, and nothing on the host gets busier "
            f"(most: {name}, {percent(change[name], 1, True)})",
            "these are not data of the host that served the load, or their clocks differ",
            "check the name of the host, and both time zones",
            {"low_per_s": before, "high_per_s": after, "change": change[name]},
        )
    ]  # fmt: skip
