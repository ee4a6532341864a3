"""The report of a study: verdict, the document's figures on our data, tables, how it was measured."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.report import Document, Section, Table, Text
from sojourn.study import figures
from sojourn.study.judge import all_errors, blind_errors
from sojourn.study.phases import Findings
from sojourn.study.plan import Plan
from sojourn.study.verdict import TABLE_INDENT
from sojourn.units import percent, seconds
from sojourn.validate import table3


def study_document(found: Findings, plan: Plan, verdict: list[str]) -> Document:
    """Puts everything a study found into one document."""
    runs = [run for g in found.groups for run in (*g.baseline_runs, *(r for p in g.predictions for r in p.runs))]
    invalid = [run for run in runs if not run.manifest["valid"]]
    return Document(
        title=plan.study.title,
        subtitle=f"study {plan.study.name}, seed {plan.study.load.seed}",
        verdict=[line.strip() for line in verdict if not line.startswith(TABLE_INDENT)],
        status="warn" if invalid or found.not_shown else "ok",
        sections=tuple(
            section
            for section in (
                _lacking(found.not_shown),
                *_groups(found),
                _tables(found),
                found.truth.section() if found.truth else None,
                _how(found, plan, runs),
            )
            if section
        ),
        footer=_footer(runs),
    )


def _lacking(not_shown: list[str]) -> Section | None:
    if not not_shown:
        return None
    lines = "\n".join(f"- {line}" for line in not_shown)
    return Section("What could not be shown here", "", (Text(lines),))


def _groups(found: Findings) -> list[Section | None]:
    """What was predicted, measured and fitted: for each configuration that was fitted by itself."""
    if not found.others:
        return [_prediction(found, _errors(found, found.best)), _measured(found), _model(found)]
    parts = [(_prediction(group), _measured(group), _model(group)) for group in found.groups]
    named = [
        replace(section, title=f"{group.baseline.name}: {section.title[0].lower()}{section.title[1:]}")
        for group, sections in zip(found.groups, parts, strict=True)
        for section in sections
        if section
    ]
    return [
        Section("Errors", "Every configuration, by the fit with as many cores.", (_errors(found, found.best),)),
        *named,
    ]


def _prediction(found: Findings, *more: Table) -> Section | None:
    shown = [p for p in found.predictions if p.observations.filter(pl.col("valid")).height]
    if not shown:
        return None
    lead = "The model saw only the other configuration. The gain from spreading and the errors are in the verdict."
    return Section(
        "The prediction, and what was then measured",
        lead,
        (*(figures.blind(found, p) for p in shown), *more, _points(found)),
    )


def _measured(found: Findings) -> Section:
    lead = "Leading cores take interrupts; trailing cores do not. Intervals are 95 %, by block bootstrap."
    return Section("What was measured", lead, figures.measured(found))


def _model(found: Findings) -> Section:
    why = "\n".join(f"- {line}" for line in found.why_best.splitlines())
    lead = f"Decided on rates that the fit had not seen: {found.best}."
    return Section("Which model, and why", lead, (figures.fitted(found), Text(why)))


def _errors(found: Findings, name: str) -> Table:
    rows = table3(all_errors(found, name))
    columns = list(rows[0])
    heads = tuple("" if c == "quantity" else c if c == "overall" else f"{c} NICs/cores" for c in columns)
    if found.others:
        heads = ("NICs/cores", *columns[1:])
    return Table(
        f"Relative errors, {name}, in the form of the document's Table 3",
        heads,
        tuple(tuple(r[c] for c in columns) for r in rows),
        "Mean of |predicted / measured - 1| over rates up to 80 % of saturation.",
        ("", *[".1%"] * (len(columns) - 1)),
    )


def _tables(found: Findings) -> Section:
    others = tuple(_errors(found, name) for name in found.fits if name != found.best)
    return Section("Tables", "", (*(_parameters(group, bool(found.others)) for group in found.groups), *others))


def _points(found: Findings) -> Table:
    rows = []
    for p in found.predictions:
        errors = blind_errors(p, found.best)
        points = errors.frame.filter(pl.col("quantity") == "response_time").to_dicts() if errors else []
        rows += [
            (p.configuration.name, r["rate_per_s"], seconds(r["predicted"]), f"{seconds(r['low'])} … {seconds(r['high'])}",
             seconds(r["measured"]), f"{seconds(r['measured_low'])} … {seconds(r['measured_high'])}",
             percent(r["relative_error"], sign=True))
            for r in points
        ]  # fmt: skip
    columns = ("configuration", "rate, 1/s", "predicted", "interval", "measured", "interval ", "error")
    return Table(
        "Response time, predicted before the run and measured",
        columns,
        tuple(rows),
        "",
        ("", ".0f", "", "", "", "", ""),
    )


def _parameters(found: Findings, named: bool) -> Table:
    title = "Fitted parameters" + f": {found.baseline.name}" * named
    rows = []
    for name, fitted in found.fits.items():
        for parameter, e in fitted.parameters.items():
            rows.append((name, parameter, e.value, e.low, e.high))
    return Table(title, ("model", "parameter", "value", "low", "high"), tuple(rows),
                 "Rates in 1/s, times in s; intervals at 95 % by block bootstrap.")  # fmt: skip


def _how(found: Findings, plan: Plan, runs: list[RunFolder]) -> Section:
    rows = tuple(
        (run.path.name, run.manifest["configuration"], run.manifest["factors"].get("rate_per_s"),
         "yes" if run.manifest["valid"] else "; ".join(run.manifest["reasons"]))
        for run in runs
    )  # fmt: skip
    table = Table("Runs", ("run", "configuration", "rate, 1/s", "valid"), rows)
    first = runs[0].manifest
    if first.get("simulated"):
        return Section("How it was simulated", "", (Text(_simulated(plan)), _hosts(plan), table))
    placement = first["placement"]
    share = "shares the cores that take its NIC's interrupts" if placement["client_shares"] else "has cores of its own"
    text = (
        f"Requests are Poisson, from a seed, over {plan.study.load.connections} connections a NIC. The response time runs from the "
        "moment a request was due to the kernel's time stamp of its answer. The client "
        f"{share}. The saturation rate is the throughput of a closed loop of {plan.study.saturation.users} users "
        "without think time. Warm-up is cut by MSER-5. A run counts if the generator kept its schedule, the response time "
        "was stationary, and nobody else used the machine."
    )
    facts = [
        ("interrupt work known to the lab", _work(runs)),
        ("cost of the host collector", _observer(runs)),
        ("cost of the spinners to others", str(first["lab"].get("spinner cost"))),
    ]
    return Section("How it was measured", "", (Text(text), Table("What the lab knows of itself", ("what", "value"), tuple(facts)),
                                               table))  # fmt: skip


def _simulated(plan: Plan) -> str:
    return (
        "Requests are Poisson, from a seed, each to any NIC alike; NIC k interrupts core k. Interrupts are served first, in "
        "order, and preempt pages. A page is made on the core that the placement says, with what it lost to interrupts made "
        f"up for. Each run is {plan.study.load.seconds:g} s of simulated time; the saturation rate is the throughput of a "
        f"closed loop of {plan.study.saturation.users} users without think time. Runs are judged, cut (MSER-5) and fitted as "
        "measured ones are. Client, collector and network cost nothing."
    )


def _hosts(plan: Plan) -> Table:
    """What was simulated: the demands are the truth."""
    rows = []
    for c in plan.study.configuration:
        host = plan.host(c)
        order = f"turns of {seconds(host.quantum_s)}" if host.quantum_s else "shared exactly"
        threads = str(host.threads_per_core) if host.threads_per_core else "no limit"
        rows.append(
            (c.name, seconds(host.interrupt["mean"]), seconds(host.page["mean"]), host.placement["policy"],
             threads, order if host.threads_per_core != 1 else "one after the other", seconds(host.switch_s),
             seconds(host.crossing_s))
        )  # fmt: skip
    columns = ("configuration", "interrupt", "page", "placement", "threads a core", "pages of a core", "a turn costs",
               "crossing to another core")  # fmt: skip
    return Table("The virtual hosts", columns, tuple(rows), f"Seed {plan.study.load.seed}.")


def _work(runs: list[RunFolder]) -> str:
    accounts = [a for run in runs if (a := (run.manifest.get("service") or {}).get("interrupt work"))]
    packets, time_s = sum(a["packets"] for a in accounts), sum(a["seconds"] for a in accounts)
    return f"{seconds(time_s / packets)} a request packet, {packets} packets" if packets else "none"


def _observer(runs: list[RunFolder]) -> str:
    shares = [o.get("own_share") for run in runs if (o := run.manifest.get("observer"))]
    known = [s for s in shares if s is not None]
    return f"{percent(sum(known) / len(known), 2)} of a core" if known else "not known"


def _footer(runs: list[RunFolder]) -> dict[str, str]:
    manifest = runs[0].manifest
    machine = manifest["machine"]
    return {
        "kernel": str(machine["kernel"]),
        "cores": str(machine["cores"]),
        "first run": str(manifest["start"]["wall"]),
        "last run": str(runs[-1].manifest.get("end", {}).get("wall", "")),
    }
