"""Who imports whom in the package: every import is an arrow of ARCHITECTURE.md, and no modules import each other in a circle.

Imports for types alone and inside of functions count; names in texts, as `study/kinds` has those of systems, do not. The table under
"## Arrows" there is what this reads: a row a room, that is a folder or a file of `python/sojourn`, with the rooms that it may import; the
first row has those that all may import. With `--table` it prints the table as the code has it. Cases are users: they import what
`__all__` of the package, or of one of its rooms, has.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, ALIAS = "sojourn", "sj"
CASES = "sojourn_cases"  # nothing in the package knows them
ALL = "all of them"
ROW = re.compile(r"^\| (.+?) \| (.*?) \|$", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")
Graph = dict[str, dict[str, int]]  # module → module that it imports → line


def modules(source: Path) -> dict[str, Path]:
    """Dotted name → file, of all modules of the package in the folder `source`."""
    found = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(source: Path) -> Graph:
    """What each module imports of the others."""
    files = modules(source)
    return {name: dict(_imported(path, name, files)) for name, path in files.items()}


def _imported(path: Path, own: str, files: Mapping[str, Path]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            module = _absolute(node, own, path)
            names = [f"{module}.{alias.name}" for alias in node.names]
            names = [name if name in files else module for name in names if name != f"{PACKAGE}._native"]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if (name in files and name != own) or name.startswith(CASES):
                yield name, node.lineno


def _absolute(node: ast.ImportFrom, own: str, path: Path) -> str:
    """The module that is imported from; `.` is the folder of this one."""
    if not node.level:
        return node.module or ""
    folder = own.split(".") if path.name == "__init__.py" else own.split(".")[:-1]
    return ".".join([*folder[: len(folder) + 1 - node.level], *filter(None, [node.module])])


def circles(graph: Graph) -> list[list[str]]:
    """Groups of modules of which each reaches each."""
    reached = {module: _reached(graph, module) for module in graph}
    groups = {frozenset(other for other in reached[m] if m in reached.get(other, ())) for m in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(graph.get(start, ()))
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo.extend(graph.get(module, ()))
    return seen


def room(module: str) -> str:
    """The folder or file of the package that a module is in; the package itself is `__init__`, another one its own name."""
    if module.startswith(CASES):
        return CASES
    return module.split(".")[1] if "." in module else "__init__"


def allowed(text: str) -> dict[str, set[str]]:
    """Room → rooms that it may import, from the table of ARCHITECTURE.md; `ALL` is what all may."""
    part = text.partition("## Arrows\n")[2].partition("\n## ")[0]
    rows = {key: set(NAME.findall(names)) for key, names in ROW.findall(part) if not key.startswith(("---", "room"))}
    return {name: names for key, names in rows.items() for name in NAME.findall(key) or [key]}


@cache
def public(source: Path, room: str = "") -> frozenset[str]:
    """Names that the package or a room of it shows: its `__all__`, or where that is made at the import, what it re-exports for type
    checkers (`from … import NAME as NAME`)."""
    path = source / PACKAGE / room / "__init__.py"
    tree = ast.parse((path if path.exists() else path.parent.with_suffix(".py")).read_text())
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "__all__"
            and isinstance(node.value, ast.List)
        ):
            return frozenset(ast.literal_eval(node.value))
    found = set() if room else {"__version__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.name == alias.asname}
            if node.names[0].name == "*":
                found |= public(source, _room_of(node))
    return frozenset(found)


def hidden_imports(root: Path) -> list[str]:
    """Each import in a case of something that the product does not show."""
    return [
        f"{path.relative_to(root)}:{line}: {name} is not public; cases import what the package or a room has in `__all__`"
        for path in sorted((root / "cases" / CASES).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        for line, name in _hidden(node, root / "python")
    ]


def _hidden(node: ast.AST, source: Path) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        yield from ((node.lineno, a.name) for a in node.names if a.name.startswith(f"{PACKAGE}."))
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
        room = _room_of(node)
        shown = public(source, room) if not room or room in public(source) else frozenset()
        yield from ((node.lineno, f"{node.module}.{a.name}") for a in node.names if a.name not in shown)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == ALIAS:
        yield from ((node.lineno, f"{PACKAGE}.{name}") for name in {node.attr} - public(source))


def _room_of(node: ast.ImportFrom) -> str:
    return (node.module or "").partition(".")[2]


def problems(root: Path = ROOT) -> list[str]:
    """Each arrow that is not in the table, each import of a case that is not public, and each circle."""
    files, graph = modules(root / "python"), imports(root / "python")
    table = allowed((root / "ARCHITECTURE.md").read_text())
    found = []
    for module, targets in graph.items():
        own = room(module)
        may = table.get(own, set()) | (set() if own in table[ALL] else table[ALL]) | {own}
        found += [
            f"{files[module].relative_to(root)}:{line}: {own} imports {room(target)}; that arrow is not in "
            f"ARCHITECTURE.md, Arrows"
            for target, line in targets.items()
            if room(target) not in may
        ]
    found += [
        f"{path.relative_to(root)}: a crate of the product uses one of the cases"
        for path in sorted(root.glob("crates/*/Cargo.toml"))
        if "cases/" in path.read_text()
    ]
    found += hidden_imports(root)
    return found + ["these modules import each other: " + ", ".join(circle) for circle in circles(graph)]


def as_table(graph: Graph, shared: set[str]) -> str:
    """The arrows of the code as rows of that table."""
    found: dict[str, set[str]] = {}
    for module, targets in graph.items():
        found.setdefault(room(module), set()).update(room(target) for target in targets)
    rows = []
    for own, targets in sorted(found.items()):
        own_targets = targets - {own} - (set() if own in shared else shared)
        rows.append(f"| `{own}` | {', '.join(f'`{name}`' for name in sorted(own_targets))} |")
    return "\n".join(rows)


def main() -> int:
    found = problems()
    if "--table" in sys.argv[1:]:
        shared = allowed((ROOT / "ARCHITECTURE.md").read_text())[ALL]
        print(as_table(imports(ROOT / "python"), shared))
    print("\n".join(found) or "arrows: all of the package are in ARCHITECTURE.md, 0 circles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
