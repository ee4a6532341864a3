"""Circles between the modules of each Rust crate, and its `unsafe` blocks and lines; run by `make check`.

A module depends on another whose item it names by a path (`crate::`, `super::`, `self::`, a child's name), in code but not in
its tests. A re-export (`pub use`) is no dependency: who names the item depends on the module that has it. `python
tools/module_circles.py [FOLDER]` counts those of another checkout.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""", re.DOTALL)
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\n]*\n(?:#\[[^\n]*\n)*\s*(?:pub(?:\([^)]*\))? )?(mod|use|fn|impl)[^\n]*")
USE = re.compile(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);")
PATH = re.compile(r"(?<![\w:])((?:crate|super|self|[a-z_]\w*)(?:::\w+)+)")
UNSAFE = re.compile(r"\bunsafe (?:\{|impl\b)")

# A request of memcached and the families of commands, which have its parts, name each other.
KNOWN = {"crates/memproto": 1}

Module = tuple[str, ...]


def code(path: Path) -> str:
    """Without comments, texts, and what only tests compile."""
    text = COMMENT.sub('""', path.read_text())
    while match := TESTS.search(text):
        depth, end = 0, match.end()
        if not match[0].rstrip().endswith(";"):
            depth = match[0].count("{") - match[0].count("}")
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
        text = text[: match.start()] + text[end:]
    return text


def flat(tree: str) -> list[str]:
    """The paths of a use tree: `a::{b, c::{d, e}}` → a::b, a::c::d, a::c::e."""
    tree = re.sub(r"\s+", " ", tree).strip()
    if "{" not in tree:
        return [tree.split(" as ")[0].strip()]
    start = tree.index("{")
    parts, depth, part = [], 0, ""
    for letter in tree[start + 1 : tree.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [tree[:start].strip() + path for part in parts if part.strip() for path in flat(part)]


class Crate:
    """The modules of one crate, by path, and what each depends on."""

    def __init__(self, source: Path) -> None:
        self.texts: dict[Module, str] = {}
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            self.texts[() if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts] = code(path)
        self.exports: dict[Module, dict[str, str]] = {}
        for module, text in self.texts.items():
            uses = [path for public, tree in USE.findall(text) if public for path in flat(tree)]
            self.exports[module] = {path.rpartition("::")[2]: path for path in uses}

    def home(self, module: Module, path: str, depth: int = 0) -> Module | None:
        """The module that has what `module` names by `path`; None where that is no module of this crate."""
        names = path.split("::")
        at = module
        if names[0] == "crate":
            at = ()
        elif names[0] == "super":
            while names[0] == "super" and at:
                at, names = at[:-1], names[1:]
            names = ["", *names]
        elif names[0] != "self" and (*module, names[0]) not in self.texts:
            return None
        elif names[0] != "self":
            names = ["", *names]
        for i, name in enumerate(names[1:], 1):
            if (*at, name) in self.texts:
                at = (*at, name)
            elif name in self.exports[at] and depth < 8:
                again = self.home(at, "::".join([self.exports[at][name], *names[i + 1 :]]), depth + 1)
                return again if again is not None else at
            else:
                break
        return at

    def dependencies(self) -> dict[Module, set[Module]]:
        found = {}
        for module, text in self.texts.items():
            uses = [path for public, tree in USE.findall(text) if not public for path in flat(tree)]
            body = USE.sub("", text)
            homes = {self.home(module, path) for path in [*uses, *PATH.findall(body)]}
            found[module] = {home for home in homes if home is not None and home != module}
        return found

    def circles(self) -> list[list[Module]]:
        """Groups of modules of which each reaches each."""
        graph = self.dependencies()
        reach = {module: reachable(graph, module) for module in graph}
        groups = {frozenset(other for other in reach[m] if m in reach[other]) for m in graph}
        return sorted(sorted(group) for group in groups if len(group) > 1)


def reachable(graph: dict[Module, set[Module]], start: Module) -> set[Module]:
    seen, todo = set(), list(graph[start])
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo.extend(graph[module])
    return seen


def told(module: Module) -> str:
    return "::".join(module) or "lib"


def main(root: Path) -> int:
    """Tells what each crate has; 1 where modules are in a circle that is not known."""
    new = False
    for source in sorted(
        [*root.glob("crates/*/src"), *root.glob("cases/crates/*/src"), *root.glob("cases/native/src")]
    ):
        crate = Crate(source)
        lines = sum(len(path.read_text().splitlines()) for path in source.rglob("*.rs"))
        blocks = sum(len(UNSAFE.findall(text)) for text in crate.texts.values())
        found = crate.circles()
        name = str(source.parent.relative_to(root))
        new |= len(found) > KNOWN.get(name, 0)
        print(f"{name}: {lines} lines, {blocks} unsafe, {len(found)} circles")
        for circle in found:
            print("  circle: " + ", ".join(map(told, circle)))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
