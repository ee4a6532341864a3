"""Throughputs derived from response times, and queue lengths beside waiting times.

Laws: interactive law X = N/(R + Z) with Z ≥ 0, so that N/R is never below X (2 % for the sampling of two means); Little's
law: with the queues of k equal middlewares, X W is k times the length of one, with one whole k for the whole table; a
response time is at least as long as its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.findings.law_violation import LawViolation, relative, text
from sojourn.findings.printed_numbers import PrintedNumber, PublishedTable

SAMPLING = 0.02
LITTLE = 0.05
DERIVED = "throughput_derived_from_mw_rt_ops_per_s"
THROUGHPUT = "throughput_middleware_ops_per_s"
WAIT, LENGTH, SERVICE = "average_time_in_queue_ms", "average_length_of_queue", "average_time_waiting_for_memcached_ms"


def check(found: Sequence[PublishedTable]) -> Iterator[LawViolation]:
    most = _most_clients(found)
    for sheet in found:
        if sheet.has("clients", "derived_ops_per_s", "measured_ops_per_s"):
            yield from _interactive(sheet)
        if sheet.has(THROUGHPUT, WAIT, LENGTH):
            yield from _lengths(sheet)
        if sheet.has(DERIVED, WAIT, SERVICE) and most:
            yield from _parts(sheet, most)


def _most_clients(found: Sequence[PublishedTable]) -> float | None:
    cells = [s.number(row, c) for s in found for c in s.columns if c.endswith("clients") for row in s.rows]
    return max((cell.value for cell in cells if cell), default=None)


def _interactive(sheet: PublishedTable) -> Iterator[LawViolation]:
    for row in sheet.rows:
        place = f"section {row['section']}, {row['workload']}" if sheet.has("section", "workload") else ""
        derived, measured = sheet.number(row, "derived_ops_per_s"), sheet.number(row, "measured_ops_per_s")
        clients, response = sheet.number(row, "clients"), sheet.number(row, "response_time_ms")
        if clients and response and derived:
            yield from _derivation(sheet, place, clients, response, derived)
        if derived and measured and measured.value > derived.value * (1 + SAMPLING):
            yield LawViolation(
                "interactive law with Z ≥ 0", sheet.label, place, "derived_ops_per_s", derived.text,
                f"at least {measured.text}", relative(derived.value, measured.value),
                "N/R is never below the measured throughput: a think time makes it larger",
            )  # fmt: skip


def _derivation(
    sheet: PublishedTable, place: str, clients: PrintedNumber, response: PrintedNumber, derived: PrintedNumber
) -> Iterator[LawViolation]:
    high, low = (1e3 * clients.value / bound for bound in response.bounds)
    if not low - derived.unit <= derived.value <= high + derived.unit:
        expected = 1e3 * clients.value / response.value
        yield LawViolation(
            "interactive law X = N/R", sheet.label, place, "derived_ops_per_s", derived.text, text(expected),
            relative(derived.value, expected),
            f"{clients.text} clients with {response.text} ms; the value belongs to "
            f"{derived.value * response.value / 1e3:.3g} clients",
        )  # fmt: skip


def _lengths(sheet: PublishedTable) -> Iterator[LawViolation]:
    """One finding for the table: no number of equal queues explains the lengths."""
    ratios = []
    for row in sheet.rows:
        x, wait, length = (sheet.number(row, c) for c in (THROUGHPUT, WAIT, LENGTH))
        if x and wait and length and length.value:
            ratios.append(x.value * wait.value / 1e3 / length.value)
    if not ratios or any(all(abs(r / k - 1) <= LITTLE for r in ratios) for k in range(1, round(max(ratios)) + 2)):
        return
    yield LawViolation(
        "Little's law", sheet.label, "", LENGTH, "X·W is " + ", ".join(f"{r:.2f}" for r in ratios) + " times the length",
        "one whole number, that of the queues", None,
        "queue length, waiting time and throughput are not from the same requests",
    )  # fmt: skip


def _parts(sheet: PublishedTable, most: float) -> Iterator[LawViolation]:
    for row in sheet.rows:
        derived, wait, service = (sheet.number(row, c) for c in (DERIVED, WAIT, SERVICE))
        if not derived or not wait or not service:
            continue
        needed = derived.value * (wait.value + service.value) / 1e3
        if needed > most * (1 + SAMPLING):
            yield LawViolation(
                "a response is at least as long as its parts", sheet.label,
                f"{row['worker_threads']} workers" if "worker_threads" in row else "", DERIVED, derived.text,
                f"at most {1e3 * most / (wait.value + service.value):.0f}", needed / most - 1,
                f"with {wait.text} ms in the queue and {service.text} ms of service it needs {needed:.0f} clients; no run "
                f"had more than {most:.0f}",
            )  # fmt: skip
