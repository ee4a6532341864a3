"""The function behind `sojourn load` with a URL: the options of its protocol read, the load run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.agent_options import AgentOptions
from sojourn.cli.http_options import Objectives, warn_of_hidden
from sojourn.cli.option_classes import with_options
from sojourn.cli.output_format import Format, output_format
from sojourn.load.load_options import ClosedLoad, LoadOptions, OpenLoad, values

if TYPE_CHECKING:
    from sojourn.query.objectives import Objective

BESIDE: dict[str, tuple[type[Any], ...]] = {"http": (AgentOptions,)}  # options of how a protocol's load is made
ALWAYS: dict[str, dict[str, Any]] = {"http": {"realtime": True}}  # what a command line does not ask about
Urls = Annotated[
    list[str] | None,
    typer.Argument(
        help="http://…, memcached://…, messages://…, file:PATH, blk:DEVICE, nbd://…; or several", metavar="URL"
    ),
]
Out = Annotated[Path | None, typer.Option(help="keep the run folder here")]
AsJson = Annotated[bool, typer.Option("--json", help="print the summary as one JSON object")]


@dataclass(frozen=True, kw_only=True)
class CommonOptions(OpenLoad, ClosedLoad):
    """What most protocols have."""


def load_of(options: type[LoadOptions]) -> Callable[..., None]:
    """The function behind `sojourn load` with a URL of this protocol."""
    return with_options(options, *BESIDE.get(options.protocol, ()))(partial(_load, options))


def _load(
    options: type[LoadOptions], url: Urls = None, objective: Objectives = None, out: Out = None, as_json: AsJson = False,
    form: Format = "table", **given: Any,
) -> None:  # fmt: skip
    from sojourn.load.schedule_seed import fresh_seed

    printed = output_format(form, as_json)
    read = {"seed": fresh_seed()} | ALWAYS.get(options.protocol, {}) | values(options, given)
    urls = list(url or ())
    config = options(**read).config(urls if options.schemes else urls[1:])  # behind the word of a case
    warn_of_hidden(config)
    agents = AgentOptions(**values(AgentOptions, given)).load()
    from sojourn.cli.load_run import perform  # slow, and not needed where an option is wrong

    perform(config, out, printed, _objectives(objective or ()), agents)


def _objectives(texts: Sequence[str]) -> Sequence[Objective]:
    if not texts:
        return ()
    from sojourn.query.objectives import read_objectives  # slow to import, and most loads have none

    return read_objectives(texts)
