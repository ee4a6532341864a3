"""The query language: each kind of node with its formula, an example, the example in English, and its answer for one model."""

from __future__ import annotations

import re

from reference.markdown import cell, prose, table
from sojourn.model import Model
from sojourn.query import Question, query
from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.english import english
from sojourn.query.names import EVENTS, FUNCTIONS, METRICS, TIMES
from sojourn.query.node import SCALES, Node
from sojourn.query.sources.analytic import AnalyticSource
from sojourn.query.text import to_text

MODEL = """[stations.cpu]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 150
[demands_s]
cpu = { user = 0.02 }
"""
EVERY = (
    "let slow(x) = 1 - probability(response <= x); slow(50ms) < 0.1 and not errors > 1%",
    "states(probability in [0.1, 1] at 100ms from {n() == 0}) subset {n() <= 5}",
    "p95(convolve(response, response)) in [100ms, 200ms]",
    "probability(cdf(passage(from {n() == 0} to {n() >= 8})) <= 1s); states(probability in [0.1, 1])",
    "probability({n() >= 4} at 20ms from {n() == 0}) < 0.2 or moment(2, distribution(n() over {n() >= 4})) > 70",
    "p99 < 50ms in 99% of 10s windows",
    "share(failed / arrivals) < 0.1% or true",
    "sd(response) < 50ms and utilisation{station=cpu} < 80% and rate(departures) > 140/s",
)
PICTURE = "p95 < 85ms and probability({n() >= 8}) < 0.2"
HEAD = f"""# The query language

`sojourn query QUESTION SOURCE…` answers a question about run folders and models. This page is the complete reference of the language.
[Ask for an objective](../howto/ask-for-an-objective.md) is an introduction with examples. A query is a tree of nodes. Most kinds of
nodes come from Performance Trees (Suto, Bradley, Knottenbelt, QEST 2007, pp. 41-50). These nodes ask about states. sojourn adds six
kinds of nodes that ask about requests, because most objectives are about requests.

You can write the same tree as text or as JSON. `--restate-in-english` prints the tree as a sentence. `--draw-syntax-tree FILE.svg` (or
`FILE.mmd`, for Mermaid) draws the tree with the result of each node:

![{PICTURE}](query-tree.svg)

The drawing [every kind of node](query-nodes.svg) shows which nodes a model can answer and which nodes it refuses. GitHub and other
sites can display the Mermaid form.

## Answers

A source is a run folder or a model. For a comparison, each source gives the answer `yes`, `no` or `cannot tell`. The answer is
`cannot tell` if the 90 % interval of the figure contains the limit. For such an answer, sojourn estimates how many times as long a
run has to be for a decision. The estimate assumes that the half-width of an interval is proportional to 1/√length of the run. `and`
and `or` follow Kleene's rules. For example, `cannot tell and no` is no, and `cannot tell or yes` is yes.

If a source does not know a part of the query, the answer is also `cannot tell`. The message names this part and a remedy. The
[exit code](exit-codes.md) is 0 for yes or for a number, 7 for no, 8 for cannot tell, and 2 for a mistake in the query.

## Sources

| source | what it is | intervals |
|---|---|---|
| a model file (`.toml`) | closed forms, quantiles by a method of `sojourn solve`, a Markov chain of at most 5000 states | none |
| a fitted model file | closed forms and chains at the values of the fit | 40 draws of the fit, with the model's own error |
| `--simulated-model FILE.toml` | a simulation of the model: its requests, and the number present as a path | batches of time |
| a run folder | after the warm-up: `requests.parquet`, `app.parquet`, `host.parquet`; or `latency.hlog` alone | batches of time |

`--set rate_per_s=300,stations.cpu.servers=4` changes the load and the size of all models before they answer. In Python, a source is a
path, an `sj.Model`, an `sj.FittedModel`, an `sj.RunFolder`, or a table of `sj.Metrics`. A table answers only from its own rows.

## Definitions

These definitions are the same for all sources:

- **Times of requests** start at the moment when a request was due. Failed requests count as later than all answered requests. They
  count in quantiles and probabilities. They do not count in means, moments and standard deviations.
- **Quantiles** have levels in [0, 1]. For example, `quantile(0.99, …)` is the same as `p99(…)`. If you compare a time with a number,
  the number needs a unit.
- **A passage** goes from a set of states A to a target set. There are two kinds of start. *Entering* A (the default) means that a
  passage starts at each entry into A. *Within* A means that a passage starts at a random time at which the state is in A. A passage
  ends with the next entry into the target from outside. If a passage starts inside the target, it ends when it comes back to the
  target. If a passage enters an excluded state before the target, it never ends.
- **`convolve`** assumes that its two times are independent. The waiting time and the service time of the same request are not
  independent. For their sum, ask for `response_time`.
- **Shares of time** are shares of the window, which is the time after the warm-up of the run or simulation. The intervals of these
  shares come from 32 batches of the window. sojourn widens the intervals for correlation and skewness. If a share is below 10 % or
  above 90 %, it has Jeffreys' interval. This interval uses the number of independent clusters to which the record is equivalent.
- **Rare tails** are the largest times, or the largest numbers present. A run has only a few clusters of requests in such a tail, and
  these clusters look more regular than they are. The relative variance of a tail is its variance divided by share (1 - share). sojourn
  sets it to at least the relative variance of a tail ten times as heavy. If a run is too short to bound a quantile, the interval of
  the quantile has no upper end. The answer then says how many times as much data is needed.
- **Failures** are not compared with a heavier tail. Instead, sojourn assumes that the sizes of clusters of failures are geometric. The
  mean size is the mean over all observed clusters of failures and one further cluster, which has the slowest requests of the run. For
  example, slow requests may come in clusters of a dozen. Then 10 000 requests without a failure do not show that fewer than 0.1 % fail.
  `benches/query` counts how often intervals contain the true value.
- **A run with only `latency.hlog`**, or with records of only some of its requests, takes response times from its histograms. A batch
  is some seconds of the histograms. Within a bucket (0.1 % wide in `sojourn load`), times are assumed to be uniform. For such a
  run, sojourn refuses questions about states, classes and phases.
- **A service that recorded its own times** is the station `app`. The web shop is such a service, and its times are in `app.parquet`.
  `n(app)` is the number of requests at this station, from the arrival of the packet to the answer. `busy(app)` is the number of these
  requests in service. `utilisation{{station=app}}` is the utilisation of the threads, or of the servers behind the page `/wait`.
  `waiting_time` and `service_time` are the times at this station. A state of such a service consists of three numbers: `n(app)`,
  `busy(app)`, and the number of requests that clients have sent and that are not yet answered.
- **Undecided states** are states whose probability may be inside or outside a range, because the interval of the probability contains
  an end of the range. If undecided states can change the answer, the source refuses the query.
- **`share(failed / arrivals)`** counts requests. `… in 99% of 10s windows` counts windows of time. In each window, sojourn checks the
  condition with the requests of this window.

## Text

```text
query       (let NAME[(ARGUMENT, …)] = EXPRESSION;)* EXPRESSION (; EXPRESSION)*      # begins a comment
EXPRESSION  or, and, not; < <= > >= == !=; in RANGE; subset; + - * / ^; brackets     from weak to strong
RANGE       [low, high], ( or ) where an end does not belong to it
STATES      {{n(cpu) >= 4 and not busy(disk) == 0}}
NAME        {{station=cpu, class=user}} may follow metrics, times and quantiles; quotes around names with other characters
```

{
    table(
        ("what", "names"),
        (
            ("units", ", ".join(f"`{unit}`" for unit in SCALES if unit)),
            (
                "in one word",
                "`p50`, `p99`, `p99.9` …: of the response time; `mean`: its mean; `errors`: `share(failed / arrivals)`; "
                "`rate`: `rate(answered)`",
            ),
            ("times", ", ".join(f"`{name}`" for name in TIMES)),
            ("events", ", ".join(f"`{name}`" for name in EVENTS)),
            ("metrics", ", ".join(f"`{name}`" for name in METRICS)),
            ("functions", "; ".join(f"`{form}`" for form in FUNCTIONS.values())),
        ),
    )
}
## Nodes

The answers below are from the following model. It is an M/M/4 queue with 150 arrivals a second and a mean service time of 20 ms:

```toml
{MODEL}```
"""
# kind of node → formula, example; X is a random time, N(t) the state, pi the stationary law
NODES: dict[type[Node], tuple[str, str]] = {
    N.Result: ("the root", "mean"),
    N.Sequential: ("several queries, one answer each", "p50; p99"),
    N.Num: ("a number with its unit", "50ms"),
    N.Bool: ("true, false", "true or p99 < 1ms"),
    N.Range: ("[a, b], (a, b], [a, b), (a, b)", "p99 in [100ms, 150ms)"),
    N.StateFunction: ("n, busy: of the state", "distribution(busy(cpu))"),
    N.States: ("{s: predicate(s)}", "{n() >= 2 and n() <= 4}"),
    N.Actions: ("requests", "failed"),
    N.Macro: ("its body with its arguments", "let slow(x) = 1 - probability(response_time <= x); slow(50ms)"),
    N.Argument: ("what the macro was called with", "let twice(x) = 2 * x; twice(p50) < p99"),
    N.Definition: ("let f(x) = …", "let limit = 150ms; p99 < limit"),
    N.PassageTimeDensity: ("inf {t > 0: N enters the target at t}; entering A at j as sum over i outside A of pi_i q_ij, within A as pi_j",
                           "passage(from {n() == 0} to {n() >= 8})"),
    N.Distribution: ("F(x) = P(X <= x)", "cdf(response_time)"),
    N.Convolution: ("X + Y, independent", "p95(convolve(response_time, response_time))"),
    N.Percentile: ("inf {x: F(x) >= q}", "p95(waiting_time)"),
    N.Moment: ("E[X^k]", "moment(2, response_time)"),
    N.ProbInInterval: ("P(X in range)", "probability(response_time in (20ms, 50ms])"),
    N.ProbInStates: ("P(N in A), or P(N(t) in A | N(0) has just entered B)", "probability({n() >= 4} at 20ms from {n() == 0})"),
    N.SteadyStateProb: ("P(f(N) = x), or P(f(N) = x | N in A)", "mean(distribution(n() over {n() >= 4}))"),
    N.SteadyStateStates: ("{s: pi_s in range}", "states(probability in [0.1, 1])"),
    N.StatesAtTime: ("{s: P(N(t) = s | N(0) has just entered B) in range}", "states(probability in [0.1, 1] at 100ms from {n() == 0})"),
    N.FiringRate: ("events a second", "rate(answered)"),
    N.InInterval: ("a <= x <= b", "not utilisation{station=cpu} in [0.8, 1]"),
    N.Subset: ("A is part of B", "states(probability in [0.1, 1]) subset {n() <= 5}"),
    N.Discon: ("and, or, by Kleene's rules", PICTURE),
    N.Negation: ("not, by Kleene's rules", "not errors > 1%"),
    N.ArithComp: ("x < y if true for all numbers of both intervals", "p99 < 150ms"),
    N.ArithOp: ("+ - * / ^; the interval contains the result for all numbers of both", "p99 / p50"),
    N.RequestTime: ("ours: the time of a request", "response_time"),
    N.Measure: ("ours: a row of Metrics", "utilisation{station=cpu}"),
    N.Deviation: ("ours: sqrt(E[X^2] - E[X]^2)", "sd(response_time)"),
    N.Share: ("ours: requests of one kind divided by requests of another", "share(failed / arrivals)"),
    N.Slices: ("ours: share of windows of time in which the condition is true >= the least", "p99 < 150ms in 99% of 10s windows"),
}  # fmt: skip


