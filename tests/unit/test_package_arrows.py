"""The arrows of the package, checked by `tools/package_arrows.py`: what it must find, in a small package made for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from package_arrows import problems

TABLE = """## Arrows

| room | may import |
|---|---|
| all of them | `errors` |
| `errors` |  |
| `solve` | `model` |
| `model` |  |

## More
"""


def found(place: Path, **files: str) -> list[str]:
    """What is wrong with a package of these files."""
    (place / "ARCHITECTURE.md").write_text(TABLE)
    plain = {"__init__": "", "errors/__init__": "", "model/__init__": "", "solve/__init__": ""}
    for name, text in {**plain, **{name.replace("__in_", "/"): text for name, text in files.items()}}.items():
        path = place / "python" / "sojourn" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return problems(place)


def test_what_the_table_has_is_in_order(tmp_path: Path) -> None:
    assert found(tmp_path, solve__in_a="from sojourn import errors\nfrom sojourn.model import b", model__in_b="") == []


@pytest.mark.parametrize(
    "text",
    [
        "import sojourn.solve.a",
        "from ..solve import a",
        "def f():\n    from sojourn.solve import a",
        "if TYPE_CHECKING:\n    from sojourn.solve.a import A",
    ],
)
def test_an_arrow_that_is_not_in_it_wherever_it_is_written(tmp_path: Path, text: str) -> None:
    (problem,) = found(tmp_path, solve__in_a="", model__in_b=text)
    assert problem.startswith("python/sojourn/model/b.py:") and "model imports solve" in problem


def test_a_circle_within_a_room(tmp_path: Path) -> None:
    (problem,) = found(
        tmp_path, solve__in_a="from sojourn.solve import b", solve__in_b="def f():\n    import sojourn.solve.a"
    )
    assert problem == "these modules import each other: sojourn.solve.a, sojourn.solve.b"


def test_the_product_knows_no_case(tmp_path: Path) -> None:
    """In a module, and in a crate."""
    crate = tmp_path / "crates/solve/Cargo.toml"
    crate.parent.mkdir(parents=True)
    crate.write_text('[dependencies]\nsojourn-web = { path = "../../cases/crates/web" }\n')
    of_module, of_crate = found(tmp_path, solve__in_a="def f():\n    from sojourn_cases.web import web_shop")
    assert "solve imports sojourn_cases" in of_module
    assert of_crate == "crates/solve/Cargo.toml: a crate of the product uses one of the cases"


ROOM = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.solve.a import Shown as Shown
else:
    __getattr__, __dir__, __all__ = attach(__name__, submod_attrs={"a": ["Shown"]})
"""


def of_case(place: Path, text: str) -> list[str]:
    """What is wrong with the imports of a case, where `solve` shows a name and `model` is no room that is shown."""
    case = place / "cases/sojourn_cases/web.py"
    case.parent.mkdir(parents=True)
    case.write_text(text)
    files = {
        "__init__": "from sojourn import solve as solve\nfrom sojourn.solve.a import Shown as Shown",
        "solve/__init__": ROOM,
        "solve__in_a": "class Shown: ...\nclass Inner: ...",
        "model__in_b": "__all__ = ['x']",
    }
    (place / "ARCHITECTURE.md").write_text(TABLE)
    return [one for one in found(place, **files) if "cases/" in one]


@pytest.mark.parametrize(
    "text",
    [
        "from sojourn import Shown, __version__",
        "from sojourn.solve import Shown",
        "import sojourn as sj\nsj.solve(sj.Shown)",
        "def f():\n    from sojourn_cases.web import anything",
    ],
)
def test_a_case_imports_what_the_product_shows(tmp_path: Path, text: str) -> None:
    assert of_case(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from sojourn.solve.a import Shown", "sojourn.solve.a.Shown"),
        ("from sojourn.solve import Inner", "sojourn.solve.Inner"),
        ("from sojourn.solve import a", "sojourn.solve.a"),
        ("from sojourn import _native", "sojourn._native"),
        ("import sojourn.solve.a", "sojourn.solve.a"),
        ("from sojourn.model import x", "sojourn.model.x"),
        ("import sojourn as sj\nsj.model", "sojourn.model"),
        ("if TYPE_CHECKING:\n    from sojourn.solve import Inner", "sojourn.solve.Inner"),
        ("def f():\n    from sojourn.solve.a import Shown", "sojourn.solve.a.Shown"),
    ],
)
def test_a_case_that_imports_anything_else_is_refused(tmp_path: Path, text: str, name: str) -> None:
    (problem,) = of_case(tmp_path, text)
    assert problem.startswith("cases/sojourn_cases/web.py:") and f"{name} is not public" in problem
