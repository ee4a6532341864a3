"""The sentences of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.diagnosis.diagnosis_types import Diagnosis, LoadLevel, Rate, WatchedResource
from sojourn.runs.pauses import grow_with_load, together
from sojourn.units import interval, per_second, percent, seconds

CLIENT = "give the load generator its own cores or host, or more --connections, and measure again"
LEVELS = 4  # fewer do not tell how full a queue is
MORE, CAREFUL = 2.0, 1.25  # of the rate that was measured: nobody knows more; with response times that have grown
GROWN = 1.5
ALIKE = 0.05  # rates that differ by less, relative, are one
NEARLY = 0.95  # of the rate at which a fitted model is full
WIDE = 1.3  # of the upper by the lower end of that rate, from which on moderate rates did not tell it
UNKNOWN = "cannot tell what the limit is"
MOST_TOLD = 6  # settings of which each has lines of its own
UNSEEN = "change one limit at a time (measure --factor workers=8), and measure further resources (--service-disk, --service-cgroup)"


def at(top: LoadLevel) -> str:
    return f"{top.users} users" if top.users else per_second(top.throughput_per_s)


def limited(
    one: WatchedResource, top: LoadLevel, queue: tuple[float, float] | None, full: bool, fitted: float | None = None
) -> str:
    does = (
        "more requests arrive than leave"
        if full and not top.users
        else "more users bring no more throughput"
        if full
        else ""
    )
    said = [f"{percent(one.busy, 0)} busy at {at(top)}", does or queue_says(queue)]
    rate = top.throughput_per_s
    law = rate / one.busy
    ends = f"it is full at {per_second(law)}"
    if fitted is not None and abs(fitted / law - 1) > ALIKE:
        ends = f"it would be full at {per_second(law)}; by the fitted model the service is full at {per_second(fitted)}"
    allows = f"a request takes {seconds(one.busy / rate)} of it, so that {ends}"
    return f"the limit is {one.name}: {', and '.join(filter(None, said))}; {allows}"


def unseen(busiest: WatchedResource | None, top: LoadLevel, queue: tuple[float, float] | None, full: bool) -> str:
    seen = (
        "no resource of the service was measured"
        if busiest is None
        else f"{busiest.name} {_are(busiest)} {percent(busiest.busy, 0)} busy"
    )
    if full:
        told = f"at {at(top)} {'more users bring no more throughput' if top.users else 'more requests arrive than leave'}, while {seen}"
    else:
        told = f"at {at(top)} {seen}, where {queue_says(queue)}"
    what = "not known" if busiest is None else "a lock, a pool or another resource that was not measured"
    return f"the limit is {what}: {told}"


def _are(one: WatchedResource) -> str:
    return "are" if one.name.startswith("cores") else "is"


def queue_says(queue: tuple[float, float] | None) -> str:
    if queue is None:
        return ""
    low, high = queue
    if high >= 0.995:
        return f"response times grow as in a queue that is at least {percent(low, 0)} full"
    return f"response times grow as in a queue that is {percent(low, 0)} to {percent(high, 0)} full"


def unknown(order: Sequence[LoadLevel], busiest: WatchedResource | None) -> str:
    first, top = order[0], order[-1]
    seen = "" if busiest is None else f", and {busiest.name} {_are(busiest)} {percent(busiest.busy, 0)} busy"
    if len(order) == 1:
        return f"{UNKNOWN}: there is one level, {at(top)}{seen}"
    grew = f"from {at(first)} to {at(top)} the response time goes from {seconds(first.response_s)} to {seconds(top.response_s)}"
    return f"{UNKNOWN}: {grew}{seen}"


def more(
    order: Sequence[LoadLevel],
    busiest: WatchedResource | None,
    queue: tuple[float, float] | None = None,
    fitted: Rate | None = None,
) -> str:
    """What to measure next: never beyond where the service may be full by a model, by what was watched, or by its response times."""
    top = order[-1]
    if top.users:
        return f"measure with more users, up to {4 * top.users} or until throughput no longer grows"
    rate = top.throughput_per_s
    fewer = len({level.offered_per_s for level in order}) < LEVELS
    what = "measure at four levels or more, up to" if fewer else "measure at higher rates, up to"
    if fitted is not None:
        value, low, _ = fitted
        ends = f"the fitted model is full at {interval(*fitted, '1/s')}"
        most = low if low is not None else NEARLY * value
        if most < (1 + ALIKE) * rate:
            return f"run longer, or more often, at the measured rates: {ends}"
        return f"{what} {per_second(most, 2)}: {ends}{_by_users(fitted)}"
    most = MORE * rate
    if busiest is not None and busiest.busy > 0:
        most = min(most, 0.85 * rate / busiest.busy)
    if order[0].response_s < top.response_s / GROWN:
        most = min(most, CAREFUL * rate)
    if most < (1 + ALIKE) * rate:
        return "run longer, or more often, at the measured rates"
    return f"{what} {per_second(most, 2)}"


def _by_users(fitted: Rate) -> str:
    """Moderate rates do not tell what a request takes under load (docs/decisions/0047); users who wait never ask for more than they get."""
    _, low, high = fitted
    if low is None or high is None or high < WIDE * low:
        return ""
    return "; a few users (measure --users 4 --for 4s) load it with 4 requests at most, and it bears the rate that they get"


def pauses(order: Sequence[LoadLevel]) -> str:
    """Of all levels together; empty where there are too few."""
    runs = [level.pauses for level in order if level.pauses is not None]
    found = together(runs)
    if found is None:
        return ""
    often = (
        f"one after {found.answers / len(found.lengths_s):.0f} answers"
        if grow_with_load(runs)
        else f"{found.per_s:.2g} a second"
    )
    adds = f"they add {seconds(found.adds_s(0.0))} to the mean response time at rest, and 1/(1 - u) times that where the service is u busy"
    return f"it pauses: on average for {seconds(found.mean_s)} nothing is answered, {often}; {adds}"


def relief(one: WatchedResource) -> str:
    if one.kind == "thread":
        return "run more processes or threads that can work at once, or a request that takes less CPU"
    if one.kind == "disk":
        return "find out what reads and writes, or add a second disk; then measure again: the next limit is elsewhere"
    if one.name.startswith("cores "):
        return (
            "measure the service's use of them separately from the load generator's (--service-pids or "
            "--service-cgroup); then try one core more or less"
        )
    if one.kind == "cores":
        return "one core more or less (measure --factor cores=N) shows whether throughput follows"
    return f"change the number of servers of {one.name}, and see whether throughput follows"


def table(found: Mapping[str, Diagnosis]) -> list[dict[str, object]]:
    """For programs: a row a setting of the service."""
    return [
        {"setting": setting, "kind": one.kind, "name": one.name, "sentence": one.sentence, "next_step": one.next_step,
         "utilisation_by_waiting": one.utilisation_by_waiting, "saturation_rate_per_s": one.saturation_rate_per_s,
         "busy_shares": dict(one.busy_shares), "changing_times": one.changing_times, "pauses": one.pauses, "summary": summary(one)}
        for setting, one in found.items()
    ]  # fmt: skip


def lines(found: Mapping[str, Diagnosis]) -> list[str]:
    """For a person: two lines a setting, and one for times that change and for pauses. Of more settings
    than `MOST_TOLD` those that tell nothing have one line together."""
    silent = [one for one in found.values() if one.kind == "unknown"]
    if len(found) <= MOST_TOLD or not silent:
        return [line for setting, one in found.items() for line in _told(setting, one)]
    told = [line for setting, one in found.items() if one.kind != "unknown" for line in _told(setting, one)]
    return [
        *told,
        f"{UNKNOWN} at {len(silent)} of {len(found)} settings; at the first{silent[0].sentence.removeprefix(UNKNOWN)}",
        f"  next: {silent[0].next_step}",
    ]


def _told(setting: str, one: Diagnosis) -> list[str]:
    beside = [f"  {text}" for text in (one.changing_times, one.pauses) if text]
    return [f"{f'{setting}: ' if setting else ''}{one.sentence}", *beside, f"  next: {one.next_step}"]


def summary(found: Diagnosis) -> str:
    """What a user came for: `2.40 ms → 4.70 ms up to 749 /s, cores 0-1 82 % busy, full near 950 /s`."""
    first, top = found.first, found.top
    grown = (
        seconds(top.response_s) if first is top else f"{seconds(first.response_s)} → {seconds(top.response_s)} up to"
    )
    parts = [f"{grown} {'at ' if first is top else ''}{at(top)}"]
    parts += [f"{top.users and per_second(top.throughput_per_s)}"] if top.users else []
    if found.busy_shares:
        name = (
            found.name
            if found.name in found.busy_shares
            else max(found.busy_shares, key=lambda n: found.busy_shares[n])
        )
        parts.append(f"{name} {percent(found.busy_shares[name], 0)} busy")
    if found.saturation_rate_per_s is not None:
        parts.append(f"full near {interval(*found.saturation_rate_per_s, '1/s')}")
    return ", ".join(parts)
