"""`sojourn load` and `measure` by protocol: the command that a URL has, found by a first look at the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import typer

from sojourn.cli.first_options import FirstOptions
from sojourn.cli.former_names import FORMER_OPTIONS
from sojourn.cli.load_of_protocol import BESIDE, load_of
from sojourn.cli.verbs import VERBS
from sojourn.errors import InputError
from sojourn.load.http_load import HttpOptions
from sojourn.load.load_options import LoadOptions, option_texts
from sojourn.load.protocols import not_for, protocol_of, protocols, protocols_of_cases


class ProtocolCommand(FirstOptions):
    """A verb whose own options are those that all protocols have; a URL makes it the command of its protocol.

    `verb`: its name. `function_of`: the function behind it, by protocol. `examples_of`: three command lines or fewer. `about`: what its
    help says behind the first line."""

    verb: ClassVar[str]
    about: ClassVar[str] = ""
    function_of: Callable[[type[LoadOptions]], Callable[..., None]]
    examples_of: Callable[[type[LoadOptions]], Sequence[str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shapes = [f"sojourn {self.verb} {one.shape.partition(',')[0]} --help" for one in protocols().values()]
        self.epilog = "\n".join((self.epilog or "", "", "All options of a protocol:", *shapes))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        seen = first_look(args, self.params)
        if not seen.words and "--request-mix" not in seen.flags:
            if seen.helps or extra.get("resilient_parsing"):
                return super().make_context(info_name, args, parent, **extra)
            raise InputError("no URL", self.verb, "give http://HOST:PORT/PATH, or --request-mix with URLs in it")
        options = protocol_of_words(seen.words)
        if not extra.get("resilient_parsing"):
            self.refuse(seen.flags, options)
        return self.command_of(options).make_context(info_name, args, parent, **extra)

    def refuse(self, flags: Iterable[str], options: type[LoadOptions]) -> None:
        """InputError for an option that this protocol has not."""
        refuse_others(flags, options)

    @property
    def protocols(self) -> dict[str, typer.core.TyperCommand]:
        """The command of each protocol, cases included, by its URL."""
        return {one.shape: self.command_of(one) for one in (*protocols().values(), *protocols_of_cases().values())}

    def command_of(self, options: type[LoadOptions]) -> typer.core.TyperCommand:
        """The command of a protocol, with its options alone."""
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        kind = type(self)
        epilog = "\n".join(("Examples:", *kind.examples_of(options)))
        text = "\n\n".join(filter(None, (VERBS[self.verb].line, self.about, f"{options.shape}: {options.about}.")))
        app.command(self.verb, cls=FirstOptions, epilog=epilog, help=text)(kind.function_of(options))
        made = typer.main.get_command(app)
        made.name = self.verb
        assert isinstance(made, typer.core.TyperCommand)
        return made


class LoadCommand(ProtocolCommand):
    """`sojourn load`."""

    verb = "load"
    function_of = staticmethod(load_of)
    examples_of = staticmethod(lambda options: options.examples)


class HttpCommand(FirstOptions):
    """A verb of HTTP alone: an option or a URL of another protocol is an error that names it."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if extra.get("resilient_parsing"):
            return super().make_context(info_name, args, parent, **extra)
        own = {flag for one in self.params for flag in one.opts}
        refuse_others([flag for flag in first_look(args, self.params).flags if flag not in own], HttpOptions)
        context = super().make_context(info_name, args, parent, **extra)
        urls = context.params.get("service_urls") or context.params.get("url") or ()
        if (other := protocol_of([urls] if isinstance(urls, str) else urls)) is not HttpOptions:
            remedy = "give http://HOST:PORT/PATH; `sojourn load` takes it"
            raise InputError(f"a URL of {other.protocol}", str(self.name), remedy)
        return context


@dataclass(frozen=True)
class UnparsedCommand:
    """A command line before it is parsed: `words` that are no options, `flags` as they are called now; `helps`: --help is among them."""

    words: list[str]
    flags: list[str]

    @property
    def helps(self) -> bool:
        return "--help" in self.flags


def first_look(args: Sequence[str], params: Iterable[Any]) -> UnparsedCommand:
    """What is there, by how many values any protocol's options take."""
    takes = _values_of([*protocols().values(), *(two for one in BESIDE.values() for two in one)])
    for one in params:
        takes |= dict.fromkeys(one.opts, one.nargs if one.param_type_name == "option" and not one.is_flag else 0)
    words: list[str] = []
    flags: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            words += rest
        elif not arg.startswith("-") or arg == "-":
            words.append(arg)
        else:
            flag, equals, _ = arg.partition("=")
            flags.append(f"--{FORMER_OPTIONS.get(flag[2:], flag[2:])}")
            if flags[-1] not in takes:  # cases are asked only where they must be: to find them takes a while
                takes |= _values_of(protocols_of_cases().values())
            for _ in range(takes.get(flags[-1], 0) - bool(equals)):
                next(rest, None)
    return UnparsedCommand(words, flags)


def _values_of(classes: Iterable[type[Any]]) -> dict[str, int]:
    texts = [text for one in classes for text in option_texts(one).values()]
    return {flag: int(text.kind is not bool) for text in texts for flag in text.flag.split("/")}


def protocol_of_words(words: Sequence[str]) -> type[LoadOptions]:
    """That of a case, by its word, or of the URLs.

    Raises:
        InputError: URLs of several protocols.
    """
    if words and ":" not in words[0] and (of_case := protocols_of_cases().get(words[0])):
        return of_case
    return protocol_of(
        [word for word in words if ":" in word] or words
    )  # others may be values of an option that is misspelt


def refuse_others(flags: Iterable[str], options: type[LoadOptions]) -> None:
    """
    Raises:
        InputError: an option that other protocols have, and this one has not; it names them.
    """
    for flag in flags:
        if flag in _flags(options):
            continue
        of_cases = () if any(flag in _flags(one) for one in protocols().values()) else protocols_of_cases().values()
        if having := [one for one in (*protocols().values(), *of_cases) if flag in _flags(one)]:
            raise not_for(flag, options, having)


def _flags(options: type[LoadOptions]) -> set[str]:
    texts = [text for one in (options, *BESIDE.get(options.protocol, ())) for text in option_texts(one).values()]
    return {part for text in texts for part in text.flag.split("/")}
