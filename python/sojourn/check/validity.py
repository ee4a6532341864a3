"""Run folders of sojourn: what was said of the run when it was made."""

from __future__ import annotations

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding


def validity(facts: LoadFacts) -> list[Finding] | None:
    """Whether the run was judged not valid; None where nobody judged it."""
    if facts.of.valid is None:
        return None
    if facts.of.valid:
        return []
    reasons = "; ".join(facts.of.invalid_reasons) or "no reason is given"
    return [
        Finding(
            "run_not_valid", "misleading", "certain", facts.source, f"the run was judged not valid: {reasons}",
            "its figures are not those of the service under the load that was asked for", "measure again without this, or leave it out", {},
        )
    ]  # fmt: skip
