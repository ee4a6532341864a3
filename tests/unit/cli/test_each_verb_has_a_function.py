"""Behind each verb stands one function of the package that does the same from Python: the verb reads arguments, calls it, prints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest
import typer.main

import sojourn as sj
from sojourn import cli
from sojourn.cli.app import FILES, command_line

FOLDER = Path(cli.__file__).parent
# verb → module:function; `sojourn` itself where the index shows it
FUNCTIONS = {
    "capacity": "sojourn:capacity", "check": "sojourn:check", "compare": "sojourn:compare", "try": "sojourn.trial:trial",
    "load": "sojourn.measure.load_once:executed", "measure": "sojourn:measure", "cpu": "sojourn.measure.cpu_residual:measure_command",
    "solve": "sojourn:solve", "methods": "sojourn:methods", "fit": "sojourn.fit:fit_assuming", "predict": "sojourn:predict",
    "simulate": "sojourn:simulate", "validate": "sojourn:validate", "query": "sojourn:query",
    "control simulate": "sojourn.control:simulate",
    "control replay": "sojourn.control:replay", "control live": "sojourn.control.live:run_live",
    "oscillation": "sojourn:oscillation", "report": "sojourn:write_html", "study": "sojourn:run_study",
    "serve kv": "sojourn.lab:EmbeddedKv", "design make": "sojourn.design:full_factorial",
    "design analyse": "sojourn.design.analyse.analysis_report:analysis", "design check": "sojourn.findings.benchmark_critique:criticise",
    "plan": "sojourn:plan", "calc merge": "sojourn.plan:merge", "calc table": "sojourn.plan:staff_table",
    "calc balance": "sojourn.plan:balance", "doctor": "sojourn.lab.doctor:all_checks",
    "lab topology": "sojourn.lab.machine_topology:machine_topology", "lab disk": "sojourn.lab:slow_disk",
    "lab vm": "sojourn.lab.guest_probe:probe_guests",
    "lab restore": "sojourn.live_service.restore_plan:put_back_left", "lab clean": "sojourn.lab:clean_stale",
    "examples": "sojourn.shipped:copy_example", "observe": "sojourn.observe:observe_files", "ui": "sojourn.ui.serve:serve",
}  # fmt: skip
OF_CASES = {"serve bulletin", "serve kv-proxy", "serve messages", "serve nbd", "serve web", "calc storage"}


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    inside = getattr(command, "commands", None)
    if inside is None:
        yield " ".join(path)
    for name, one in (inside or {}).items():
        yield from verbs(one, (*path, name))


def imported(file: str, seen: set[str]) -> set[str]:
    """Names that a file of the command line imports, and those that files beside it do that it imports."""
    if file in seen or not (FOLDER / f"{file}.py").is_file():
        return set()
    seen.add(file)
    names: set[str] = set()
    for node in ast.walk(ast.parse((FOLDER / f"{file}.py").read_text())):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
            beside = (
                [a.name for a in node.names]
                if node.module == "sojourn.cli"
                else [(node.module or "").rpartition(".")[2]]
            )
            if (node.module or "").startswith("sojourn.cli"):
                names |= {name for one in beside for name in imported(one, seen)}
    return names


def test_every_verb_is_in_the_table() -> None:
    found = set(verbs(typer.main.get_command(command_line()))) - OF_CASES
    assert found == set(FUNCTIONS)


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_its_function_is_there_says_what_it_does_and_is_what_the_verb_calls(verb: str) -> None:
    module, _, name = FUNCTIONS[verb].partition(":")
    function = getattr(import_module(module), name)
    assert callable(function) and getdoc(function)
    if module == "sojourn":
        assert name in sj.__all__
    file = verb.replace(" ", "_") if verb.startswith("serve") else verb.split()[0]
    assert name in imported(FILES.get(file, file), set()), f"sojourn {verb} calls something else than {FUNCTIONS[verb]}"
