"""A cost as arithmetic over what is varied: `0.04*cores + 0.01*nics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.arithmetic import HOW, Arithmetic
from sojourn.errors import InputError
from sojourn.file_errors import meant

Array = NDArray[np.float64]
PLACE = "--cost"


@dataclass(frozen=True)
class Cost:
    """A cost that uses known names only; `paths`: each of its names → the name of what is varied."""

    expression: Arithmetic
    paths: Mapping[str, str]

    @staticmethod
    def read(text: str, known: Iterable[str]) -> Cost:
        """`known`: the names that it may use, as `cores` or `stations.cpu.servers`; of a path its last part is enough where no other
        ends with it. Raises InputError."""
        known = list(known)
        try:
            read = Arithmetic.read(text)
        except ValueError as error:
            raise InputError(error, PLACE, HOW) from None
        paths: dict[str, str] = {}
        for name in read.names:
            ends = [name] if name in known else [path for path in known if path.rpartition(".")[2] == name]
            if len(ends) != 1:
                raise InputError(f"{name} in {text!r}", PLACE, f"this name is not varied; {meant(name, known)}")
            paths[name] = ends[0]
        return Cost(read, paths)

    def of(self, values: Mapping[str, NDArray[Any]]) -> Array:
        """The cost of each configuration, from the values of each name (arrays of one shape). Raises InputError for one that is no
        number, and for a cost that is none."""
        names = self.expression.names
        for name in names:
            if values[self.paths[name]].dtype.kind not in "biuf":
                raise InputError(f"{name} is not a number", PLACE, "use only numbers that are varied")
        found = self.expression.value({name: values[self.paths[name]].astype(float) for name in names})
        shape = next((column.shape for column in values.values()), (1,))
        whole = np.broadcast_to(np.asarray(found, float), shape).astype(float)
        if not np.isfinite(whole).all():
            at = int(np.argmin(np.isfinite(whole)))
            where = ", ".join(f"{name} = {values[self.paths[name]][at]:g}" for name in names) or "all configurations"
            raise InputError(
                f"{self.expression.text!r} is not a finite number at {where}", PLACE, "avoid a division by 0"
            )
        return whole
