"""What most fitted models say where a study asks more than for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class FittedDefaults:
    """`error_of`: what the model's own error is an error of. `knows`: whether a run with these factors can be predicted."""

    error_of: ClassVar[str] = "all demands, from held-out configurations"

    def knows(self, factors: Mapping[str, Any]) -> bool:
        return True
