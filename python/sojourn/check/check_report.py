"""A check as lines, as a document for a pull request, and as cases for a test reporter."""

from __future__ import annotations

from sojourn.check.check import CheckedLoad, CheckResult
from sojourn.check.finding import Finding
from sojourn.report import Document, JunitCase, Section, Table
from sojourn.report.junit import Outcome
from sojourn.units import per_second, seconds

OUTCOMES: dict[str | None, Outcome] = {"contradiction": "missed", "misleading": "missed", "note": "met", None: "met"}


def lines(found: CheckResult) -> list[str]:
    """For a terminal: what each file is, what is wrong with it, and the verdict last."""
    said = []
    for load in found.loads:
        said += [summary(load), *(line for one in load.findings for line in _finding(one)), *_cannot(load), ""]
    if found.across:
        said += ["together:", *(line for one in found.across for line in _finding(one)), ""]
    grave = [one for one in found.findings if one.severity != "note"]
    count = (
        "nothing wrong found"
        if not grave
        else f"{len(grave)} found: {', '.join(dict.fromkeys(one.title for one in grave))}"
    )
    return [*said, f"{len(found.loads)} load{'s' if len(found.loads) != 1 else ''}, {count}"]


def summary(load: CheckedLoad) -> str:
    """A line: the file, the tool, and its figures."""
    facts, of = load.facts, load.facts.of
    parts = [f"{of.tool} {of.version}" if of.version else of.tool]
    if facts.answered is not None:
        parts.append(f"{facts.answered} requests" + (f", {facts.failed} failed" if facts.failed else ""))
    if of.users is not None:
        parts.append(f"{of.users:.4g} users")
    if facts.rate_per_s is not None:
        parts.append(per_second(facts.rate_per_s))
    if facts.mean_s is not None:
        parts.append(f"mean {seconds(facts.mean_s)}")
    return f"{facts.source}: {'; '.join([*parts, *of.left_out])}"


def _finding(one: Finding) -> list[str]:
    return [f"  {one.severity} ({one.certainty}): {one.title}: {one.found}", f"    {one.meaning}", f"    {one.remedy}"]


def _cannot(load: CheckedLoad) -> list[str]:
    asked = f"  asked: {', '.join(load.laws_checked) or 'nothing: the file says too little'}"
    missing = load.facts.of.missing_values
    return [asked, f"  the file does not say: {', '.join(missing)}"] if missing else [asked]


def check_document(found: CheckResult) -> Document:
    """The verdict, the findings and the loads as tables."""
    grave = [one for one in found.findings if one.severity != "note"]
    rows = tuple(
        (one.title, one.severity, one.certainty, one.source, one.found, one.meaning, one.remedy)
        for one in found.findings
    )
    findings = Table("", ("law", "severity", "how sure", "file", "found", "what it means", "what to do"), rows)
    loads = Table(
        "", ("load", "asked", "the file does not say"),
        tuple((summary(one), ", ".join(one.laws_checked), ", ".join(one.facts.of.missing_values)) for one in found.loads),
    )  # fmt: skip
    verdict = found.verdict if not grave else f"{found.verdict}: {', '.join(dict.fromkeys(one.title for one in grave))}"
    return Document(
        title="Laws asked of results", subtitle="", verdict=[verdict], status="warn" if grave else "ok",
        sections=(*((Section("Findings", "", (findings,)),) if rows else ()), Section("Loads", "", (loads,))),
    )  # fmt: skip


def junit_cases(found: CheckResult) -> list[JunitCase]:
    """A case for each load."""
    cases = [JunitCase(one.facts.source, OUTCOMES[one.severity], _text(one.findings)) for one in found.loads]
    if found.across:
        cases.append(JunitCase("all together", "missed", _text(found.across)))
    return cases


def _text(findings: tuple[Finding, ...]) -> str:
    return "\n".join(line.strip() for one in findings for line in _finding(one)) or "nothing wrong found"
