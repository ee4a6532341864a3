"""`check`: the laws asked of results that some tool wrote, each where the file says enough for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.check import (
    honesty,
    host,
    load_levels,
    occupancy,
    omission,
    quantile_bounds,
    schedule,
    steadiness,
    validity,
)
from sojourn.check.facts import LoadFacts
from sojourn.check.finding import LAWS, SEVERITIES, Finding, Severity
from sojourn.former_keyword import former_field, former_keyword
from sojourn.readers import Observation, read_observations

Rule = Callable[[LoadFacts], list[Finding] | None]
RULES: dict[str, Rule] = {
    "Little's law": occupancy.little,
    "interactive law": occupancy.interactive,
    "limit of one connection": occupancy.one_connection,
    "time of the load generator": occupancy.client_busy,
    "order of quantiles": quantile_bounds.order,
    "mean between quantiles": quantile_bounds.mean,
    "rate that was asked for": schedule.rate,
    "dropped requests": schedule.dropped,
    "pauses of the generator": schedule.pauses,
    "requests held by connections": schedule.held,
    "stalls that users wait through": omission.stalls,
    "stalls behind the most": omission.summary,
    "trend": steadiness.trend,
    "warm-up": steadiness.warm_up,
    "steps of the clock": honesty.coarse,
    "failures": honesty.failures,
    "counts": honesty.counts,
    "averaged quantiles": honesty.averaged,
    "utilisation law": host.utilisation,
    "resources": host.over_full,
    "validity of the run": validity.validity,
}
VERDICTS: dict[Severity | None, str] = {
    "contradiction": "cannot all be true",
    "misleading": "does not say what it seems to",
    "note": "nothing wrong found",
    None: "nothing wrong found",
}


@former_field(asked="laws_checked", weight="severity")
@dataclass(frozen=True)
class CheckedLoad:
    """One load in one file: what it is, which laws could be asked of it, and what they said."""

    facts: LoadFacts
    laws_checked: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def severity(self) -> Severity | None:
        """The gravest of its findings; None: there is none."""
        return gravest(self.findings)

    def to_dict(self) -> dict[str, Any]:
        of, facts = self.facts.of, self.facts
        return {
            "source": of.source, "name": of.name, "tool": of.tool, "version": of.version, "requests": facts.answered,
            "failed": facts.failed,            "duration_s": facts.length_s, "throughput_per_s": facts.rate_per_s, "mean_s": facts.mean_s,
            "users": of.users, "laws_checked": list(self.laws_checked),
            "missing_values": list(of.missing_values), "valid": of.valid, "invalid_reasons": list(of.invalid_reasons),
        }  # fmt: skip


@former_field(weight="severity")
@dataclass(frozen=True)
class CheckResult:
    """All loads of all files; `across`: findings of several of them together."""

    loads: tuple[CheckedLoad, ...]
    across: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All, the gravest first."""
        every = [finding for load in self.loads for finding in load.findings]
        return tuple(sorted([*every, *self.across], key=lambda one: SEVERITIES.index(one.severity)))

    @property
    def severity(self) -> Severity | None:
        """The gravest of all; None: there is none."""
        return gravest(self.findings)

    @property
    def verdict(self) -> str:
        return VERDICTS[self.severity]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "verdict": self.verdict, "severity": self.severity, "findings": [one.to_dict() for one in self.findings],
            "load_tests": [one.to_dict() for one in self.loads],
        }  # fmt: skip


def gravest(findings: Sequence[Finding]) -> Severity | None:
    """The severity of the gravest; None where there is none."""
    return min((one.severity for one in findings), key=SEVERITIES.index, default=None)


@former_keyword(format_name="input_format")
def check(files: Sequence[Path | str], input_format: str | None = None) -> CheckResult:
    """The laws asked of result files of load tools, of host metrics beside them, and of run folders.

    Args:
        files: at least one; their formats are found from what is in them.
        input_format: of all of them, where it cannot be found; one of `sojourn.readers.NAMES`.

    Raises:
        InputError: a file of no known format, cut off, damaged or too large, with its place.
    """
    return check_observations([one for file in files for one in read_observations(file, input_format)])


def check_observations(observations: Sequence[Observation]) -> CheckResult:
    """The same of what was read already."""
    across = (*host.host_and_load(observations), *load_levels.falling(observations))
    return CheckResult(tuple(check_one(one) for one in observations), across)


def check_one(observation: Observation) -> CheckedLoad:
    """Every law that this load says enough for."""
    facts = LoadFacts(observation)
    said = {name: rule(facts) for name, rule in RULES.items()}
    asked = tuple(name for name, found in said.items() if found is not None)
    findings = [finding for found in said.values() for finding in found or []]
    assert all(one.law in LAWS for one in findings)
    return CheckedLoad(facts, asked, tuple(sorted(findings, key=lambda one: SEVERITIES.index(one.severity))))
