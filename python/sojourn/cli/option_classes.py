"""Options of a verb out of a class of options: its fields become parameters of the function behind the verb."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import typer

from sojourn.load.load_options import OptionText, option_texts


def with_options(
    *classes: type[Any], only: Collection[str] | None = None, instead: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The function with an option for each field of the classes, or `only` for some, in place of its `**given`.

    A parameter of its own stands for the field of its name, or for those that `instead` (field → parameter) says; one that stands for no
    field of these classes is left out. The function gets what the user typed, None for what he did not; `load_options.values` reads it.
    """

    def made(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        own = {one.name: one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD}
        texts = {
            name: text for one in classes for name, text in option_texts(one).items() if only is None or name in only
        }
        stands = {name: (instead or {}).get(name, name) for name in texts}
        for name in set((instead or {}).values()) - set(stands.values()):
            own.pop(name)
        known = dict(own)
        every = {
            name: own.pop(stands[name]) if stands[name] in own else _parameter(name, text)
            for name, text in texts.items()
            if stands[name] in own or stands[name] not in known
        }
        plain = [one for name, one in every.items() if texts[name].panel is None]
        panelled = [one for name, one in every.items() if texts[name].panel is not None]
        first = [own.pop(name) for name in ("context", "url") if name in own]
        parameters = [*first, *plain, *own.values(), *panelled]

        def called(**given: Any) -> None:
            function(**given)

        called.__doc__, called.__name__ = function.__doc__, getattr(function, "__name__", "verb")
        called.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        called.__annotations__ = {}
        return called

    return made


def _parameter(name: str, text: OptionText) -> inspect.Parameter:
    help = text.help if text.shown is None else f"{text.help} (default: {text.shown})"
    info = typer.Option(text.flag, help=help, show_default=False, metavar=text.metavar, rich_help_panel=text.panel)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[text.kind | None, info]
    )
