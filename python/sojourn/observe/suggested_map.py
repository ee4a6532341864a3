"""A first map file from the names that a Prometheus server has, by the conventions of OpenTelemetry, kube and the node exporter.

Conventions: opentelemetry.io/docs/specs/semconv/http/http-metrics (`http_server_request_duration_seconds`, before that
`http_server_duration_milliseconds`); node_exporter (`node_cpu_seconds_total`); cAdvisor (`container_cpu_usage_seconds_total`);
client libraries (`process_cpu_seconds_total`).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from itertools import chain, count

import numpy as np

from sojourn.errors import InputError
from sojourn.observe.prometheus_http import PrometheusServer, selectors
from sojourn.observe.request_log import plain_name

TIMES = re.compile(r"(?P<base>.*(duration|latency|response_time|request_time|elapsed).*)_sum")
NATIVE = re.compile(
    r".*(duration|latency|response_time|request_time|elapsed).*(?<!_sum)(?<!_count)(?<!_bucket)(?<!_total)"
)
MOST_ASKED = 20  # names that may be native histograms: a name does not say
ROUTES = ("http_route", "route", "handler", "path", "endpoint", "method", "rpc_method", "http_request_method")
FIRST = ("http_server_request_duration", "http_server_duration", "http_request_duration")
OWN = ("prometheus_", "net_conntrack_", "go_", "promhttp_", "scrape_")  # of the server itself
MOST_CLASSES = 8
CPU = (
    ("node_cpu_seconds_total", "node_cpu_seconds_total{mode!~\"idle|iowait\"}", "count(node_cpu_seconds_total{mode=\"idle\"})"),
    ("container_cpu_usage_seconds_total", "container_cpu_usage_seconds_total{container!=\"\"}", 1),
    ("process_cpu_seconds_total", "process_cpu_seconds_total", 1),
)  # fmt: skip


def suggested_map(server: PrometheusServer) -> str:
    """A map file as text. Raises InputError where no name looks like a count and a sum of response times; ServiceError."""
    names = server.names()
    there = set(names)
    bases = [m["base"] for name in names if (m := TIMES.fullmatch(name)) and f"{m['base']}_count" in there]
    bases = sorted((b for b in bases if not b.startswith(OWN)), key=lambda base: (_rank(base), base))
    native = [] if bases else _native(server, names)
    bases = bases or native
    if not bases:
        said = f"no native histogram and no pair …_count and …_sum of response times among {len(names)} names ({selectors(names)})"
        raise InputError(said, server.name, "write the map by hand: docs/howto/from-prometheus.md")
    lines = ["# A guess from names: check each selector, and that classes are requests that are alike."]
    lines += [f"# also there: {other}" for other in bases[1:6]]
    lines += _classes(server, bases[0], bool(native))
    found = next((one for one in CPU if one[0] in there), None)
    if found:
        _, busy, cores = found
        note = "" if isinstance(cores, str) else "    # how many it may use"
        lines += [
            "",
            "[resources.cpu]",
            f"busy = {_text(busy)}",
            f"cores = {_text(cores) if isinstance(cores, str) else cores}{note}",
        ]
    else:
        lines += ["", "# no CPU time was found: without a resource a demand and a delay are hard to separate"]
    return "\n".join(lines) + "\n"


def _native(server: PrometheusServer, names: Sequence[str]) -> list[str]:
    """Native histograms of the last day among names of times, the likeliest first."""
    likely = sorted((n for n in names if NATIVE.fullmatch(n) and not n.startswith(OWN)), key=lambda n: (_rank(n), n))
    now = np.array([time.time()])
    rates = {n: server.series(f"count(histogram_count(rate({n}[1d])))", now, 60.0) for n in likely[:MOST_ASKED]}
    return [name for name, found in rates.items() if found[0] > 0]


def _rank(base: str) -> int:
    return next((i for i, start in enumerate(FIRST) if base.startswith(start)), len(FIRST))


def _classes(server: PrometheusServer, base: str, native: bool) -> Iterable[str]:
    unit = "ms" if base.endswith(("_milliseconds", "_ms")) else "us" if base.endswith(("_microseconds", "_us")) else "s"
    label, values = _routes(server, base if native else f"{base}_count")
    taken: set[str] = set()
    for value in values or [""]:
        matcher = f"{{{label}={json.dumps(value)}}}" if label else ""
        name = plain_name(value) if value else "request"
        numbered = chain([name], (f"{name}_{k}" for k in count(2)))
        name = next(one for one in numbered if one not in taken)
        taken.add(name)
        yield ""
        yield f"[classes.{name}]"
        if native:
            yield f"histogram = {_text(f'{base}{matcher}')}"
        else:
            yield f"requests = {_text(f'{base}_count{matcher}')}"
            yield f"seconds = {_text(f'{base}_sum{matcher}')}"
        if unit != "s":
            yield f'unit = "{unit}"'


def _routes(server: PrometheusServer, metric: str) -> tuple[str, Sequence[str]]:
    """The first label with a few values; none where there is none."""
    for label in ROUTES:
        values = [value for value in server.label_values(label, metric) if value]
        if 1 < len(values) <= MOST_CLASSES:
            return label, values
    return "", []


def _text(text: str) -> str:
    """As TOML: literal where that can be."""
    return f"'{text}'" if "'" not in text and "\n" not in text else json.dumps(text)
