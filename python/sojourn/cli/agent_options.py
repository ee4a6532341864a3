"""What `load` can say of agents: options, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.load.load_options import option
from sojourn.units import number

if TYPE_CHECKING:
    from sojourn.measure.agents import AgentLoad

PANEL = "Several generators"


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """Which agents make an HTTP load, and the rate that one of them makes at most."""

    agents: str | None = option(
        None, "HTTP at a rate, from several: N (processes of this machine) or tls://HOST:PORT of a dask cluster",
        "--agents", panel=PANEL,
    )  # fmt: skip
    per_agent: float | None = option(
        None,
        "maximum requests per second of one agent; without it, each worker is one agent",
        "--rate-per-agent",
        read=number,
        panel=PANEL,
    )

    def load(self) -> AgentLoad | None:
        """None where there are no agents.

        Raises:
            InputError: a rate of an agent without agents.
        """
        if self.agents is None:
            if self.per_agent is not None:
                raise InputError(f"{self.per_agent:g}", "--rate-per-agent", "add --agents: N or tls://HOST:PORT")
            return None
        from sojourn.measure.agents import AgentLoad

        return AgentLoad(self.agents, self.per_agent)
