"""Options of a load as fields of a class: what all protocols have in common, and how each field is written as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.units import duration_s, number

_TEXT = "option"  # key of the metadata of a field
MOST_PER_S = 1e7
MOST_USERS = 1_000_000
RECORD_LIMIT = 2_000_000  # rows of a run; of more requests every second, fourth … is kept
ARRIVALS = ("poisson", "stratified", "constant")
MOST_SLACK_S = 0.1  # more would hide how a service takes requests that follow each other closely


@dataclass(frozen=True)
class OptionText:
    """A field on a command line. `flag`: `--for`, of a switch `--verify/--no-verify`. `kind`: what its text is first (str, int, float,
    bool, Path or list[str]); `read` makes the value of it, and is told the flag for its errors. `panel`: where the help has it; none:
    among those that all protocols have. `shown`: the default, where the help must say it."""

    help: str
    flag: str
    kind: Any
    read: Callable[[Any, str], Any] | None
    panel: str | None
    metavar: str | None
    shown: str | None


def option(
    default: Any, help: str, flag: str, kind: Any = str, *, read: Callable[[Any, str], Any] | None = None,
    panel: str | None = None, metavar: str | None = None, shown: str | None = None,
) -> Any:  # fmt: skip
    """A field that is an option of the command line, too."""
    return field(default=default, metadata={_TEXT: OptionText(help, flag, kind, read, panel, metavar, shown)})


def option_texts(options: type[Any]) -> dict[str, OptionText]:
    """Those fields of the class that are options of the command line, by name."""
    found = {one.name: one.metadata[_TEXT] for one in fields(options) if _TEXT in one.metadata}
    return dict(sorted(found.items(), key=lambda one: (one[1].panel is not None, _order(one[0]))))


def values(options: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of the options, read; what was not given (None) is left out.

    Raises:
        InputError: a text that cannot be read, with its flag.
    """
    return {
        name: given[name] if text.read is None else text.read(given[name], text.flag)
        for name, text in option_texts(options).items()
        if given.get(name) is not None
    }


def finite_s(text: str, place: str) -> float:
    """A time that is no infinity. InputError for one that is."""
    return number(duration_s(text, place), place)


def zero_or_s(text: str, place: str) -> float:
    """A time, or `0`. InputError for anything else."""
    return 0.0 if text == "0" else duration_s(text, place)


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """What every load has, in SI units. `protocol`: its name; `schemes`: how its URLs begin; `shape`: a URL; `about`: a line.
    `examples`, `measured`: command lines of `sojourn load` and of `sojourn measure`."""

    protocol: ClassVar[str] = ""
    schemes: ClassVar[tuple[str, ...]] = ()
    shape: ClassVar[str] = ""
    about: ClassVar[str] = ""
    examples: ClassVar[tuple[str, ...]] = ()
    measured: ClassVar[tuple[str, ...]] = ()

    duration_s: float = option(
        10.0, "length of the run, e.g. 10s, 2m; without a unit: seconds", "--for", read=duration_s, shown="10s"
    )
    seed: int = option(1, "repeats the schedule (default: a new seed each time)", "--seed", int)
    timeout_s: float = option(
        10.0, "a request fails this long after its scheduled time", "--timeout", read=finite_s, shown="10s"
    )

    def config(self, urls: list[str]) -> dict[str, Any]:
        """What the generator is told of a load on `urls`. InputError for a value out of range."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class OpenLoad(LoadOptions):
    """A load that may be open: requests are due at a rate, whether or not answers came."""

    rate_per_s: float | None = option(None, "requests per second, open loop", "--rate", read=number)
    arrivals: str = option("poisson", "poisson, stratified or constant", "--arrivals", shown="poisson")

    def check_rate(self) -> None:
        """InputError for a rate or arrivals that are none."""
        if self.rate_per_s is not None and not 0 < self.rate_per_s <= MOST_PER_S:
            remedy = f"give requests per second above 0, at most {MOST_PER_S:.0f}"
            raise InputError(f"{self.rate_per_s:g}", "--rate", remedy)
        if self.arrivals not in ARRIVALS:
            raise InputError(repr(self.arrivals), "--arrivals", "use poisson, stratified or constant")


@dataclass(frozen=True, kw_only=True)
class SlackLoad(OpenLoad):
    """An open load whose threads may handle together what comes within `slack_s` in [0, 0.1]: it costs less CPU, and requests are sent
    up to this late."""

    slack_s: float = option(
        0.0,
        "send up to this late, e.g. 1ms, to use less CPU (at most 100ms)",
        "--max-send-delay",
        read=zero_or_s,
        shown="0",
    )

    def slack(self) -> dict[str, float]:
        """What the generator is told of it."""
        return {"slack_s": self.slack_s} if self.slack_s else {}

    def check_rate(self) -> None:
        """InputError for a rate, arrivals or slack that are none."""
        super().check_rate()
        if not 0 <= self.slack_s <= MOST_SLACK_S or (self.slack_s and self.rate_per_s is None):
            remedy = f"give 0 to {MOST_SLACK_S:g} s with a rate; users have no schedule that they could miss"
            raise InputError(f"{self.slack_s:g} s", "--max-send-delay", remedy)


@dataclass(frozen=True, kw_only=True)
class ClosedLoad(LoadOptions):
    """A load that may be closed: users who wait for their answers, and think."""

    users: int | None = option(None, "closed loop: this many users instead of a rate", "--users", int)
    think_s: float = option(
        0.0, "mean think time of a user, e.g. 100ms (exponential)", "--think", read=zero_or_s, shown="0"
    )


COMMON = (
    "rate_per_s",
    "users",
    "think_s",
    "duration_s",
    "connections",
    "clients",
    "iops",
    "seed",
    "arrivals",
    "timeout_s",
)


def _order(name: str) -> int:
    return COMMON.index(name) if name in COMMON else len(COMMON)
