"""The error tree: message parts, exit codes, and that the docstring draws every class."""

from __future__ import annotations

import pickle

import pytest

from sojourn import errors

CODES = {
    "SojournError": 1,
    "InputError": 2,
    "NoSuchRow": 2,
    "UnstableModel": 2,
    "FitError": 2,
    "ModelError": 2,
    "MethodRefused": 2,
    "RunFolderError": 2,
    "SolverError": 6,
    "DesignError": 2,
    "StudyError": 2,
    "ReportError": 2,
    "LoadError": 3,
    "LabError": 4,
    "PermissionLacking": 4,
    "Busy": 4,
    "ServiceError": 5,
    "Interrupted": 130,
}
CLASSES = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def test_every_class_has_its_code_and_place_in_the_tree() -> None:
    assert {name: kind.exit_code for name, kind in CLASSES.items()} == CODES
    drawn = (errors.__doc__ or "").split()
    assert all(name in drawn for name in CLASSES)


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES.keys())
def test_message_has_value_place_and_remedy(kind: type[errors.SojournError]) -> None:
    error = kind(-5, "study.toml:3 rate", "give a rate above 0")
    assert str(error) == "study.toml:3 rate: -5; give a rate above 0"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_input_errors_are_value_errors_and_missing_rows_key_errors() -> None:
    assert issubclass(errors.InputError, ValueError) and issubclass(errors.NoSuchRow, KeyError)
