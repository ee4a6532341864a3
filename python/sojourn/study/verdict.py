"""The verdict of a study, about ten lines, the answer first."""

from __future__ import annotations

import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.study.judge import (
    Ratio,
    all_errors,
    blind_errors,
    measured_gain,
    observed_bottleneck,
    predicted_gain,
    saturation,
    saturation_error,
)
from sojourn.study.phases import Findings, Prediction, Saturation
from sojourn.study.plan import Plan
from sojourn.testbed import VirtualTestbed
from sojourn.units import interval, per_second, percent, seconds
from sojourn.validate import table3_text

TABLE_INDENT = "    "  # lines of the table, which the report shows as a table


def verdict_lines(found: Findings, plan: Plan) -> list[str]:
    """Headline, parameters, each prediction with what was then measured, errors as in Table 3, bottlenecks; of what else
    was fitted by itself only the parameters and the predicted saturation."""
    lines = [headline(found), _demand(found, plan), _parameters(found)]
    for prediction in found.predictions:
        lines += _prediction(found, prediction)
    for other in found.others:
        lines += [_parameters(other), *(_prediction(other, prediction)[0] for prediction in other.predictions)]
    lines.append(_bottleneck(found.baseline.name, found.observations, found.client_s))
    lines += [_bottleneck(p.configuration.name, p.observations, found.client_s) for p in found.predictions]
    if found.truth:
        lines += found.truth.lines()
    lines.append(f"{TABLE_INDENT}relative errors up to 80 % of saturation, %, model {found.best}:")
    lines += [TABLE_INDENT + line for line in table3_text(all_errors(found, found.best)).splitlines()]
    lines += [f"not shown here: {what}" for what in found.not_shown]
    left_out = sum(not run.manifest["valid"] for run in _runs(found))
    if left_out:
        lines.append(f"{left_out} of {len(_runs(found))} runs were not valid and are left out; the report says why")
    return lines


def _runs(found: Findings) -> list[RunFolder]:
    return [run for g in found.groups for run in (*g.baseline_runs, *(r for p in g.predictions for r in p.runs))]


def headline(found: Findings) -> str:
    """What a change brings, predicted and measured; without a prediction, where the baseline saturates."""
    if not found.predictions:
        assert found.baseline_saturation
        return f"{found.baseline.name} saturates at {_rate(found.baseline_saturation)}"
    prediction = found.predictions[0]
    foreseen, seen = predicted_gain(found, prediction), measured_gain(found, prediction)
    name = prediction.configuration.name
    return (
        f"{name[:1].upper()}{name[1:]}: saturates at {_times(seen)} the rate of {found.baseline.name}; "
        f"the prediction, written before it was run, said {_times(foreseen)}"
    )


def _demand(found: Findings, plan: Plan) -> str:
    """The known demand, and by how much the fit misses it."""
    demand = plan.demand_of(found.baseline)
    interrupt_s = float(demand.interrupt_s) + found.interrupt_overhead_s
    page_s = found.known_page_s
    if found.truth:
        page_s = 1 / VirtualTestbed.truth(plan.host(found.baseline))["mu2_per_s"]
    text = (
        f"known: interrupt {seconds(interrupt_s)}, page {seconds(page_s)}"
        if found.truth
        else (
            f"known: interrupt {seconds(interrupt_s)} ({seconds(found.interrupt_overhead_s)} of it the network's own), "
            f"page {seconds(page_s)} ({seconds(page_s - float(demand.page_s))} of it templating, sockets and wake-up)"
        )
    )
    fitted = found.fits[found.best].parameters
    if not {"mu1_per_s", "mu2_per_s"} <= set(fitted) or not demand.interrupt_s:
        return text
    errors = (1 / fitted["mu1_per_s"].value / interrupt_s - 1, 1 / fitted["mu2_per_s"].value / page_s - 1)
    return f"{text}; the fit is off by {percent(errors[0], sign=True)} and {percent(errors[1], sign=True)}"


def _parameters(found: Findings) -> str:
    fitted = found.fits[found.best]
    parts = []
    for name, label in (("mu1_per_s", "interrupt"), ("mu2_per_s", "page"), ("mu_per_s", "request")):
        if name in fitted.parameters:
            e = fitted.parameters[name]
            parts.append(f"{label} {interval(1 / e.value, 1 / e.high, 1 / e.low, 's')}")
    for name, label in (("handoff_s", "hand-offs"), ("crossing_s", "crossing to another core")):
        if name in fitted.parameters:
            e = fitted.parameters[name]
            parts.append(f"{label} {interval(e.value, e.low, e.high, 's')}")
    if found.client_s:
        parts.append(f"client {seconds(found.client_s)}")
    return f"fitted with {found.baseline.name} ({found.best}): " + ", ".join(parts)


def _prediction(found: Findings, prediction: Prediction) -> list[str]:
    assert prediction.saturation
    foreseen = saturation(prediction.by_variant[found.best])
    lines = [
        f"prediction for {prediction.configuration.name} (written {prediction.written}, before it was run): saturates at "
        f"{_rate(foreseen)}; measured {_rate(prediction.saturation)}, "
        f"error {percent(saturation_error(prediction, found.best), sign=True)}"
    ]
    errors = blind_errors(prediction, found.best)
    if errors is None:
        return [*lines, "  no valid run of it: its response times cannot be compared; run again on a quiet machine"]
    of = errors.of("response_time")
    others = []
    for name in prediction.by_variant:
        other = blind_errors(prediction, name) if name != found.best else None
        others += [f"{name} {percent(other.of('response_time')['median_abs'])}"] if other else []
    lines.append(
        f"  its response time, {of['points']} rates up to 80 % of saturation: median error "
        f"{percent(of['median_abs'])}, worst {percent(of['worst'], sign=True)}; median of the others: {', '.join(others)}"
    )
    return lines


def _bottleneck(name: str, observations: pl.DataFrame, client_s: float) -> str:
    return f"bottleneck ({name}): {observed_bottleneck(observations, client_s)}"


def _rate(s: Saturation) -> str:
    return f"{per_second(s.value)} ({per_second(s.low)} … {per_second(s.high)})"


def _times(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} times ({ratio.low:.2f} … {ratio.high:.2f})"
