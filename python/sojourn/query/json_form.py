"""A tree as JSON, the form in which other programs take it: one object a node, `node` is its kind, children by their roles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

from sojourn.errors import QueryError
from sojourn.file_errors import meant
from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.build import parse
from sojourn.query.node import Node
from sojourn.query.text import to_text
from sojourn.query.type_check import check
from sojourn.query.values import OPERATIONS, RELATIONS

KINDS: dict[str, type[Node]] = {
    name: kind
    for name, kind in vars(N).items()
    if isinstance(kind, type) and issubclass(kind, Node) and kind is not Node
}
DEEPEST = 200
DEEPEST_JSON = 2 * DEEPEST + 8  # an object a node, and a list of them at most
WORDS = {
    "operation": (*OPERATIONS, "and", "or"),
    "relation": tuple(RELATIONS),
    "mode": ("entering", "within"),
    "function": ("n", "busy"),
}
INFINITE = {math.inf: "inf", -math.inf: "-inf"}  # JSON has no infinity


def to_json(node: Node) -> dict[str, Any]:
    """The object of a node and of all below it."""
    return {"node": type(node).__name__} | {
        one.name: _plain(getattr(node, one.name))
        for one in fields(node)
        if one.name != "at" and getattr(node, one.name) is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return to_json(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return INFINITE.get(value, value) if isinstance(value, float) else value


def from_json(value: Any, name: str = "JSON") -> N.Result:
    """The tree of an object that `to_json` gave. Raises QueryError for anything else, with the path of what is wrong."""
    made = _node(value, name, 0)
    if not isinstance(made, N.Result):
        raise QueryError(f"the root is {type(made).__name__}", name, "the root is a Result")
    text = to_text(made)
    if parse(text, name) != made:  # raises for names, units and macros that are unknown
        raise QueryError("the tree has no text", name, f"the nearest is: {text[:80]}")
    check(made, text, name)
    return made


def _node(value: Any, path: str, depth: int) -> Node:
    if depth > DEEPEST:
        raise QueryError(f"more than {DEEPEST} nested nodes", path, "define macros for the parts")
    if not isinstance(value, Mapping) or not isinstance(value.get("node"), str):
        raise QueryError(f"{str(value)[:40]!r} is no node", path, 'write an object such as {"node": "Num", "value": 1}')
    kind = KINDS.get(value["node"])
    if kind is None:
        raise QueryError(f"no node {value['node'][:40]!r}", path, meant(value["node"], KINDS))
    hints, known = get_type_hints(kind), {one.name: one for one in fields(kind) if one.name != "at"}
    for key in value:
        if key != "node" and key not in known:
            raise QueryError(f"{value['node']} has no {key!r}", path, meant(key, known))
    made = {}
    for key, one in known.items():
        if key in value:
            made[key] = _field(value[key], hints[key], f"{path}.{key}", depth)
        elif one.default is MISSING:
            raise QueryError(f"{value['node']} without {key}", path, "give it")
    for key, words in WORDS.items():
        if isinstance(made.get(key), str) and made[key] not in words:
            raise QueryError(f"{key} {made[key]!r}", path, f"use one of {' '.join(words)}")
    return kind(**made)


def _field(value: Any, hint: Any, path: str, depth: int) -> Any:
    wanted = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
    if hint in (tuple[Node, ...], tuple[N.Definition, ...], tuple[str, ...], tuple[bool, bool]):
        if not isinstance(value, list) or (hint == tuple[bool, bool] and len(value) != 2):
            raise QueryError(f"{str(value)[:40]!r}", path, "give a list")
        return tuple(_field(one, get_args(hint)[0], f"{path}[{k}]", depth) for k, one in enumerate(value))
    if wanted == [float]:
        back = (
            {text: number for number, text in INFINITE.items()}.get(value, value) if isinstance(value, str) else value
        )
        if isinstance(back, bool) or not isinstance(back, int | float) or math.isnan(back):
            raise QueryError(f"{str(value)[:40]!r}", path, "give a number")
        return float(back)
    if wanted in ([str], [bool]):
        if not isinstance(value, wanted[0]):
            raise QueryError(f"{str(value)[:40]!r}", path, f"give {'text' if wanted == [str] else 'true or false'}")
        return value
    made = _node(value, path, depth + 1)
    if not isinstance(made, wanted[0]):
        raise QueryError(f"a {type(made).__name__}", path, f"give a {wanted[0].__name__}")
    return made
