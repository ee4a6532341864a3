"""`sojourn load URL`: a load test in the terminal. Without a URL it has help alone; with one, `load_of_protocol` is behind it."""

from __future__ import annotations

from typing import Any

from sojourn.cli.http_options import Objectives
from sojourn.cli.load_command import LoadCommand
from sojourn.cli.load_of_protocol import AsJson, CommonOptions, Out, Urls
from sojourn.cli.option_classes import with_options
from sojourn.cli.output_format import Format

Command = LoadCommand  # what `app` takes for this verb


@with_options(CommonOptions)
def load(
    url: Urls = None, objective: Objectives = None, out: Out = None, as_json: AsJson = False, form: Format = "table", **given: Any
) -> None:  # fmt: skip
    """Puts a known load on a service and prints response times.

    Times run from when a request was due, and, beside that, from when it was sent. The URL decides which further options there are.
    """
    raise AssertionError("without a URL there is no load")  # LoadCommand refuses it before
