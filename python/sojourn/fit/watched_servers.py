"""Of how many servers a station has, or a part of one, so that busy servers become a utilisation."""

from __future__ import annotations

from sojourn.model import Multicore, Queue
from sojourn.model.model_data import ModelData


def watched_servers(model: ModelData) -> dict[str, int]:
    """Servers of each queue, cores of each multicore station and of its parts (`cpu.leading`), virtual CPUs of each guest
    (`app.guest`); what has none is left out."""
    found: dict[str, int] = {}
    for s in model.stations:
        if isinstance(s, Queue):
            found[s.name] = s.servers
        elif isinstance(s, Multicore):
            found[s.name] = s.cores
            found |= {f"{s.name}.{part}": cores for part, cores in s.parts.items() if cores}
    found |= {row: found[name] for group in model.shared_cores for name, row in group.guests.items()}
    return found
