"""The report of a study: verdict, the document's figures on our data, tables, how it was measured."""

from __future__ import annotations

from typing import Any

import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.report import Document, Figure, Section, Series, Table, Text
from sojourn.study.judge import all_errors, baseline_prediction, blind_errors
from sojourn.study.phases import Findings
from sojourn.study.plan import Plan
from sojourn.table import Metrics
from sojourn.units import percent, seconds
from sojourn.validate import measured_metrics, table3

RATE = "requests per second"


def study_document(found: Findings, plan: Plan, verdict: list[str]) -> Document:
    """Puts everything a study found into one document."""
    runs = found.baseline_runs + [run for p in found.predictions for run in p.runs]
    invalid = [run for run in runs if not run.manifest["valid"]]
    return Document(
        title=plan.study.title,
        subtitle=f"study {plan.study.name}, seed {plan.study.load.seed}",
        verdict=[line.strip() for line in verdict if not line.startswith("  ") or "error" in line],
        status="warn" if invalid or found.not_shown else "ok",
        sections=tuple(
            section
            for section in (
                _lacking(found.not_shown),
                _prediction(found),
                _measured(found),
                _model(found),
                _tables(found),
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


def series(name: str, metrics: Metrics, metric: str, station: str = "", *, style: str = "points", scale: float = 1.0,
           group: str = "") -> Series:  # fmt: skip
    """One metric against the rate, scaled to the unit of the axis."""
    rows = metrics.frame.filter((pl.col("metric") == metric) & (pl.col("station") == station)).sort("rate_per_s")
    scaled = {k: [None if v is None else v * scale for v in rows[k]] for k in ("value", "low", "high")}
    has_interval = any(v is not None for v in scaled["low"])
    return Series(
        name, rows["rate_per_s"].to_list(), scaled["value"],
        low=scaled["low"] if has_interval else None, high=scaled["high"] if has_interval else None,
        style=style, group=group or name,  # type: ignore[arg-type]
    )  # fmt: skip


def _observed(found: Findings) -> list[tuple[str, Metrics]]:
    parts = [(found.baseline.name, found.observations)]
    parts += [(p.configuration.name, p.observations) for p in found.predictions]
    return [(name, measured_metrics(o)) for name, o in parts if o.filter(pl.col("valid")).height]


def _prediction(found: Findings) -> Section | None:
    figures: list[Any] = []
    for p in found.predictions:
        if not p.observations.filter(pl.col("valid")).height:
            continue
        seen = measured_metrics(p.observations)
        lines = [series(f"predicted, {name}", m, "response_time", style="line" if name == found.best else "dashed", scale=1e3)
                 for name, m in p.by_variant.items()]  # fmt: skip
        lines.append(series("measured", seen, "response_time", scale=1e3))
        highest = max(v for s in (lines[-1],) for v in (s.high or s.y) if v is not None)
        figures.append(
            Figure(f"blind-{p.configuration.name}", f"Blind prediction against measurement: {p.configuration.name}", RATE,
                   "mean response time, ms", tuple(lines), y_limits=(0.0, 2 * highest),
                   note=f"The predictions were written to disk at {p.written}, before this configuration was run.")
        )  # fmt: skip
    return Section("The prediction, and what was then measured", "", tuple(figures)) if figures else None


def _measured(found: Findings) -> Section:
    observed = _observed(found)
    busy = [series(f"{name}: leading cores", m, "utilisation", "leading") for name, m in observed]
    busy += [s for name, m in observed if (s := series(f"{name}: trailing cores", m, "utilisation", "trailing")).x]
    soft = [series(f"{name}: interrupts, leading", m, "softirq_utilisation", "leading") for name, m in observed]
    return Section(
        "What was measured",
        "Leading cores take interrupts; trailing cores do not. Intervals are 95 %, by block bootstrap.",
        (
            Figure("utilisation", "Utilisation of the cores and share of soft interrupts", RATE, "busy share of a core",
                   tuple(busy + soft), y_limits=(0.0, 1.0)),
            Figure("response", "Response time", RATE, "mean response time, ms",
                   tuple(series(name, m, "response_time", scale=1e3) for name, m in observed)),
            Figure("throughput", "Throughput", RATE, "answers per second",
                   tuple(series(name, m, "throughput") for name, m in observed)),
        ),
    )  # fmt: skip


def _model(found: Findings) -> Section:
    seen = measured_metrics(found.observations)
    lines = []
    for name, fitted in found.fits.items():
        style = "line" if name == found.best else "dashed"
        lines.append(series(name, baseline_prediction(found, fitted), "response_time", style=style, scale=1e3))
    lines.append(series("measured", seen, "response_time", scale=1e3))
    highest = max(v for v in (lines[-1].high or lines[-1].y) if v is not None)
    figure = Figure("fit", f"Model against measurement: {found.baseline.name}", RATE, "mean response time, ms", tuple(lines),
                    y_limits=(0.0, 2 * highest))  # fmt: skip
    why = "\n".join(f"- {line}" for line in found.why_best.splitlines())
    return Section(
        "Which model, and why", f"Decided on rates that the fit had not seen: {found.best}.", (figure, Text(why))
    )


def _tables(found: Findings) -> Section:
    blocks: list[Any] = []
    for name in found.fits:
        rows = table3(all_errors(found, name))
        columns = list(rows[0])
        heads = tuple("" if c == "quantity" else c if c == "overall" else f"{c} NICs/cores" for c in columns)
        note = "Mean of |predicted / measured - 1| over rates up to 80 % of saturation." if name == found.best else ""
        blocks.append(Table(f"Relative errors, {name}", heads, tuple(tuple(r[c] for c in columns) for r in rows), note,
                            ("", *[".1%"] * (len(columns) - 1))))  # fmt: skip
    blocks += [_points(found), _parameters(found)]
    return Section("Tables", "", tuple(blocks))


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


def _parameters(found: Findings) -> Table:
    rows = []
    for name, fitted in found.fits.items():
        for parameter, e in fitted.parameters.items():
            rows.append((name, parameter, e.value, e.low, e.high))
    return Table("Fitted parameters", ("model", "parameter", "value", "low", "high"), tuple(rows),
                 "Rates in 1/s, times in s; intervals at 95 % by block bootstrap.")  # fmt: skip


def _how(found: Findings, plan: Plan, runs: list[RunFolder]) -> Section:
    rows = tuple(
        (run.path.name, run.manifest["configuration"], run.manifest["factors"].get("rate_per_s"),
         "yes" if run.manifest["valid"] else "; ".join(run.manifest["reasons"]))
        for run in runs
    )  # fmt: skip
    first = runs[0].manifest
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
                                               Table("Runs", ("run", "configuration", "rate, 1/s", "valid"), rows)))  # fmt: skip


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
