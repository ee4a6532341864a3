"""The public index as a notebook meets it: names, packages that are functions too, objects that travel between processes."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sojourn as sj
from sojourn.errors import InputError

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from package_arrows import public

BOTH = ("fit", "measure", "query", "simulate", "solve")
SHOP = Path(__file__).parents[2] / "examples/shop.toml"


def test_dir_lists_the_index_and_nothing_private() -> None:
    assert set(sj.__all__) <= set(dir(sj))
    assert {"design", "laws", "usl", "fit_usl", "Metrics"} <= set(sj.__all__) and "table3" not in sj.__all__
    assert not [name for name in dir(sj) if name.startswith("_") and not name.startswith("__")]
    with pytest.raises(AttributeError, match="sojourn has no 'fitt'"):
        sj.fitt  # noqa: B018


@pytest.mark.parametrize("name", BOTH)
def test_a_package_with_the_name_of_a_function_is_both(name: str) -> None:
    package = import_module(f"sojourn.{name}")
    assert isinstance(package, ModuleType) and getattr(sj, name) is package
    function = getattr(package, name)
    assert inspect.signature(getattr(sj, name)) == inspect.signature(function)
    assert (function.__doc__ or "").split("\n")[0] in (package.__doc__ or "")
    assert pickle.loads(pickle.dumps(getattr(sj, name))) is package


@pytest.mark.parametrize("name", BOTH)
def test_the_order_of_imports_does_not_matter(name: str) -> None:
    """First the module, then the attribute, in a process of its own; the other order is the test above."""
    code = f"import sojourn.{name} as m; import sojourn; assert m.{name} and callable(sojourn.{name}) and sojourn.{name} is m"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize("name", ["http_load", "kv_load", "messages_load", "block_load", "session_load"])
def test_a_load_is_its_function_also_where_its_module_was_imported_before(name: str) -> None:
    """The web study ended with 'module' object is not callable."""
    code = f"import sojourn.load.{name}\nfrom sojourn.load import {name}\nassert callable({name}), {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_type_checkers_and_the_program_see_the_same_names() -> None:
    """Of the index and of each room whose names are imported when they are used: both lists say the same, and every name is there."""
    source = Path(str(sj.__file__)).parents[1]
    assert public(source) == {*sj.__all__, "__version__"}
    rooms = {name: getattr(sj, name) for name in sj.__all__ if isinstance(getattr(sj, name), ModuleType)}
    assert len(rooms) > 20
    for name, room in rooms.items():
        if shown := getattr(room, "__all__", None):
            assert (public(source, name), len(shown)) == (set(shown), len(set(shown))), name
            assert not [one for one in shown if not hasattr(room, one)], name


def test_types_are_shipped() -> None:
    assert (Path(str(sj.__file__)).parent / "py.typed").exists()


def test_modules_of_the_index() -> None:
    assert sj.design.Factor.parse("servers=2,3").name == "servers"
    assert float(sj.laws.little(10.0, 0.5)) == 5.0
    assert float(sj.usl(1.0, gamma=7.0)) == 7.0


def test_what_a_notebook_hands_to_other_processes_can_be_pickled() -> None:
    model = sj.Model.read(SHOP)
    answer = sj.solve(model)  # which makes the network, and keeps what was computed of it
    assert pickle.loads(pickle.dumps(answer)) == answer == copy.deepcopy(answer)
    assert pickle.loads(pickle.dumps(model)) == model
    assert sj.solve(pickle.loads(pickle.dumps(model.network)).model) == answer


def test_a_path_is_a_model_and_anything_else_an_error() -> None:
    answer = sj.solve(sj.Model.read(SHOP))
    assert sj.solve(SHOP) == sj.solve(str(SHOP)) == answer
    assert len(sj.sweep(SHOP, "classes.user.population", [1, 2])) == 2 * len(answer)
    assert sj.methods(SHOP)
    assert sj.simulate(SHOP, completions=50).status
    for call in (sj.solve, sj.methods, sj.simulate):
        with pytest.raises(InputError, match="model: a dict; give a Model, or the path of a model file"):
            call({})  # type: ignore[arg-type]


def test_the_version_is_told() -> None:
    done = subprocess.run([sys.executable, "-m", "sojourn", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"sojourn {sj.__version__}\n"
