"""What a user may say of a load of block I/O, before anything is opened."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.load.block_load import block_load, block_sizes, size_bytes


def test_sizes_are_in_powers_of_1024_as_storage_tools_have_them() -> None:
    assert [size_bytes(text, "x") for text in ("512", "8k", "1.5K", "4KiB", "2m", "1g", 4096)] == [
        512, 8192, 1536, 4096, 2 << 20, 1 << 30, 4096,
    ]  # fmt: skip
    assert block_sizes("4k:3,8k:1") == {"kind": "list", "values": [4096, 8192], "weights": [3.0, 1.0]}
    assert block_sizes("8k") == {"kind": "fixed", "value": 8192}


@pytest.mark.parametrize("text", ["", "0", "-4k", "8x", "1.0001k", "k"])
def test_a_size_that_is_none_is_named(text: str) -> None:
    with pytest.raises(InputError, match="--region-size"):
        size_bytes(text, "--region-size")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"iops": 0}, "--iops"),
        ({"iops": -5}, "--iops"),
        ({"iops": float("nan")}, "--iops"),
        ({"block": "4k:x,8k:1"}, "--block-size"),
        ({"block": "8t"}, "--block-size"),
        ({"engine": "libaio"}, "--engine"),
        ({"arrivals": "uniform"}, "--arrivals"),
        ({"depth": -1}, "--queue-depth"),
        ({"fsync_every": -1}, "--fsync-every"),
        ({"fua_every": 4}, "--fua-every"),
        ({"verify": True}, "--verify"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        block_load("file:/x", **({"iops": 100.0} | given))


@pytest.mark.parametrize(
    ("url", "said"), [("nfs://host/file", "mount it"), ("iscsi://host/lun", "attach it.*blk:DEVICE"), ("fc:0/1", "blk:DEVICE")]
)  # fmt: skip
def test_what_has_no_client_in_here_is_refused_with_the_way_there_is(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        block_load(url, iops=100)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["file:/x"], "give --iops"),
        (["file:/x", "--iops", "5", "--rate", "5"], "--rate and --iops"),
        (["file:/x", "file:/y", "--iops", "5"], "2 targets"),
        (["file:/x", "--iops", "5", "--users", "3"], "--users: no option of file:PATH"),
        (["file:/x", "--iops", "5", "--key-count", "3"], "only memcached"),
        (["http://127.0.0.1:1/", "--rate", "5", "--block-size", "8k"], "only file:PATH"),
    ],
)
def test_options_of_other_loads_are_refused(words: list[str], said: str) -> None:
    result = CliRunner().invoke(command_line(["load"]), ["load", *words])
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
