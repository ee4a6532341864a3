"""Queries that are wrong: each one error, with line, column, caret and remedy, and quickly."""

from __future__ import annotations

import random
import re

import pytest

from sojourn.errors import QueryError
from sojourn.query import Question
from sojourn.query.json_form import from_json

# text, column of the mistake, and words of the message
SYNTAX = [
    ("", 1, "the query ends here"),
    ("   ", 1, "the query ends here"),
    ("p99 <", 6, "expected a value"),
    ("p99 < 50ms and", 15, "expected a value"),
    ("and p99 < 50ms", 1, "and cannot stand here"),
    ("p99 < 50ms errors < 1%", 12, "errors cannot stand here"),
    ("p99 < 50ms adn errors < 1%", 12, "did you mean and?"),
    ("p99 = 50ms", 5, "write == to compare"),
    ("p99 << 50ms", 6, "write one of < <= > >= == !="),
    ("10ms < p99 < 50ms", 12, "comparisons do not chain"),
    ("p99 < 50ms < 1s", 12, "comparisons do not chain"),
    ("(p99 < 50ms", 1, "( is not closed"),
    ("p99 < 50ms)", 11, ") closes nothing"),
    ("{n() > 1]", 9, "] does not close {"),
    ("p99 & errors", 5, "write and"),
    ("p99 < 50ms | true", 12, "write or"),
    ("!true", 1, "write not"),
    ("p99 < $5", 7, "leave it out"),
    ("n('cpu) > 1", 2, "( is not closed"),
    ("p99 < 50ms;; errors < 1%", 12, "expected a value"),
    ("let x = 5ms", 12, "the query ends here"),
    ("let = 5ms; p99 < x", 5, "= compares nothing"),
    ("let x(a, = 5; 1", 6, "( is not closed"),
    ("p99{class=}", 11, "expected"),
    ("p99{class}", 10, "expected"),
    ("p99{class=''}", 5, "a name is empty"),
    ("{busy('') > 1}", 7, "a name is empty"),
    ("p99 < 50 apples", 10, "apples cannot stand here"),
    ("mean(passage(from {n()==0} to))", 30, "expected"),
    ("probability({n()>=1} at 5ms from)", 33, "expected"),
    ("utilisation in [0.1 0.2]", 21, "expected"),
    ("@", 1, "is not allowed"),
    ("p99 < 50ms in 99% of 10s window", 12, "in cannot stand here"),
    ("p99 < 50ms in 0% of 10s windows", 12, "share above 0 %"),
    ("p99 < 50ms in 99% of 10x windows", 12, "a length in ms"),
    ("'cpu'", 1, "quotes are for names"),
    ("1 2", 3, "cannot stand here"),
]
NAMES = [
    ("meen < 5ms", 1, "did you mean mean?"),
    ("p100 < 5ms", 1, "no quantile p100"),
    ("p0 < 5ms", 1, "no quantile p0"),
    ("utilizaton < 1", 1, "did you mean utilisation?"),
    ("p99{clas=user} < 1s", 5, "did you mean class?"),
    ("p99{class=a, class=b} < 1s", 14, "class twice"),
    ("quantil(0.9, response) < 1s", 1, "did you mean quantile?"),
    ("response(3) < 1s", 1, "response is no function"),
    ("quantile < 1s", 1, "quantile is a function"),
    ("p99 < 50apples", 7, "apples is no unit"),
    ("p99 < 5m", 7, "write ms for milliseconds, min for minutes"),
    ("p99 < 50mss", 7, "did you mean ms?"),
    ("foo", 1, "no foo is known here"),
    ("let p(x) = p(x); p(1) < 2", 12, "no function p"),
    ("let a(x) = b(x); let b(x) = a(x); a(1) < 2", 12, "no function b"),
    ("let mean = 3; mean < 4", 5, "already means something"),
    ("let x = 1; let x = 2; x < 3", 16, "x is defined twice"),
    ("let f(a, a) = a; f(1, 2) < 3", 1, "an argument twice"),
    ("let f(a) = a; f < 3", 15, "f with 0 arguments"),
    ("y < 3", 1, "no y is known here"),
    ("let f(a) = a; f(1, 2) < 3", 15, "f with 2 arguments"),
    ("rate{station=cpu} > 1/s", 1, "rate has no station"),
    ("p99 < 1e999ms", 7, "not a representable number"),
]
ARGUMENTS = [
    ("mean()", 1, "mean with no argument"),
    ("mean(response, wait)", 1, "mean with 2 arguments"),
    ("quantile(0.9)", 1, "takes 2"),
    ("moment(2)", 1, "moment with 1 argument"),
    ("probability()", 1, "probability with 0 arguments"),
    ("probability({n()>1} at 5ms)", 1, "at without from"),
    ("probability({n()>1} from {n()==0})", 1, "from without at"),
    ("passage(from {n()>1})", 1, "a passage without to"),
    ("passage(to {n()>1})", 1, "a passage without from"),
    ("passage({n()>1})", 1, "passage begins with from"),
    ("states({n()>1})", 1, "states of something else"),
    ("mean(response at 5ms)", 15, "mean has no at"),
    ("share(failed)", 1, "a share of one thing"),
    ("share(1 / arrivals)", 7, "other things than events"),
    ("busy() > 1", 1, "busy with 0 names"),
    ("n(a, b, c)", 1, "n with 3 names"),
    ("n(3)", 3, "something else than the name"),
    ("passage(from {n()>1} from {n()>2} to {n()>3})", 22, "from twice"),
    ("probability(response != 5ms)", 13, "a probability of !="),
    ("distribution(over {n()>1})", 1, "distribution of nothing"),
    ("probability({n()>1} at 5ms from within {n()==0})", 28, "within is for the start of a passage"),
]
TYPES = [
    ("p99 < 50", 7, "give its unit: 50ms"),
    ("rate > 190", 8, "give its unit: 190/s"),
    ("errors < 5ms", 10, "a time where a number"),
    ("errors < 1", 10, "write 1%"),
    ("0.5 > errors and 5 > errors", 18, "write 5%"),
    ("p99 < 190/s", 7, "a rate where a time"),
    ("p99 + 1 < 5ms", 7, "its unit: 1ms"),
    ("response < 5ms", 1, "write mean(…), p99(…)"),
    ("n() > 4", 1, "probability({n() >= 4})"),
    ("p99 and errors < 1%", 1, "compare it with a limit"),
    ("not p99", 5, "compare it with a limit"),
    ("p99(0.5)", 5, "give response_time"),
    ("quantile(99, response)", 10, "give a level in (0, 1)"),
    ("quantile(0, response)", 10, "a level in (0, 1)"),
    ("moment(1.5, response)", 8, "a whole number from 1 to 10"),
    ("moment(99, response)", 8, "a whole number from 1 to 10"),
    ("p99 in 50ms", 8, "write [low, high]"),
    ("utilisation in [0.9, 0.1]", 16, "write the lower end first"),
    ("p99 in [1, 2]", 8, "a time"),
    ("{n() >= 4} < 3", 1, "write probability(…) of it"),
    ("probability(n() + 2)", 13, "write a condition in braces"),
    ("{p99 < 5ms} subset {true}", 2, "a time where a number"),
    ("{5} subset {n() > 1}", 2, "no condition on the state"),
    ("arrivals subset {n() > 1}", 17, "is needed"),
    ("arrivals > 3", 1, "write rate(…) of it"),
    ("rate(response)", 6, "give arrivals"),
    ("true < 3", 1, "a condition has no value"),
    ("convolve(response, n())", 20, "is needed"),
    ("p99 ^ p50 < 3", 7, "is needed"),
    ("mean(n()) < 5ms", 13, "a time where a number"),
    ("probability({n()>1} at 5 from {n()==0})", 24, "give its unit: 5ms"),
    ("probability(response <= 5)", 25, "give its unit: 5ms"),
    ("let f(x) = x + 1; f(5ms) < 6ms", 16, "is needed"),
]
ALL = [*SYNTAX, *NAMES, *ARGUMENTS, *TYPES]


