"""Where the group of the spinners is made: inside the group that this process is in, or at a root."""

from pathlib import Path

import pytest

from sojourn.lab.cgroups import group_parents

V1 = "4:memory:/agent/x\n3:cpuset:/\n1:cpu,cpuacct:/jobs/7\n0::/\n"
V2 = "0::/user.slice/session-1.scope\n"


@pytest.mark.parametrize(
    ("listed", "first"),
    [(V1, "/sys/fs/cgroup/cpu/jobs/7"), (V2, "/sys/fs/cgroup/user.slice/session-1.scope"), ("", "/sys/fs/cgroup/cpu")],
)
def test_the_own_group_comes_first_and_the_roots_last(listed: str, first: str) -> None:
    parents = group_parents(listed)
    assert parents[0] == Path(first) and len(set(parents)) == len(parents)
    assert {Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")} <= set(parents)