def page() -> str:
    source = AnalyticSource(Model.parse(MODEL), "m4")
    return HEAD + "".join(f"\n{_node(kind, *told, source)}" for kind, told in NODES.items())


def _node(kind: type[Node], formula: str, example: str, source: AnalyticSource) -> str:
    question = Question.read(example)
    answer = query(question, source)
    last = answer.parts or (answer,)
    found = "; ".join(": ".join(filter(None, (one.verdict, one.reason))) for one in last)
    doc = "" if (kind.__doc__ or "").startswith(f"{kind.__name__}(") else prose(kind.__doc__) + "\n\n"
    rows = (
        ("formula", cell(f"`{formula}`")),
        ("example", f"`{to_text(question.tree)}`"),
        ("in English", english(question.tree)),
        ("answer", found),
    )
    return f"### {kind.__name__}\n\n{doc}" + table(("", ""), rows)


def picture() -> str:
    """The tree at the head of the page."""
    return query(PICTURE, AnalyticSource(Model.parse(MODEL), "m4")).svg()


def pictures() -> str:
    """Every kind of node, in trees one below the other, as the model m4 answers them: one picture of nested ones."""
    found = [query(text, AnalyticSource(Model.parse(MODEL), "m4")).svg() for text in EVERY]
    sizes = [tuple(int(x) for x in re.findall(r'(?:width|height)="(\d+)"', one)[:2]) for one in found]
    below = [sum(height for _, height in sizes[:k]) for k in range(len(sizes) + 1)]
    parts = [one.replace("<svg ", f'<svg y="{y}" ', 1) for one, y in zip(found, below[:-1], strict=True)]
    wide, high = max(width for width, _ in sizes), below[-1]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">'
    return "\n".join([head, "<title>Every kind of node</title>", *parts, "</svg>\n"])
