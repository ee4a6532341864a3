"""Whether runs are of one service: they went to the same addresses, or their system says the same of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.errors import FitError
from sojourn.runs.run_folder import RunFolder


def check_one_service(folders: Sequence[RunFolder]) -> None:
    """Raises FitError where runs went to different addresses. A system of a study gets new ones with each start, and says what it is."""
    asked = {_service(f.manifest): f.path for f in folders}
    if len(asked) > 1:
        (one, first), (other, second) = list(asked.items())[:2]
        value = (
            f"runs of {', '.join(one) or 'no address'} ({first}) and of {', '.join(other) or 'no address'} ({second})"
        )
        raise FitError(value, "runs", "fit the runs of one service at a time")


def _service(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    said = manifest.get("conditions", {}).get("system")
    if said is not None and "resources" in manifest:
        return (json.dumps(said, sort_keys=True, default=str),)
    return tuple(sorted(_addresses(manifest.get("load", {}))))


def _addresses(load: Mapping[str, Any]) -> set[str]:
    """Scheme, host and port of all that was asked."""
    urls = {str(target.get("url", "")) for lane in load.get("lanes", []) for target in lane.get("targets", [])}
    return {"/".join(url.split("/", 3)[:3]) for url in urls if url}
