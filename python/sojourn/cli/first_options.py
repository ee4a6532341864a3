"""A command's help: the options that most people need, then its others."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from sojourn.cli.verbs import MOST_FIRST, VERBS


class FirstOptions(TyperCommand):
    """A command that shows the options that most people need before its others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verb = VERBS.get(self.name or "")
        own = [one for one in self.params if one.param_type_name == "option" and not one.rich_help_panel]  # type: ignore[attr-defined]
        first = [one for one in own if not verb or one.name not in verb.more][:MOST_FIRST]
        for one in own:
            if one not in first:
                one.rich_help_panel = "More options"  # type: ignore[attr-defined]
