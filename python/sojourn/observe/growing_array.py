"""Numbers that come part by part, in one piece of memory, which the kernel lengthens where it is: nothing is there twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Of one type."""

    def __init__(self, kind: type[np.number[Any]]) -> None:
        self.count = 0
        self._held: NDArray[Any] = np.empty(0, kind)

    def add(self, values: NDArray[Any]) -> None:
        """Behind those that are there."""
        end = self.count + len(values)
        if end > len(self._held):
            self._held.resize(max(end, len(self._held) * 9 // 8), refcheck=False)
        self._held[self.count : end] = values
        self.count = end

    def whole(self) -> NDArray[Any]:
        """All of them; nothing can be added any more."""
        self._held.resize(self.count, refcheck=False)
        return self._held
