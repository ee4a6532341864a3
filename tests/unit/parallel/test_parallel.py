"""Pieces on workers: the same results for any number of workers, and one error in bounded time when one is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn.errors import InputError, WorkerError
from sojourn.parallel import blocks, open_workers, run_pieces
from sojourn.parallel import workers as worker_module

TEN = list(range(10))


def drawn(seed: int, piece: int) -> tuple[int, float]:
    return piece, float(np.random.default_rng([seed, piece]).standard_normal())


def told_where(_: Any, piece: int) -> tuple[int, int]:
    return piece, os.getpid()


def slow(seconds: float, piece: int) -> int:
    time.sleep(seconds)
    return piece


def broken(_: Any, piece: int) -> int:
    raise ValueError(f"piece {piece}")


def on(place: Any, function: Callable[[Any, Any], Any], shared: Any, pieces: list[int], **more: Any) -> list[Any]:
    with open_workers(place) as workers:
        return run_pieces(workers, function, workers.send(shared), pieces, **more)


def test_blocks_cover_all_and_do_not_overlap() -> None:
    assert [i for block in blocks(1001, 250) for i in block] == list(range(1001))
    assert [len(block) for block in blocks(1001, 250)] == [250, 250, 250, 250, 1]


def test_results_are_the_same_in_the_same_order_wherever_they_are_made() -> None:
    expected = [drawn(7, piece) for piece in range(50)]
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        for place in ("local:1", "2", 2, threads, processes):
            assert on(place, drawn, 7, list(range(50))) == expected


def test_bound_pieces_stay_with_their_worker() -> None:
    with open_workers("local:2") as workers:
        handle = workers.send(None)
        first, second = (dict(run_pieces(workers, told_where, handle, TEN, bound=True)) for _ in range(2))
    assert first == second
    assert len(set(first.values())) == 2


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int, float | None]] = []
    with open_workers("local:2", lambda *figures: told.append(figures)) as workers:
        run_pieces(workers, drawn, workers.send(7), TEN)
    assert told[-1] == (10, 10, 0.0)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_no_pieces_are_no_results() -> None:
    assert on("local:2", drawn, 7, []) == []


def test_an_error_of_a_piece_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="piece 0"):
        on("local:1", broken, None, TEN)


def processes_of(workers: Any) -> list[int]:
    return [pid for slot in workers.slots for pid in slot._processes]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int]) -> bool:
    for _ in range(100):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.1)
    return False


def test_a_killed_worker_is_one_error_that_names_it_and_nothing_is_left() -> None:
    with (
        pytest.raises(WorkerError, match="worker 2 of 2 ended before its task did"),
        open_workers("local:2") as workers,
    ):
        pids = processes_of(workers)
        workers.started[1].result(60)  # which takes seconds on a busy machine
        threading.Timer(1.5, os.kill, (pids[1], signal.SIGKILL)).start()
        run_pieces(workers, slow, workers.send(0.2), list(range(1000)))
    assert gone(pids)


def test_frozen_workers_are_one_error_in_bounded_time_and_nothing_is_left() -> None:
    with pytest.raises(WorkerError, match="no worker has answered"), open_workers("local:2") as workers:
        pids = processes_of(workers)
        for pid in pids:
            threading.Timer(1.5, os.kill, (pid, signal.SIGSTOP)).start()
        run_pieces(workers, slow, workers.send(0.1), list(range(1000)), still_s=2.0)
    assert gone(pids)


def test_one_frozen_worker_is_an_error_too_when_the_others_have_done_the_rest() -> None:
    with pytest.raises(WorkerError, match="process 1 of 2 does not respond"), open_workers("local:2") as workers:
        pids = processes_of(workers)
        threading.Timer(1.0, os.kill, (pids[0], signal.SIGSTOP)).start()
        run_pieces(workers, slow, workers.send(0.05), list(range(60)), still_s=2.0)
    assert gone(pids)


def test_a_piece_that_takes_long_is_waited_for() -> None:
    assert on("local:2", slow, 3.0, [0, 1], still_s=0.5) == [0, 1]


PARENT = """
import sys, time
from sojourn.parallel import open_workers
if __name__ == "__main__":
    with open_workers("local:2") as workers:
        print(*(slot.submit(int).result() or pid for slot in workers.slots for pid in slot._processes), flush=True)
        time.sleep(60)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2 and all(map(alive, pids))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(pids)


def test_a_worker_of_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {**worker_module.versions(), "numpy": "1.0"}
    with ThreadPoolExecutor(1) as threads, open_workers(threads) as workers:
        workers.wanted = wanted  # type: ignore[attr-defined]
        with pytest.raises(WorkerError, match=rf"process {os.getpid()} on .* has numpy .* instead of 1\.0"):
            run_pieces(workers, drawn, workers.send(7), TEN)


@pytest.mark.parametrize(
    "place", ["local", "local:", "local:0", "local:two", "local:1000", "cluster", "dask://", "dask://x", "0", "-1", 3.5]
)
def test_what_is_no_place_to_run_is_refused(place: Any) -> None:
    with pytest.raises(InputError, match="give"), open_workers(place):
        pass


def test_without_dask_a_scheduler_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "sojourn.parallel.dask_workers", raising=False)
    with pytest.raises(InputError, match=r"pip install 'sojourn\[dask\]'"), open_workers("dask://127.0.0.1:8786"):
        pass


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path: Path) -> None:
    """Workers import the script, which would begin again in each; ours say so where Python only says it on the way."""
    script = tmp_path / "plain.py"
    script.write_text(
        "import sojourn as sj\n"
        "cpu, user = sj.Queue('cpu'), sj.Open('user', rate_per_s=1.0)\n"
        "model = sj.Model(stations=[cpu], classes=[user], demands_s={'cpu': {'user': 0.1}})\n"
        "sj.simulate(model, replications=2, completions=100, parallel='local:1')\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if line.startswith("sojourn.errors.WorkerError")]
    assert len(told) == 1 and "--parallel local:1: worker 1 of 1 ended before it began" in told[0]
    assert "if __name__ == '__main__':" in told[0]


def test_ctrl_c_while_workers_start_is_their_parents_alone(tmp_path: Path) -> None:
    """Of a terminal it goes to all of its processes: those that start are not to tell of it, each with a trace."""
    script = tmp_path / "interrupted.py"
    script.write_text(
        "import os, signal, sys\n"
        "from sojourn.parallel import open_workers\n"
        "if __name__ == '__main__':\n"
        "    os.setpgid(0, 0)\n"
        "    try:\n"
        "        with open_workers('local:2') as workers:\n"
        "            for slot in workers.slots:\n"
        "                for process in slot._processes.values():\n"
        "                    os.kill(process.pid, signal.SIGINT)\n"  # long before they have imported anything
        "            workers.send(1)\n"
        "            print([slot.submit(os.getpid).result() > 0 for slot in workers.slots])\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(3)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[True, True]", "")
