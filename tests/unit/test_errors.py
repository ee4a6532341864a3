"""The error tree: message parts, exit codes, and that the docstring draws every class."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

from sojourn import errors

CODES = {
    "SojournError": 1,
    "InputError": 2,
    "NoSuchRow": 2,
    "FitError": 2,
    "Undetermined": 2,
    "ModelError": 2,
    "MethodRefused": 2,
    "RunFolderError": 2,
    "StorageFull": 1,
    "SolverError": 6,
    "DesignError": 2,
    "StudyError": 2,
    "ReportError": 2,
    "QueryError": 2,
    "SourceRefused": 2,
    "LoadError": 3,
    "LabError": 4,
    "PermissionLacking": 4,
    "CaseError": 4,
    "Busy": 4,
    "WorkerError": 4,
    "ServiceError": 5,
    "ObjectiveMissed": 7,
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


def test_every_class_is_raised_by_a_test() -> None:
    """Somewhere in tests/, `pytest.raises` expects each class that is raised itself, not only its children."""
    raised: set[str] = set()
    for path in Path(__file__).resolve().parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "raises":
                raised |= {n.id for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)} if node.args else set()
                raised |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    # Interrupted is never raised: it lends its exit code to Ctrl-C
    assert set(CLASSES) - raised - {"SojournError", "Interrupted"} == set()


def test_a_run_that_the_generator_held_up_is_a_load_error() -> None:
    from sojourn.cli.load_run import end

    with pytest.raises(errors.LoadError, match="the figures above do not describe the service"):
        end(["the generator was late"], "load")
