"""The analysis `two-class` of a study of a web system: what spreading brings, known demands beside fitted ones, bottlenecks,
Table 3, Chen et al.'s figures, and what the lab knows of itself. Option `compare`: the two sections of the headline; by
default the first that was fitted and the first that was predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.errors import StudyError
from sojourn.measure import validity_rule
from sojourn.report import Figure, Section, Table, Text
from sojourn.runs import RunFolder
from sojourn.study import BLIND, TABLE_INDENT, TRAINING, Analysis, CheckedStudy, RecoveredParameter, StudyFindings
from sojourn.units import per_second, percent, seconds
from sojourn_cases.web import chen_figures
from sojourn_cases.web.chen_errors import errors_by_kind, kinds_of, table3_lines, table3_table
from sojourn_cases.web.fitted_web import FittedWeb, parameters
from sojourn_cases.web.low_load import low_load_line, low_load_ratios, low_load_table
from sojourn_cases.web.web_configurations import (
    Interval,
    WebConfiguration,
    measured_gain,
    observed_bottleneck,
    parts_of,
    predicted_gain,
)


@dataclass(frozen=True)
class FinishedWebStudy:
    """A finished study as this analysis reads it: its configurations, models by name, which is the best, why (a line a
    model), and when predictions were written."""

    parts: list[WebConfiguration]
    rivals: Mapping[str, FittedWeb]
    best: str
    why: tuple[str, ...] = ()
    written: str = ""

    @property
    def model(self) -> FittedWeb:
        return self.rivals[self.best]

    def of(self, kind: str) -> list[WebConfiguration]:
        return [part for part in self.parts if part.kind == kind]


def two_class(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Lines and sections; nothing where nothing was fitted."""
    if found.rivals is None:
        return Analysis()
    rivals: Any = found.rivals.fitted
    if not all(isinstance(one, FittedWeb) for one in rivals.values()):
        raise StudyError("analysis two-class", "[[analysis]]", 'use it with [fit] model = "web-models"')
    written = str((found.predicted or {}).get("written", ""))
    return analysed(
        FinishedWebStudy(parts_of(found, plan), rivals, found.rivals.best, found.rivals.notes, written), options
    )


def analysed(web: FinishedWebStudy, options: Mapping[str, Any]) -> Analysis:
    """The same, of what was read."""
    # A guest keeps its own account of a page to itself: nothing is known of it then.
    lines = [_demands(web, part) for part in web.of(TRAINING) if part.known.interrupt_s or part.known.page_s]
    if not web.model.fitted.models_of_other_runs:
        lines += [f"bottleneck ({part.name}): {observed_bottleneck(part)}" for part in web.parts if part.seen]
    lines += map(low_load_line, low_load_ratios(web.parts))
    lines.append(
        f"{TABLE_INDENT}relative errors up to 80 % of the measured saturation, %, model {web.best} "
        f"(NICs/cores: {kinds_of(web.parts)}):"
    )
    lines += [TABLE_INDENT + line for line in table3_lines(errors_by_kind(web.parts, web.model, web.best))]
    known = tuple(parameter for part in web.of(TRAINING) for parameter in _known(web, part))
    return Analysis(tuple(lines), tuple(_sections(web)), headline=_headline(web, options), parameters=known)


def _headline(web: FinishedWebStudy, options: Mapping[str, Any]) -> str:
    """What a change brings, predicted and measured; without a prediction, where the first saturates."""
    below, above = (_chosen(web, options, k) for k in (0, 1))
    if below is None:
        return ""
    if above is None or above.saturation is None:
        return f"{below.name} saturates at {_rate(below.saturation)}" if below.saturation else ""
    seen, predicted = measured_gain(below, above), predicted_gain(below, above, web.model)
    name = f"{above.name[:1].upper()}{above.name[1:]}"
    if seen is None:
        return f"{name}: the prediction said {_times(predicted)} the rate of {below.name}"
    return (
        f"{name}: saturates at {_times(seen)} the rate of {below.name}; the prediction, written before it was run, said "
        f"{_times(predicted)}"
    )


def _chosen(web: FinishedWebStudy, options: Mapping[str, Any], place: int) -> WebConfiguration | None:
    names = options.get("compare")
    kind = (TRAINING, BLIND)[place]
    if names is None:
        return next(iter(web.of(kind)), None)
    if not isinstance(names, list) or len(names) != 2:
        raise StudyError(f"compare = {names!r}", "[[analysis]]", "give two names of sections")
    return next((part for part in web.parts if part.name == names[place]), None)


def _known(web: FinishedWebStudy, part: WebConfiguration) -> list[RecoveredParameter]:
    """Interrupt and page, where both were put in and both were fitted."""
    fitted = parameters(web.model.of(part.factors))
    truth = {"interrupt_s": part.known.interrupt_s, "page_s": part.known.page_s}
    if not (set(truth) <= set(fitted) and part.factors["interrupt_s"]):
        return []
    return [RecoveredParameter(part.name, name, true, *fitted[name]) for name, true in truth.items()]


