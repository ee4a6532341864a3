"""What `load` can say of agents: options, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.errors import InputError
from sojourn.units import number

if TYPE_CHECKING:
    from sojourn.measure.agents import AgentLoad

AGENTS: dict[str, Any] = {"rich_help_panel": "Several generators", "show_default": False}
Agents = Annotated[
    str | None,
    typer.Option(
        help="HTTP at a rate, from several: local:N (processes of this machine) or tls://HOST:PORT of a dask cluster",
        **AGENTS,
    ),
]
PerAgent = Annotated[
    str | None, typer.Option(help="requests per second of one agent at most; else each worker is one", **AGENTS)
]


def agent_load(agents: str | None, per_agent: str | None) -> AgentLoad | None:
    """These options; None where there are no agents.

    Raises:
        InputError: a rate of an agent without agents, or none above 0.
    """
    if agents is None:
        if per_agent is not None:
            raise InputError(per_agent, "--per-agent", "give --agents too: local:N or tls://HOST:PORT")
        return None
    from sojourn.measure.agents import AgentLoad

    return AgentLoad(agents, None if per_agent is None else number(per_agent, "--per-agent"))
