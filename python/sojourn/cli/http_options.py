"""What verbs that send HTTP requests have in common beside the options of a load."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sojourn.load.http_load import HTTP, HttpOptions
from sojourn.load.load_options import option_texts
from sojourn.terminal import say

OF_REQUESTS = [name for name, text in option_texts(HttpOptions).items() if text.panel == HTTP]  # what requests are like
OF_ONE_REQUEST = [name for name in OF_REQUESTS if name not in ("template", "requests")]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective", help="'p99 < 50ms', 'errors < 1%', 'rate > 190/s' …; several times", show_default=False
    ),
]


def warn_of_hidden(config: dict[str, Any]) -> None:
    """Says on standard error which credentials stood in clear text."""
    from sojourn.load.credentials import hidden

    for name in hidden(config):
        say(
            f"warning: the value of header {name} is not written to run folder or messages, but others can read it in "
            f"the command line or the file; use --bearer-token-env, --basic-auth-env or the value env:VARIABLE instead",
            err=True,
        )