def test_there_are_enough() -> None:
    assert len(ALL) >= 80 and len({text for text, _, _ in ALL}) == len(ALL)


@pytest.mark.parametrize(("text", "column", "words"), ALL, ids=[repr(text) for text, _, _ in ALL])
def test_mistake(text: str, column: int, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        Question.read(text)
    head, line, caret = str(caught.value).split("\n")
    assert re.match(r"query:1:\d+: .+; .+", head) and words in head
    assert (caught.value.place, line) == (f"query:1:{column}", f"    {text}")
    assert caret.index("^") == 4 + column - 1


LONG = {
    "brackets": "(" * 1_000_000,
    "braces": "{" * 9_000,
    "squares": "[" * 60 + "1",
    "not": "not " * 2_400 + "true",
    "minus": "1 " + "- " * 4_000 + "1 < 2",
    "sum": "+".join(["1"] * 4_000) + " < 2",
    "power": "^".join(["2"] * 4_000),
    "and": " and ".join(["true"] * 1_500),
    "closed": "(" * 2_000 + "1" + ")" * 2_000,
    "macros": "let a = p99 + p99; "
    + "".join(f"let {b} = {a} + {a} + {a} + {a}; " for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True))
    + "l < 1s",
    "digits": "9" * 9_000,
    "words": "x" * 9_000,
    "quote": "'" + "x" * 9_000,
    "lines": "\n" * 9_000,
    "semicolons": ";" * 9_000,
}


