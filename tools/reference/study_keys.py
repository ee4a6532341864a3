"""Every key of a study file, of all systems: from what checks the file."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from reference.kinds import toml, words
from reference.markdown import prose, table
from sojourn.cases import known
from sojourn.study import file_schema
from sojourn.study.kinds import SYSTEMS
from sojourn.study.kinds.call_system import CallSystem
from sojourn.study.kinds.time_values import Seconds

HEAD = """# Keys of a study file

This page lists every table and key of a study file. Each key has its allowed values and its default. If the default is –, you must give
the key. [Write a study](../howto/write-a-study.md) and [study your own service](../howto/study-your-own-service.md) explain how to use
the keys. An unknown key is an error. The message of the error names the most similar known key.
"""
PARTS = (
    ("Top level", file_schema.StudyFile), ("`[[section]]`, `[[predict]]`", file_schema.StudySection), ("`[fit]`", file_schema.FitSection),
    ("`[saturation]`", file_schema.SaturationSection), ("`[choose]`", file_schema.ChooseSection), ("`[draw]`", file_schema.DrawSection),
    ("`[[analysis]]`", file_schema.AnalysisSection), ("`[quick]`", file_schema.QuickOverrides),
)  # fmt: skip


def page() -> str:
    parts = [HEAD]
    for title, kind in PARTS:
        parts.append(f"## {title}\n\n{tables(kind, with_parts=False)}")
    for name, path in [*sorted(known("system_classes", SYSTEMS).items()), ("FILE.py:CLASS", "")]:
        system = CallSystem if not path else getattr(import_module(path.partition(":")[0]), path.partition(":")[2])
        parts.append(
            f"## System `{name}`\n\n{prose(system.__doc__)}\n\n### `[system]`\n\n{tables(system.options_type)}"
        )
        parts.append(f"### `[load]`\n\n{tables(system.load_type)}")
    return "\n".join(parts)


def tables(kind: type[BaseModel], with_parts: bool = True) -> str:
    """The keys of a table, and after them those of the tables inside."""
    rows = [(f"`{field.alias or name}`", type_of(field), default(field)) for name, field in kind.model_fields.items()]
    text = table(("key", "type, range", "default"), rows)
    for name, field in kind.model_fields.items() if with_parts else ():
        if inner := inner_table(field.annotation):
            place = (field.alias or name) + (".NAME" if get_origin(field.annotation) is dict else "")
            text += f"\nIn `{place}`: {first_line(inner)}\n\n{tables(inner)}"
    return text


def first_line(kind: type) -> str:
    return prose((kind.__doc__ or "").split("\n\n")[0])


def inner_table(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := inner_table(inner))), None)


def type_of(field: Any) -> str:
    found = ((name, getattr(one, name, None)) for one in field.metadata for name in ("gt", "ge", "lt", "le"))
    bounds = {name: bound for name, bound in found if bound is not None}
    pattern = next((one.pattern for one in field.metadata if getattr(one, "pattern", None)), None)
    if pattern and (choices := re.fullmatch(r"\^\(([\w|-]+)\)\$", pattern)):
        return ", ".join(f"`{c}`" for c in choices[1].split("|"))
    text = words(field.annotation)
    if any("seconds" in str(getattr(one, "func", "")).lower() for one in field.metadata):
        text = words(Seconds)
    low = f"above {bounds['gt']:g}" if "gt" in bounds else f"{bounds['ge']:g} or more" if "ge" in bounds else ""
    high = f"below {bounds['lt']:g}" if "lt" in bounds else f"at most {bounds['le']:g}" if "le" in bounds else ""
    if "ge" in bounds and "le" in bounds:
        low, high = f"{bounds['ge']:g} to {bounds['le']:g}", ""
    text = text + (f", like `{pattern}`" if pattern else "")
    return ", ".join(filter(None, (text, low, high)))


def default(field: Any) -> str:
    if field.is_required():
        return "–"
    value = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, BaseModel):
        return "as below"
    return f"`{toml(value)}`"
