"""`--set`, as runs print their factors and as TOML writes them."""

from __future__ import annotations

from sojourn.cli.set_option import settings


def test_truth_values_in_either_spelling() -> None:
    assert settings("sharded=True,split=false,workers=4,kind=multi-4", "--set") == {
        "sharded": True, "split": False, "workers": 4, "kind": "multi-4",
    }  # fmt: skip
    assert settings("sharded=True", "--set")["sharded"] is True
