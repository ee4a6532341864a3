"""A private PostgreSQL whose first process is killed by somebody else."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from machine import wait_for
from message_cluster import needs_postgres

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_processes import shared_memory

pytestmark = [pytest.mark.live, needs_postgres]


def test_killed_from_outside_it_leaves_no_shared_memory(open_folder: Path) -> None:
    cluster = Postgres(open_folder, durable=False)
    segments = shared_memory([cluster.pid])
    assert segments and all(segment.exists() for segment in segments)
    os.kill(cluster.pid, signal.SIGKILL)
    wait_for(lambda: cluster.ended)
    cluster.close()
    assert not any(segment.exists() for segment in segments)
