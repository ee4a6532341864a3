"""The software that a site is made of: its tiers by name, the sizes of their pools, and how the tiers of a run are started."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from sojourn.lab import CountedGroups
from sojourn.study import Factor, Value
from sojourn_cases.ntier.bulletin_board_tiers import SiteTiers, TierCores


class LoadedStack(Protocol):
    """Software that is installed, with a database that is loaded."""

    @property
    def described(self) -> dict[str, Any]:
        """What a run's conditions have of it."""
        ...

    def start(self, factors: Mapping[str, Value], cores: TierCores, groups: CountedGroups, logs: Path) -> SiteTiers:
        """The tiers of one run; what replicas complain of goes to the folder `logs`.

        Raises:
            ServiceError: one does not start; the reason is its own.
        """
        ...


class SiteStack(Protocol):
    """A choice of software, `[system] stack`."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """Their names, front first."""
        ...

    @property
    def pools(self) -> Mapping[str, Factor]:
        """Factors of the front and the application."""
        ...

    @property
    def database_factors(self) -> Mapping[str, Factor]: ...

    def check(self) -> None:
        """InputError for options that it cannot have."""
        ...

    def check_factors(self, factors: Mapping[str, Value], place: str) -> None:
        """InputError for factors of a point that it cannot have together."""
        ...

    def open(self, copies: Path | None) -> AbstractContextManager[LoadedStack]:
        """Loads the database, whose copies lie in `copies` (None: the usual place).

        Raises:
            ServiceError, LabError: something is not installed.
        """
        ...
