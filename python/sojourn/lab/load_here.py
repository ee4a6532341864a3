"""A load in this process instead of one of its own: in a guest, a start of Python takes seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sojourn import _native


def load_blocks(config: dict[str, Any], out: Path) -> dict[str, Any]:
    """Carries a load of block I/O (`sojourn.load.block_load`) to its end, with the records in the folder `out`; what the generator
    says of it. Other threads of Python go on meanwhile.

    Raises:
        RuntimeError, ValueError, OSError: what cannot be used or written.
    """
    summary: dict[str, Any] = json.loads(_native.load_blocks(json.dumps(config), str(out), lambda _: None))
    return summary
