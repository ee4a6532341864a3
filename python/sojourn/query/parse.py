"""Text → the grammar's tree, or one error that says where it stopped making sense and what was expected there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from sojourn.query.node import Span
from sojourn.query.query_error import query_error

LONGEST = 10_000  # characters
DEEPEST = 60  # brackets within brackets
WORDS = {
    "NAME": "a name", "QUANTITY": "a number", "PERCENTILE": "a quantile like p99", "STRING": "a text in quotes",
    "TRUE": "true", "FALSE": "false", "COMPARE": "< or >", "PLUS": "+", "MINUS": "-", "TIMES": "*", "OVER": "/", "CIRCUMFLEX": "^",
    "LSQB": "[", "RSQB": "]", "LPAR": "(", "RPAR": ")", "LBRACE": "{", "RBRACE": "}", "COMMA": "a comma", "SEMICOLON": ";",
    "EQUAL": "=", "CLAUSE": "at, from, to, avoiding or over", "MODE": "entering or within",
    "SLICES": "in 99% of 10s windows", "$END": "the end", "IN": "in", "AND": "and", "OR": "or", "NOT": "not", "LET": "let",
    "SUBSET": "subset",
}  # fmt: skip
VALUES = {"NAME", "QUANTITY", "PERCENTILE", "STRING", "TRUE", "FALSE", "MINUS", "LSQB", "LPAR", "LBRACE", "NOT", "LET"}
KEYWORDS = ("and", "or", "not", "in", "subset", "at", "from", "to", "avoiding", "over", "entering", "within")
PAIRS = {")": "(", "]": "[", "}": "{"}
CONFUSED = {
    "=": "write == to compare", "&": "write and", "|": "write or", "!": "write not", "~": "write not", "'": "close the quote",
    '"': "close the quote", "==": "write one comparison, and join two with and", "$": "leave it out", "%": "write 0.1%, next to a number",
}  # fmt: skip


@lru_cache(maxsize=1)
def grammar() -> Lark:
    """The parser, made once."""
    text = files("sojourn.query").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", propagate_positions=True, maybe_placeholders=False)


def parse_text(text: str, name: str) -> Tree[Token]:
    """The grammar's tree of a query. Raises QueryError."""
    if len(text) > LONGEST:
        raise query_error(
            "", None, f"{len(text)} characters", f"write at most {LONGEST}; macros make a query short", name
        )
    _brackets(text, name)
    try:
        return grammar().parse(text)
    except UnexpectedToken as error:
        raise _at_token(text, name, error) from None
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        span, found = place(text, at, at + 1), text[at]
        remedy = CONFUSED.get(found, "leave it out, or put names with such characters in quotes: station='core 0'")
        raise query_error(text, span, f"{found!r} is not allowed here", remedy, name) from None
    except UnexpectedInput as error:  # pragma: no cover - the two above are all that lark raises here
        raise query_error(text, None, str(error).splitlines()[0], "see docs/reference/query.md", name) from None


def place(text: str, start: int, end: int) -> Span:
    """The span of characters `start` to `end`."""
    line = text.count("\n", 0, start) + 1
    return Span(start, end, line, start - (text.rfind("\n", 0, start) + 1) + 1)


def _brackets(text: str, name: str) -> None:
    """Raises QueryError for brackets too deep, or that do not pair."""
    open_: list[int] = []
    quote = ""
    for at, c in enumerate(text):
        if quote:
            quote = "" if c in (quote, "\n") else quote
        elif c in "'\"#":
            quote = "\n" if c == "#" else c
        elif c in "([{":
            open_.append(at)
            if len(open_) > DEEPEST:
                span = place(text, at, at + 1)
                raise query_error(text, span, f"more than {DEEPEST} nested brackets", "use let for the parts", name)
        elif c in ")]}" and not open_:
            span = place(text, at, at + 1)
            raise query_error(text, span, f"{c} closes nothing", f"leave it out, or open with {PAIRS[c]}", name)
        elif c in ")]}" and text[(last := open_.pop())] != PAIRS[c] and (c, text[last]) not in ((")", "["), ("]", "(")):
            span = place(text, at, at + 1)
            raise query_error(text, span, f"{c} does not close {text[last]}", "close the last one first", name)
    if open_:
        at = open_[-1]
        raise query_error(text, place(text, at, at + 1), f"{text[at]} is not closed", "close it", name)


def _at_token(text: str, name: str, error: UnexpectedToken) -> Exception:
    token = error.token
    expected = _expected(set(error.accepts or error.expected))
    if token.type == "$END":
        end = len(text.rstrip())
        return query_error(text, place(text, end, end + 1), "the query ends here", f"expected {expected}", name)
    start = token.start_pos or 0
    span = place(text, start, token.end_pos or start + 1)
    before = text[:start].rstrip()
    if token.type == "COMPARE" and "COMPARE" not in (error.accepts or ()) and before:
        remedy = "comparisons do not chain: write `0.1 < x and x < 0.9`, or `x in (0.1, 0.9)`"
        if before.endswith(("<", ">", "=")):
            remedy = "write one of < <= > >= == !="
        return query_error(text, span, f"{token.value} after a comparison", remedy, name)
    if token.type == "EQUAL":
        return query_error(text, span, "= compares nothing", "write == to compare; = is for let and filters", name)
    near = get_close_matches(str(token.value).lower(), KEYWORDS, 1, 0.6) if token.type == "NAME" else []
    remedy = f"did you mean {near[0]}? (expected {expected})" if near else f"expected {expected}"
    return query_error(text, span, f"{str(token.value)[:40]} cannot stand here", remedy, name)


def _expected(names: Iterable[str]) -> str:
    """What may stand here, in words; a value in one."""
    names = set(names)
    words = ["a value such as p99, 50ms or mean(response_time)"] if {"NAME", "QUANTITY"} <= names else []
    rest = names - VALUES if words else names
    words += sorted(WORDS.get(one, one) for one in rest if not (one == "SLICES" and len(rest) > 3))
    return ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1] if words else "the end"
