"""What is fuzzed: readers of foreign files and texts, each a function of bytes that may raise a `SojournError` and nothing else."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import sojourn as sj
from sojourn.errors import SojournError

RUN = Path(__file__).parent / "run"  # a run folder, whose files are replaced one at a time
Reader = Callable[[bytes], None]


@cache
def folder() -> Path:
    """A private folder of this process."""
    return Path(tempfile.mkdtemp(prefix="sojourn-fuzz-"))


def as_file(name: str, data: bytes) -> Path:
    path = folder() / name
    path.write_bytes(data)
    return path


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def model(data: bytes) -> None:
    """A model file, and its arrays."""
    _ = sj.Model.read(as_file("model.toml", data)).network


def fitted(data: bytes) -> None:
    sj.FittedModel.read(as_file("fitted.toml", data))


def study(data: bytes) -> None:
    from sojourn.study.checked_study import read_plan

    read_plan(as_file("study.toml", data), quick=True)


def policy(data: bytes) -> None:
    from sojourn.control.policy_file import read

    read(as_file("policy.toml", data))


def service(data: bytes) -> None:
    from sojourn.live_service.service_file import ServiceFile

    ServiceFile(as_file("service.toml", data))


def requests(data: bytes) -> None:
    from sojourn.load.http_request import read_requests

    read_requests(as_file("requests.toml", data))


def query(data: bytes) -> None:
    from sojourn.query.query import Question

    Question.read(text_of(data))


def query_json(data: bytes) -> None:
    from sojourn.files.reading import parse_json
    from sojourn.query.json_form import DEEPEST_JSON, from_json

    try:
        held = parse_json(data, DEEPEST_JSON)
    except ValueError:
        return  # who asks says where, as cli/query.py does
    from_json(held)


def run_file(name: str) -> Reader:
    """A run folder of an earlier version, without hashes, of which one file is other than it was written: by `report` and `query`."""

    def read(data: bytes) -> None:
        from sojourn.measure.run_report import runs_document
        from sojourn.report.html_page import render_html
        from sojourn.runs.measurement_window import responses

        place = folder() / f"run-{name}"
        if not place.exists():
            shutil.copytree(RUN, place)
            manifest = json.loads((place / "manifest.json").read_text())
            (place / "manifest.json").write_text(json.dumps({key: manifest[key] for key in manifest if key != "files"}))
        (place / name).write_bytes(data)
        with suppress(SojournError):
            sj.query("p99 < 50ms", place)
        with suppress(SojournError):
            if (requests := sj.RunFolder.open(place).frame("requests")) is not None:
                responses(requests)
        render_html(runs_document([place]))

    return read


def requests_log(data: bytes) -> None:
    from sojourn.runs.record_logs import read_thinned

    read_thinned(as_file("requests.rec", data))


def host_log(data: bytes) -> None:
    from sojourn.runs.host_samples import read_samples

    read_samples(as_file("host.ndjson", data))


def histogram_log(data: bytes) -> None:
    from sojourn.runs.interval_log import read_interval_log

    read_interval_log(as_file("latency.hlog", data))


def matrix(data: bytes) -> None:
    from sojourn.load.transition_matrix import TransitionMatrix

    TransitionMatrix.read(as_file("matrix.csv", data))


def run_list(data: bytes) -> None:
    from sojourn.design.run_list import read_runs

    read_runs(as_file("runs.csv", data))


def trace(data: bytes) -> None:
    from sojourn.traces import read_traces

    read_traces([as_file("trace.json", data)]).to_toml()


READERS: dict[str, Reader] = {
    "model": model,
    "fitted": fitted,
    "study": study,
    "policy": policy,
    "service": service,
    "requests": requests,
    "query": query,
    "query-json": query_json,
    "matrix": matrix,
    "run-list": run_list,
    "trace": trace,
    "requests-log": requests_log,
    "host-log": host_log,
    "histogram-log": histogram_log,
    **{name: run_file(name) for name in ("manifest.json", "requests.parquet", "host.parquet", "metrics.parquet")},
}
