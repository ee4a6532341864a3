"""Writes the files of this folder by the OpenTelemetry SDK: `pip install opentelemetry-sdk opentelemetry-exporter-otlp-json-file
opentelemetry-exporter-otlp-proto-common`, then `python record.py`. Spans have given times, so that self times are known."""

from __future__ import annotations

import random
from pathlib import Path

from google.protobuf.json_format import MessageToJson
from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace._sampling_experimental import (
    composable_parent_threshold,
    composable_traceid_ratio_based,
    composite_sampler,
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BEGIN_NS, MS = 1_790_000_000_000_000_000, 1_000_000
REQUESTS, SHARE = 24, 0.5


def main() -> None:
    """Each request: site [0, 20] asks shop [2, 18], which asks stock twice side by side ([4, 8] and [6, 12] ms) and its database once."""
    random.seed(1)
    memory = InMemorySpanExporter()
    out = FileSpanExporter("otel.json")
    sampler = composite_sampler(composable_parent_threshold(composable_traceid_ratio_based(SHARE)))
    tracers = {}
    for service in ("site", "shop", "stock"):
        provider = TracerProvider(resource=Resource.create({"service.name": service}), sampler=sampler)
        provider.add_span_processor(SimpleSpanProcessor(out))
        provider.add_span_processor(SimpleSpanProcessor(memory))
        tracers[service] = provider.get_tracer("record")
    kinds = trace.SpanKind

    def span(service, name, kind, start, end, parent=None, **attributes):
        context = None if parent is None else trace.set_span_in_context(parent)
        told = {key.replace("_", "."): value for key, value in attributes.items()}
        made = tracers[service].start_span(name, context, kind, start_time=begin + round(start * MS))
        made.set_attributes(told)  # given at the start, this sampler drops them
        made.end(begin + round(end * MS))
        return made

    for number in range(REQUESTS):
        begin = BEGIN_NS + number * 100 * MS
        root = span("site", "GET /cart", kinds.SERVER, 0, 20)
        call = span("site", "GET", kinds.CLIENT, 1, 19, root, server_address="shop")
        cart = span("shop", "cart", kinds.SERVER, 2, 18, call)
        for start, end in ((4, 8), (6, 12)):
            asked = span("shop", "GET", kinds.CLIENT, start, end, cart, server_address="stock")
            span("stock", "level", kinds.SERVER, start + 0.5, end - 0.5, asked)
        span("shop", "SELECT", kinds.CLIENT, 13, 16, cart, db_system_name="postgresql")
    out.shutdown()
    Path("otel_protobuf.json").write_text(MessageToJson(encode_spans(memory.get_finished_spans()), indent=None))


main()
