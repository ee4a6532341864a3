"""Arithmetic that a user wrote, as `0.04*cores + 0.01*nics`: read as a syntax tree, of which few kinds are allowed. Nothing is ever run
as code, and numbers are floating-point, so that none can grow without end.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

HOW = "write + - * / ** of numbers and names, and min, max, ceil, floor, abs, log, exp, sqrt"
LONGEST = 1000  # characters; a longer text could nest deeper than Python goes
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: np.divide, ast.Pow: np.power,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
ONE: dict[str, Callable[[Any], Any]] = {
    "ceil": np.ceil, "floor": np.floor, "abs": np.abs,
    "log": np.log, "exp": np.exp, "sqrt": np.sqrt,
}  # fmt: skip
SEVERAL: dict[str, Callable[[Any, Any], Any]] = {"min": np.minimum, "max": np.maximum}


@dataclass(frozen=True)
class Arithmetic:
    """A checked expression; `names`: what it needs, `stations.cpu.servers` is one."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]

    @staticmethod
    def read(text: str) -> Arithmetic:
        """Raises ValueError, whose text says what is not arithmetic."""
        if len(text) > LONGEST:
            raise ValueError(f"{len(text)} characters, {LONGEST} are allowed")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(repr(text)) from None
        names: list[str] = []
        _check(tree, text.strip(), names)
        return Arithmetic(text.strip(), tree, tuple(dict.fromkeys(names)))

    @staticmethod
    def of_name(name: str) -> Arithmetic:
        """The value of a name as it is, whatever characters it has."""
        return Arithmetic(name, ast.Name(name), (name,))

    def value(self, given: Mapping[str, Any]) -> Any:
        """From the value of each name, numbers or arrays of one shape; a name alone may be anything."""
        with np.errstate(all="ignore"):
            return _value(self.tree, given)


def _check(tree: ast.expr, text: str, names: list[str]) -> None:
    """Raises ValueError for anything but numbers, names, operators and functions; notes the names."""
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        inner = [tree.left, tree.right]
    elif isinstance(tree, ast.UnaryOp) and type(tree.op) in OPERATORS:
        inner = [tree.operand]
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        inner = tree.args
        if not ((tree.func.id in ONE and len(inner) == 1) or (tree.func.id in SEVERAL and len(inner) > 1)):
            raise ValueError(f"{tree.func.id} of {len(inner)} in {text!r}")
    elif isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        return
    elif name := _dotted(tree):
        names.append(name)
        return
    else:
        raise ValueError(f"{ast.get_source_segment(text, tree) or text!r} in {text!r}")
    for one in inner:
        _check(one, text, names)


def _dotted(tree: ast.expr) -> str:
    """Nothing for what is no name."""
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Attribute) and (inner := _dotted(tree.value)):
        return f"{inner}.{tree.attr}"
    return ""


def _value(tree: ast.expr, given: Mapping[str, Any]) -> Any:
    if isinstance(tree, ast.BinOp):
        return OPERATORS[type(tree.op)](_value(tree.left, given), _value(tree.right, given))
    if isinstance(tree, ast.UnaryOp):
        return OPERATORS[type(tree.op)](_value(tree.operand, given))
    if isinstance(tree, ast.Constant):
        return np.float64(tree.value)  # type: ignore[arg-type]
    if isinstance(tree, ast.Call):
        assert isinstance(tree.func, ast.Name), "checked where it was read"
        arguments = [_value(one, given) for one in tree.args]
        return ONE[tree.func.id](*arguments) if tree.func.id in ONE else reduce(SEVERAL[tree.func.id], arguments)
    return given[_dotted(tree)]
