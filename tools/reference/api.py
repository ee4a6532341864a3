"""The public index of the package, `import sojourn as sj`, from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import ModuleType, UnionType
from typing import Any, get_origin

import sojourn
from reference.markdown import prose

HEAD = """# Python

`import sojourn as sj`: every name of the public index with its signature and what its docstring says. All values are in SI units
(s, 1/s); shares, probabilities and quantile levels are in [0, 1]. Errors are [those of sojourn.errors](#errors). Names that stand
for a package too (`fit`, `simulate`, `solve`) have its further names below them.
"""
QUOTE = chr(39)


def page() -> str:
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"\n## {title}\n")
        parts += [entry(name, getattr(sojourn, name)) for name in names]
    return "\n".join(parts) + "\n"


def groups() -> dict[str, list[str]]:
    """Topic → names, in the order of the map in the package's docstring."""
    text = (sojourn.__doc__ or "").split("\n\n")[-1]
    found: dict[str, list[str]] = {}
    topic = ""
    for line in text.splitlines():
        head = re.match(r"([A-Z][a-z]+)  +", line)
        topic = head[1] if head else topic
        words = re.findall(r"\w+", line[head.end() :] if head else line)
        found.setdefault(topic, [])
        found[topic] += [w for w in words if w in sojourn.__all__ and w not in found[topic]]
    told = {name for names in found.values() for name in names}
    missing = sorted(set(sojourn.__all__) - told)
    assert not missing, f"not in the map of sojourn/__init__.py: {missing}"
    return {topic: names for topic, names in found.items() if names}


def entry(name: str, value: Any) -> str:
    if isinstance(value, ModuleType) and not callable(value):
        return f"### `{name}`\n\n{module(value)}\n"
    room, value = (value, sojourn._function(value)) if isinstance(value, ModuleType) else (None, value)
    parts = [f"### `{name}`\n", code(name, value), prose(own_doc(value))]
    if inspect.isclass(value):
        parts += [member(name, key, item) for key, item in members(value)]
    if room:
        parts += ["\n" + "\n\n".join(names_of(room))]
    return "\n".join(part for part in parts if part) + "\n"


def module(value: ModuleType) -> str:
    """What a module has: its docstring, and the names that it lists or defines."""
    return "\n\n".join([prose(value.__doc__), *names_of(value)])


def _itself(item: Any, name: str) -> Any:
    """A function whose module has its name: the package shows the one or the other, by what was imported before."""
    return getattr(item, name, item) if isinstance(item, ModuleType) else item


def names_of(value: ModuleType) -> list[str]:
    """The constants, functions and classes of a module that are not in the index itself."""
    own = value.__name__.rpartition(".")[2]
    names = getattr(value, "__all__", None) or [
        key
        for key, item in vars(value).items()
        if not key.startswith("_") and getattr(item, "__module__", "") == value.__name__
    ]
    further = {key: _itself(getattr(value, key), key) for key in names if key != own}
    further = {
        key: item for key, item in further.items() if key not in sojourn.__all__ or getattr(sojourn, key) is not item
    }
    constants = [f"`{own}.{key}` = `{item!r}`" for key, item in further.items() if isinstance(item, str | float | int)]
    return [" · ".join(constants)] * bool(constants) + [
        f"#### `{own}.{key}`\n\n{code(key, item)}\n{prose(own_doc(item))}"
        for key, item in further.items()
        if callable(item) and not get_origin(item)
    ]


def members(value: type) -> list[tuple[str, Any]]:
    """Public methods and properties that the class itself defines."""
    return [(key, item) for key, item in vars(value).items() if not key.startswith("_") and documented(item)]


def documented(item: Any) -> bool:
    inner = getattr(item, "__func__", getattr(item, "fget", getattr(item, "func", item)))
    return inspect.isfunction(inner) and bool(inner.__doc__)


def member(owner: str, key: str, item: Any) -> str:
    if isinstance(item, property) or not inspect.isfunction(getattr(item, "__func__", item)):
        return f"\n#### `{owner}.{key}`\n\n{prose(item.__doc__)}"
    inner = getattr(item, "__func__", item)
    return f"\n#### `{owner}.{key}`\n\n{code(key, inner)}\n{prose(inner.__doc__)}"


def own_doc(value: Any) -> str | None:
    """A dataclass without a docstring has one made of its signature: that is none."""
    if isinstance(value, UnionType):
        return "One of " + ", ".join(f"`{one.__name__}`" for one in value.__args__) + "."
    doc = inspect.getdoc(value)
    return None if dataclasses.is_dataclass(value) and (doc or "").startswith(f"{value.__name__}(") else doc


def code(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    inner = [p for p in signature.parameters.values() if p.name not in ("self", "cls") or p.kind is p.KEYWORD_ONLY]
    if inspect.isfunction(value) and "cls" in signature.parameters and value.__code__.co_varnames[:1] != ("cls",):
        inner = [p for p in signature.parameters.values() if p.name != "self"]  # a class of customers
    shown = [parameter(p) for p in inner]
    answer = signature.return_annotation
    gives = "" if answer is inspect.Signature.empty or inspect.isclass(value) else f" -> {str(answer).strip(QUOTE)}"
    line = f"{name}({', '.join(shown)}){gives}"
    if len(line) > 100:
        line = f"{name}(\n    " + ",\n    ".join(shown) + f",\n){gives}"
    return f"```text\n{line}\n```\n"


def parameter(p: inspect.Parameter) -> str:
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    kind = getattr(p.annotation, "__origin__", p.annotation) if hasattr(p.annotation, "__metadata__") else p.annotation
    shown_kind = kind.__name__ if inspect.isclass(kind) else str(kind).strip(QUOTE)
    text = star + p.name + ("" if p.annotation is p.empty else f": {shown_kind}")
    value = p.default
    if value is p.empty:
        return text
    shown = value.__name__ if inspect.isfunction(value) or inspect.ismodule(value) else repr(value)
    return f"{text} = {shown if ' at 0x' not in shown else '…'}"
