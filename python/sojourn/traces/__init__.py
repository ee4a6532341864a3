"""Traces of requests through services → visits, self times, the call graph, and a model with unknown service times.

read_traces      OTLP/JSON and Jaeger JSON; ObservedTraces
is_trace_file    whether a file is one

Map: `trace_files` files within limits · `otlp_json`, `jaeger_json` a format each · `sampling_probability` what a span says of it ·
`span_table` spans as columns · `linked_spans` parents and requests · `visits` what is a visit · `visit_ratios` visits with
intervals · `self_times` time without children, clocks that are apart · `call_graph` · `request_classes` kinds of requests ·
`skeleton` the model · `trace_results` classes, operations, requests · `trace_notes` what traces do not show.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.traces.observed_traces import ObservedTraces as ObservedTraces
    from sojourn.traces.observed_traces import read_traces as read_traces
    from sojourn.traces.trace_files import is_trace_file as is_trace_file
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={"observed_traces": ["ObservedTraces", "read_traces"], "trace_files": ["is_trace_file"]},
    )
