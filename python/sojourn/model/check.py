"""What is wrong with a model: each mistake one ModelError that names the value, the place and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.errors import ModelError

if TYPE_CHECKING:
    from sojourn.model.model import Model


def check(model: Model) -> None:
    names = [station.name for station in model.stations]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"two stations are called {name!r}", "stations", "give each a name of its own")
    if not model.classes:
        raise ModelError("no class", "classes", "add a closed or an open class")
