"""Every error that sojourn raises on purpose, with the exit code of the command line.

    SojournError                 1
    ├── InputError               2    a value that someone gave (also a ValueError)
    │   ├── NoSuchRow            2    a Metrics table has no such row (also a KeyError)
    │   ├── FitError             2    there are too few observations for this fit, or they do not determine it
    │   │   └── Undetermined     2    … some of its unknowns apart from each other
    │   ├── ModelError           2    a model file or object is invalid
    │   ├── MethodRefused        2    a method does not apply to this model
    │   ├── RunFolderError       2    a run folder is empty, cut off, or from another version
    │   │   └── StorageFull      1    … or cannot be written: no room
    │   ├── DesignError          2    an experiment design or its run list is invalid
    │   ├── StudyError           2    a study file is invalid: an unknown key, a wrong type, a contradiction
    │   ├── ReportError          2    a report cannot be written as asked
    │   ├── QueryError           2    a query is invalid: where, and what was expected
    │   └── SourceRefused        2    a source cannot give what a query asks; its answer is then `cannot tell`
    ├── LoadError                3    a run is not valid: the generator was the bottleneck, it was disturbed, not steady …
    ├── LabError                 4    this machine lacks something
    │   ├── PermissionLacking    4    … a right
    │   ├── WorkerError          4    … workers: one is lost, silent, or of another version
    │   ├── CaseError            4    … a package of cases in good order
    │   └── Busy                 4    … because another study or process holds it
    ├── SolverError              6    a method broke a law: our error, never the user's
    ├── ServiceError             5    the service under test failed or refused
    ├── ObjectiveMissed          7    a valid run missed an objective of its user
    └── Interrupted            130    Ctrl-C, after everything was put back

A message always has three parts: the place (argument, file:line, key), the value that was found, and the remedy.
"""

# ruff: noqa: N818  (names say what happened: Busy, Interrupted)

from __future__ import annotations

__all__ = [
    "FULL",
    "Busy",
    "CaseError",
    "DesignError",
    "FitError",
    "InputError",
    "Interrupted",
    "LabError",
    "LoadError",
    "MethodRefused",
    "ModelError",
    "NoSuchRow",
    "ObjectiveMissed",
    "PermissionLacking",
    "QueryError",
    "ReportError",
    "RunFolderError",
    "ServiceError",
    "SojournError",
    "SolverError",
    "SourceRefused",
    "StorageFull",
    "StudyError",
    "Undetermined",
    "WorkerError",
]

FULL = ("No space left on device", "Disk quota exceeded")  # what the system says


class SojournError(Exception):
    """`place: value; remedy`, the three also as attributes; `exit_code` is what the command line ends with."""

    exit_code = 1

    def __init__(self, value: object, place: object, remedy: str) -> None:
        self.value = value
        self.place = place
        self.remedy = remedy
        super().__init__(f"{place}: {value}; {remedy}")

    def __str__(self) -> str:
        return f"{self.place}: {self.value}; {self.remedy}"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.value, self.place, self.remedy)


class InputError(SojournError, ValueError):
    """A value that a user or a caller gave cannot be used."""

    exit_code = 2


class NoSuchRow(InputError, KeyError):
    """A Metrics table was asked for a row that it does not have."""


class FitError(InputError):
    """The observations are too few, or none is valid, for the fit that was asked for."""


class Undetermined(FitError):
    """The observations do not determine `unknowns` of a model, or not apart from each other."""

    def __init__(self, value: object, place: object, remedy: str, unknowns: tuple[str, ...] = ()) -> None:
        super().__init__(value, place, remedy)
        self.unknowns = unknowns

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.value, self.place, self.remedy, self.unknowns)


class ModelError(InputError):
    """A model, as a file or as an object, cannot be understood, or is invalid."""


class MethodRefused(InputError):
    """A method was asked for by name that does not apply to the model; the remedy names one that does."""


class RunFolderError(InputError):
    """A run folder is missing, empty, cut off, or written by another version."""


class StorageFull(RunFolderError):
    """The disk, or the user's share of it, is full: nobody's bad input."""

    exit_code = 1


class DesignError(InputError):
    """An experiment design cannot be made as asked, or its run list cannot be analysed."""


class StudyError(InputError):
    """A study file cannot be understood."""


class ReportError(InputError):
    """A report cannot be written as asked."""


class QueryError(InputError):
    """A query that is invalid; `shown`: the line of its text, with a caret under what is meant."""

    def __init__(self, value: object, place: object, remedy: str, shown: str = "") -> None:
        super().__init__(value, place, remedy)
        self.shown = shown

    def __str__(self) -> str:
        return super().__str__() + self.shown

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.value, self.place, self.remedy, self.shown)


class SourceRefused(InputError):
    """A source cannot give what a query asks of it; the remedy names what can."""


class LoadError(SojournError):
    """The run is not valid: its figures are not those of the service under the load that was asked for."""

    exit_code = 3


class LabError(SojournError):
    """The machine lacks what the lab needs."""

    exit_code = 4


class PermissionLacking(LabError):
    """The right to do it is missing (usually: root)."""


class WorkerError(LabError):
    """A worker of `--parallel` was lost, does not answer, or has another version."""


class CaseError(LabError):
    """A package of cases cannot be imported, or two of them have the same name for something."""


class Busy(LabError):
    """Somebody else holds it: another study, or a port in use."""


class SolverError(SojournError):
    """A method's answer broke an operational law or a bound: an error of ours, caught before the answer left."""

    exit_code = 6


class ServiceError(SojournError):
    """The service under test could not be reached, refused, or answered wrongly."""

    exit_code = 5


class ObjectiveMissed(SojournError):
    """The run is valid, and a figure of it is not as its user wants it."""

    exit_code = 7


class Interrupted(SojournError):
    """Ctrl-C or SIGTERM; raised after everything that was made has been removed."""

    exit_code = 130
