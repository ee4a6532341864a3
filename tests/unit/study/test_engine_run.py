"""Points into run folders: runs that others disturbed are put aside and run again, also over an interruption."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.runs.run_folder import RunFolder
from sojourn.study.run_points import run_points
from sojourn.study.system import Point


class DisturbedSession:
    """Every run is disturbed; the one of number `ends` is interrupted before it has begun."""

    def __init__(self, ends: int | None = None) -> None:
        self.ends, self.seeds = ends, []

    def conditions(self, point: Point) -> dict[str, Any]:
        return {"load": {}, "conditions": {}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        if len(self.seeds) == self.ends:
            raise KeyboardInterrupt
        self.seeds.append(seed)
        out.mkdir(parents=True)
        manifest = {"name": out.name, "reasons": ["disturbed: other processes"], "number": len(self.seeds)}
        (out / "manifest.json").write_text(json.dumps(manifest))
        return RunFolder(out, manifest)


def test_a_run_is_tried_three_times_however_often_the_study_is_interrupted(tmp_path: Path) -> None:
    """The number of a run that was put aside before was given again: 'Directory not empty'."""
    point, said = [Point("s", {"rate_per_s": 5.0})], []
    first, second = DisturbedSession(ends=1), DisturbedSession()
    with suppress(KeyboardInterrupt):
        run_points(first, point, tmp_path, 1, said.append)
    (folder,) = run_points(second, point, tmp_path, 1, said.append)
    assert len(first.seeds) == 1 and len(second.seeds) == 2 and len({*first.seeds, *second.seeds}) == 3
    assert folder.path == tmp_path / "runs" / point[0].name
    aside = sorted(path.name for path in (tmp_path / "disturbed").iterdir())
    assert aside == [f"{point[0].name}-1", f"{point[0].name}-2"] and said.count("  run again") == 2