@pytest.mark.parametrize("name", LONG)
def test_too_much_is_one_short_error(name: str) -> None:
    with pytest.raises(QueryError) as caught:
        Question.read(LONG[name])
    assert len(str(caught.value)) < 1200


def test_drawn_at_random_nothing_crashes() -> None:
    """Words of the language in any order, and characters changed in queries that are right."""
    rng = random.Random(4)
    words = [
        "p99",
        "mean",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ";",
        "<",
        "<=",
        "==",
        "in",
        "subset",
        "not",
        "and",
        "or",
        "let",
        "=",
        "5",
        "5ms",
        "1%",
        "/s",
        "n",
        "busy",
        "from",
        "to",
        "at",
        "over",
        "response",
        "errors",
        "#",
        "'",
        "9e9",
        "^",
        "-",
        "inf",
        "x",
    ]
    right = (
        "let slow(x) = 1 - probability(response <= x); slow(50ms) < 0.1 and p99{class='a'} < 5ms in 99% of 10s windows"
    )
    for _ in range(600):
        text = " ".join(rng.choices(words, k=rng.randint(1, 12)))
        if rng.random() < 0.5:
            at = rng.randrange(len(right))
            text = right[:at] + rng.choice("({[<=;'%#x9.\u2028\x00é") + right[at + rng.randint(0, 3) :]
        try:
            Question.read(text)
        except QueryError as error:
            assert error.place and error.remedy


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "no node"),
        ({"node": "Nim"}, "did you mean Num?"),
        ({"node": "Num", "value": 1}, "the root is a Result"),
        ({"node": "Result"}, "without query"),
        ({"node": "Result", "query": {"node": "Num", "value": "x"}}, "give a number"),
        ({"node": "Result", "query": {"node": "Num", "value": 1, "units": "s"}}, "did you mean unit?"),
        ({"node": "Result", "query": {"node": "Negation", "operand": {"node": "Num", "value": 1}}}, "compare it"),
        (
            {
                "node": "Result",
                "query": {
                    "node": "ArithOp",
                    "operation": "%",
                    "left": {"node": "Num", "value": 1},
                    "right": {"node": "Num", "value": 1},
                },
            },
            "use one of",
        ),
        ({"node": "Result", "query": {"node": "Num", "value": 1, "unit": "furlong"}}, "unit"),
        ({"node": "Result", "query": {"node": "Macro", "name": "f"}}, "f"),
        ({"node": "Result", "query": {"node": "Argument", "name": "x"}}, "x"),
        ({"node": "Result", "query": {"node": "Measure", "metric": "speed"}}, "speed"),
    ],
)
def test_mistakes_in_json(value: object, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        from_json(value)
    assert words in str(caught.value)
