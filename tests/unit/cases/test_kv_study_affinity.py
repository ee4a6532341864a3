"""Who runs on which core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sojourn.lab.cpu_affinity import pin
from sojourn_cases.kv.middleware.affinity import Affinity, assigned


def test_the_client_has_a_core_of_its_own_and_the_rest_is_dealt() -> None:
    assert assigned([0, 1], 3, 2) == Affinity((1,), ((0,),) * 3, ((0,),) * 2)
    assert assigned([0], 1, 1) == Affinity((0,), ((0,),), ((0,),))
    assert assigned([0, 1, 2, 3], 1, 1) == Affinity((3,), ((1,),), ((0, 2),))
    many = assigned(range(16), 3, 2)
    assert many.client == (15,) and many.proxies == ((0, 5, 10), (1, 6, 11)) and many.servers == ((2,), (3,), (4,))


def test_every_core_given_is_one_that_there_is() -> None:
    for cores in range(1, 9):
        for servers in range(1, 5):
            for proxies in range(3):
                found = assigned(range(cores), servers, proxies)
                sets = [found.client, *found.servers, *found.proxies]
                assert all(own and set(own) <= set(range(cores)) for own in sets)
                assert len(found.servers) == servers and len(found.proxies) == proxies


def test_a_process_is_kept_with_all_its_threads() -> None:
    """Of a process that is gone there is nothing to keep."""
    program = "import threading, time; threading.Thread(target=time.sleep, args=(9,)).start(); print(1, flush=True)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"1\n"
        only = min(os.sched_getaffinity(0))
        pin([child.pid, 1 << 22], [only])
        tasks = [int(path.name) for path in Path(f"/proc/{child.pid}/task").iterdir()]
        assert len(tasks) == 2 and all(os.sched_getaffinity(task) == {only} for task in tasks)
        child.kill()
