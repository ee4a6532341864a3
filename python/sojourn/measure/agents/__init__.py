"""One load from several generators, on as many processes or machines: one schedule, one run folder, one verdict.

load_agents     the run: who takes part, clocks, common start, what goes wrong
agent_run       what an agent does on its worker
clock_offsets   how far the agents' clocks are from ours, and to what error that is known
joined_run      the agents' records, histograms, counts and verdicts in one run folder
"""

from sojourn.measure.agents.load_agents import AgentLoad, execute_on_agents

__all__ = ["AgentLoad", "execute_on_agents"]
