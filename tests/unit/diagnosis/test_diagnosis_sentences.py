"""Many settings of a service on one screen."""

from __future__ import annotations

from sojourn.diagnosis import Diagnosis, LoadLevel, lines

LEVEL = LoadLevel(10.0, 10.0, 0.1, users=2)
SILENT = Diagnosis(
    "unknown", "", "cannot tell what the limit is: there is one level, 2 users", "more users", LEVEL, LEVEL
)
TOLD = Diagnosis("cores", "cores 0-1", "the limit is cores 0-1: 99 % busy", "more cores", LEVEL, LEVEL)


def test_settings_that_tell_nothing_have_one_line_together() -> None:
    found = {f"size = {k}": SILENT for k in range(68)} | {"size = 68": TOLD}
    assert lines(found) == [
        "size = 68: the limit is cores 0-1: 99 % busy",
        "  next: more cores",
        "cannot tell what the limit is at 68 of 69 settings; at the first: there is one level, 2 users",
        "  next: more users",
    ]


def test_a_few_settings_have_lines_of_their_own() -> None:
    assert len(lines({"a": SILENT, "b": TOLD})) == 4
    assert lines({"a": SILENT, "b": TOLD})[0] == "a: cannot tell what the limit is: there is one level, 2 users"
