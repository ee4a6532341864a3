"""Little's law and the interactive law on users: how many of them are in the service, and where the others are.

A user, or a connection, has at most one request in the service (some tools allow several: `SEVERAL`). So in any length of time the
response times of one user add up to no more than that length, whatever the distributions: X R ≤ N (Denning and Buzen 1978, Little's
law); with a think time Z, X (R + Z) = N.
"""

from __future__ import annotations

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Certainty, Finding
from sojourn.check.time_units import unit_hint
from sojourn.units import per_second, percent, seconds

TOLERANCE = 0.1  # requests that were in flight at the ends, and rounding, explain less
IDLE = 0.25  # share of users that are neither waiting nor thinking
SMALL_SHARE = 0.001  # of failures: their time is in no mean
SEVERAL = {"k6", "gatling", "jmeter", "csv"}  # whose users may have several requests at once, or whose files do not say
CAUSES = {
    "k6": "a script that sends several requests at once (`http.batch`) does this; else the times are of something else than the requests",
    "gatling": "a scenario that fetches several at once (`resources`, `inferHtmlResources`) does this; else the times are of something "
    "else than the requests",
    "jmeter": "rows of Transaction Controllers, which sum up others, do this where the file has no column responseMessage, and parallel "
    "downloads do; else the times are of something else than the requests",
    "csv": "users that have several requests at once do this; else throughput and response times belong to different requests or runs",
    "wrk": "wrk up to 4.1 adds made-up values to its latencies, so that its mean is of more values than there were requests",
}
OTHER = "the response times and the throughput belong to different requests, or one of them is an average over different runs"


def little(facts: LoadFacts) -> list[Finding] | None:
    """X R ≤ N (1 + tolerance), of a closed loop."""
    rate, mean, users = facts.rate_per_s, facts.mean_s, facts.of.users
    if rate is None or mean is None or not users or facts.of.open_loop:
        return None
    if facts.answered is not None and facts.answered < users:
        return None
    present = rate * mean
    if present <= users * (1 + TOLERANCE + facts.of.rounding) + rate * facts.of.rounding_s:
        return []
    return [
        Finding(
            "littles_law", "contradiction", _sure(facts), facts.source,
            f"{per_second(rate)} x {seconds(mean)} = {present:.4g} requests in the service at once, with {users:.4g} users: "
            f"{percent(present / users - 1, 0, True)}",
            f"throughput and mean response time cannot both be true; {CAUSES.get(facts.of.tool, OTHER)}",
            f"{unit_hint(present / users)}take neither number; measure again with a tool that records each request, or with the means of "
            "single runs",
            {"throughput_per_s": rate, "mean_s": mean, "present": present, "users": users},
        )
    ]  # fmt: skip


def _sure(facts: LoadFacts) -> Certainty:
    return "likely" if facts.of.tool in SEVERAL else "certain"


def interactive(facts: LoadFacts) -> list[Finding] | None:
    """N = X (R + Z), of a closed loop whose think time is known: both sides."""
    rate, mean, users, pause = facts.rate_per_s, facts.mean_s, facts.of.users, facts.of.think_s
    if rate is None or mean is None or not users or pause is None or facts.of.open_loop is not False:
        return None
    if (facts.answered or 0) < 20 * users:
        return None
    if (
        not facts.of.counts_failures
        and facts.requests is None
        and (facts.failed or 0) > SMALL_SHARE * (facts.answered or 0)
    ):
        return None
    sum_, accounted, numbers = _accounted(rate, mean, pause, users)
    if pause and accounted > users * (1 + TOLERANCE + facts.of.rounding) >= rate * mean:
        return [
            Finding(
                "interactive_law", "contradiction", _sure(facts), facts.source, f"{sum_}: {percent(accounted / users - 1, 0, True)}",
                "throughput, response time and think time cannot all be true: users would have thought for less than is said",
                "look up the think time in the script; it may be of something else than every request", numbers,
            )
        ]  # fmt: skip
    if facts.sent_per_s is not None:  # one slow last answer is no idle client
        sum_, accounted, numbers = _accounted(facts.sent_per_s, mean, pause, users)
    if accounted >= users * (1 - IDLE):
        return []
    return [
        Finding(
            "client_limit", "misleading", "likely", facts.source,
            f"{sum_}: {percent(1 - accounted / users, 0)} of their time is neither waiting for the service nor thinking",
            "the load generator, or connecting anew, took that time: the throughput is the client's limit, and the service could do more",
            f"{unit_hint(accounted / users) if not pause else ''}give the generator more cores or threads, keep connections open, and "
            "compare the throughput at more users", numbers,
        )
    ]  # fmt: skip


def _accounted(rate: float, mean: float, pause: float, users: float) -> tuple[str, float, dict[str, float]]:
    """The sum in words, the users of whom it knows where they are, and its numbers."""
    found = rate * (mean + pause)
    said = f"{per_second(rate)} x ({seconds(mean)} + {seconds(pause)} think time) = {found:.4g} users of {users:.4g}"
    return (
        said,
        found,
        {"throughput_per_s": rate, "mean_s": mean, "think_s": pause, "accounted_users": found, "users": users},
    )


def one_connection(facts: LoadFacts) -> list[Finding] | None:
    """A single user sends 1/(R + Z), whatever the service could do."""
    if facts.of.users != 1 or facts.rate_per_s is None or facts.mean_s is None or facts.of.open_loop:
        return None
    return [
        Finding(
            "one_connection", "note", "certain", facts.source,
            f"one connection, which waits for each answer: {per_second(facts.rate_per_s)} is 1/{seconds(1 / facts.rate_per_s)}",
            "the throughput is that of one connection, not what the service can do", "load it with more connections",
            {"throughput_per_s": facts.rate_per_s, "mean_s": facts.mean_s, "users": 1.0},
        )
    ] if facts.rate_per_s > 0 else []  # fmt: skip


def client_busy(facts: LoadFacts) -> list[Finding] | None:
    """The generator's own core."""
    busy = facts.of.client_busy
    if busy is None:
        return None
    if busy < 0.9:
        return []
    return [
        Finding(
            "client_limit", "misleading", "likely", facts.source, f"the load generator was busy for {percent(busy, 0)} of the time",
            "times include waiting for the generator's own processor", "give it more threads or cores, or less load",
            {"client_busy": busy},
        )
    ]  # fmt: skip
