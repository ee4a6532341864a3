"""`sojourn load bulletin`: users of the bulletin board, who go from page to page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.load import ClosedLoad, option, zero_or_s
from sojourn.terminal import say

PANEL = "Bulletin board"


@dataclass(frozen=True, kw_only=True)
class BulletinUsers(ClosedLoad):
    """Users who go from page to page by the matrices of `mix`. `ramp_up_s`: they come one by one; it and `ramp_down_s` do not count."""

    protocol: ClassVar[str] = "bulletin"
    shape: ClassVar[str] = "bulletin http://HOST:PORT"
    about: ClassVar[str] = "users of the bulletin board, who go from page to page"
    examples: ClassVar[tuple[str, ...]] = (
        "sojourn load bulletin http://127.0.0.1:8080 --users 100 --think 7s",
        "sojourn load bulletin http://127.0.0.1:8080 --users 100 --mix browse",
        "sojourn load bulletin http://127.0.0.1:8080 --users 50 --ramp-up 2s --for 20s",
    )
    measured: ClassVar[tuple[str, ...]] = (
        "sojourn measure bulletin http://127.0.0.1:8080 --users 50..200:50 --think 7s --out runs",
    )

    mix: str = option(
        "readwrite", "browse, readwrite, a CSV file with a transition matrix, MIX~3, or a page", "--mix", panel=PANEL
    )
    ramp_up_s: float = option(10.0, "users come; not counted (default: 10s)", "--ramp-up", read=zero_or_s, panel=PANEL)
    ramp_down_s: float = option(1.0, "not counted (default: 1s)", "--ramp-down", read=zero_or_s, panel=PANEL)

    def config(self, urls: list[str]) -> dict[str, Any]:
        """Rows of their matrices that had to be repaired are told.

        Raises:
            InputError: several URLs, no users, or a value out of range.
        """
        from sojourn.load import mix_of, session_load

        if len(urls) != 1 or self.users is None:
            found = f"{len(urls)} URLs, users = {self.users}"
            raise InputError(found, "load bulletin", "give one http://HOST:PORT, and --users")
        for _, matrix in mix_of(self.mix):
            for note in matrix.notes:
                say(note, err=True)
        return session_load(
            urls[0], users=self.users, mix=self.mix, think_s=self.think_s, duration_s=self.duration_s,
            ramp_up_s=self.ramp_up_s, ramp_down_s=self.ramp_down_s, seed=self.seed, timeout_s=self.timeout_s,
        )  # fmt: skip
