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