def _demands(web: FinishedWebStudy, part: WebConfiguration) -> str:
    """The known demand, and by how much the fit misses it."""
    known, network_s = part.known, part.known.beside.interrupt_s
    own = f" ({seconds(network_s)} of it the network's own)" if network_s else ""
    rest_s = known.page_s - float(part.factors["page_s"])
    rest = f" ({seconds(rest_s)} of it templating, sockets and wake-up)" if rest_s else ""
    client = f", client {seconds(known.beside.client_s)}" if known.beside.client_s else ""
    line = (
        f"{part.name}: known: interrupt {seconds(known.interrupt_s)}{own}, page {seconds(known.page_s)}{rest}{client}"
    )
    if found := _known(web, part):
        off = [percent(one.value / one.truth - 1, sign=True) for one in found]
        line += (
            f"; the fit is off by {' and '.join(off)}, {sum(one.covered for one in found)} of 2 inside its intervals"
        )
    return line


def _sections(web: FinishedWebStudy) -> list[Section]:
    shown = [chen_figures.models_against(part, web.rivals, web.best, web.written) for part in web.parts if part.seen]
    each = {name: errors_by_kind(web.parts, model, name) for name, model in web.rivals.items()}
    order = sorted(each, key=lambda name: name != web.best)
    tables = [table3_table(each[name], name) for name in order if each[name]]
    decided = f"Judged by rates that the fit had not seen; predictions are those of {web.best}."
    why = Text("\n".join(f"- {line}" for line in web.why) or "–")
    lead = "Leading cores take interrupts; trailing cores do not."
    found = [
        Section("Which model, and why", decided, (*shown, why)),
        Section("Errors by configuration", "", tuple(tables)),
        Section("Cores", lead, (*chen_figures.measured(web.parts), *_by_core(web))),
        _where(web),
        Section("Low load", "", tuple(map(low_load_table, low_load_ratios(web.parts)))),
    ]
    runs = [run for part in web.parts for run in part.runs]
    if not runs[0].manifest.get("simulated"):
        found.append(_lab(runs))
    return [section for section in found if section.blocks]


def _by_core(web: FinishedWebStudy) -> list[Figure]:
    """Soft interrupts of each core, where there are several; the chain of a leading core, of the first configuration that was fitted."""
    found = [chen_figures.interrupts_by_core(part) for part in web.parts if part.size[0] > 1]
    first, paper = next(iter(web.of(TRAINING)), None), web.rivals.get("paper")
    if first is not None and paper is not None:
        found.append(chen_figures.closed_form_and_chain(first, paper))
    return [figure for figure in found if figure is not None]


def _where(web: FinishedWebStudy) -> Section:
    """Which cores run out first, and each saturation rate."""
    rows = []
    for part in web.parts:
        if not part.seen or part.saturation is None:
            continue
        said, cores = part.saturates(web.best), "/".join(str(n) for n in reversed(part.size))
        rows.append((part.name, cores, part.kind, _rate(said), _rate(part.saturation),
                     said.value / part.saturation.value - 1, observed_bottleneck(part)))  # fmt: skip
    columns = (
        "configuration",
        "NICs/cores",
        "kind",
        "saturates, model",
        "measured",
        "error",
        "bottleneck at the highest rate",
    )
    note = (
        "Measured: the throughput of a closed loop without think time. Training: known to the fit only by lower rates."
    )
    table = Table("Where each configuration saturates", columns, tuple(rows), note, ("", "", "", "", "", "+.1%", ""))
    return Section("Saturation", "", (table,) if rows else ())


def _lab(runs: list[RunFolder]) -> Section:
    manifest = runs[0].manifest
    share = (
        "shares the cores that take its NIC's interrupts"
        if manifest["placement"]["client_shares"]
        else "has cores of its own"
    )
    connections = manifest["load"]["lanes"][0]["connections"]
    text = (
        f"Requests are Poisson, from a seed, over {connections} connections a NIC. The response time runs from the moment a "
        f"request was due to the kernel's time stamp of its answer. The client {share}. The saturation rate is the throughput of a "
        f"closed loop without think time. Warm-up is cut by MSER-5. {validity_rule(runs)}"
    )
    facts = (
        ("interrupt work known to the lab", _work(runs)),
        ("cost of the host collector", _observer(runs)),
        ("cost of the spinners to others", str(manifest["lab"].get("spinner cost"))),
    )
    return Section(
        "How it was measured", "", (Text(text), Table("What the lab knows of itself", ("what", "value"), facts))
    )


def _work(runs: list[RunFolder]) -> str:
    accounts = [a for run in runs if (a := (run.manifest.get("service") or {}).get("interrupt work"))]
    packets, time_s = sum(a["packets"] for a in accounts), sum(a["seconds"] for a in accounts)
    return f"{seconds(time_s / packets)} a request packet, {packets} packets" if packets else "none"


def _observer(runs: list[RunFolder]) -> str:
    shares = [o.get("own_share") for run in runs if (o := run.manifest.get("observer"))]
    known = [share for share in shares if share is not None]
    return f"{percent(sum(known) / len(known), 2)} of a core" if known else "not known"


def _rate(s: Interval) -> str:
    return f"{per_second(s.value)} ({per_second(s.low)} … {per_second(s.high)})"


def _times(ratio: Interval) -> str:
    return f"{ratio.value:.2f} times ({ratio.low:.2f} … {ratio.high:.2f})"
