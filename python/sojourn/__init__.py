"""sojourn: measure a real service under a known load, fit a queueing model, predict what nobody has run.

Names are imported when they are first used, so that a worker process starts in milliseconds. A name that is a function and a package
too (`capacity`, `check`, `compare`, `fit`, `load`, `measure`, `plan`, `query`, `simulate`, `solve`) is the package; calling it calls the
function.

Table      Metrics
Capacity   capacity: the largest rate within an objective, by few runs that a model chooses; capacity_of_runs: from runs that are there
Check      check: the laws asked of results that any load tool wrote
Compare    compare: runs of B beside runs of A: better, worse, equivalent or cannot tell
Measure    load: one load on a service; measure: several, with its host; RunFolder, diagnose, oscillation; read_traces, trace_visits
Model      Model, Network; Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool (each a Station), Region, SharedCores, Breakdowns; Closed,
           Open, Choice
           Distribution: Exponential, Deterministic, Erlang, Hyperexponential, Uniform, Lognormal, Weibull, Pareto,
           PhaseType, Empirical; MAP, Steps, Trace
           Unknown, NumberByFactor, ParameterFromRuns: of parameters; replaced: with other numbers
Solve      solve, sweep, methods; two_class, mmm, cite; simulate, compare_simulated; laws: operational laws on numbers and tables
Fit        fit, fit_rivals, FittedModel; scalability: usl, fit_usl
Predict    predict, capacity_ratio
Plan       plan
Validate   validate
Design     design: experiment designs, made and analysed
Query      query: a question to run folders and models
Control    control: policies of capacity on a simulated queue; Set: what a policy wants
Study      run_study; of one's own: System, CallSystem, VirtualSystem, Session, Point, Factor, MeasuredResource, FitTemplate, Analysis;
           Case: what a package of cases brings
Report     Document, write_html
Errors     SojournError and its tree in sojourn.errors
Rooms      cli, diagnosis, errors, file_errors, files, lab, model, report, runs, stats, study, terminal, units: each has an
           `__all__` of what the author of a system, a study or a case needs, as have those that are functions, too
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sojourn.version import __version__ as __version__

if TYPE_CHECKING:
    from inspect import Signature

    from sojourn import cli as cli
    from sojourn import control as control
    from sojourn import design as design
    from sojourn import diagnosis as diagnosis
    from sojourn import errors as errors
    from sojourn import file_errors as file_errors
    from sojourn import files as files
    from sojourn import lab as lab
    from sojourn import laws as laws
    from sojourn import model as model
    from sojourn import report as report
    from sojourn import runs as runs
    from sojourn import stats as stats
    from sojourn import study as study
    from sojourn import terminal as terminal
    from sojourn import units as units
    from sojourn.capacity.capacity import capacity as capacity
    from sojourn.capacity.recorded_capacity import capacity_of_runs as capacity_of_runs
    from sojourn.cases import Case as Case
    from sojourn.check.check import check as check
    from sojourn.compare.compare import compare as compare
    from sojourn.control import Set as Set
    from sojourn.diagnosis.load_levels import diagnose as diagnose
    from sojourn.diagnosis.oscillation import oscillation as oscillation
    from sojourn.errors import SojournError as SojournError
    from sojourn.fit import FittedModel as FittedModel
    from sojourn.fit import fit as fit
    from sojourn.fit import fit_rivals as fit_rivals
    from sojourn.fit import predict as predict
    from sojourn.fit import validate as validate
    from sojourn.fit.capacity_ratio import capacity_ratio as capacity_ratio
    from sojourn.fit.scalability_law import fit_usl as fit_usl
    from sojourn.fit.scalability_law import usl as usl
    from sojourn.fit.trace_visits import trace_visits as trace_visits
    from sojourn.measure.load_once import load as load
    from sojourn.measure.measure import measure as measure
    from sojourn.model import *  # noqa: F403
    from sojourn.plan.plan import plan as plan
    from sojourn.query.query import query as query
    from sojourn.report import Document as Document
    from sojourn.report import write_html as write_html
    from sojourn.runs.resources import MeasuredResource as MeasuredResource
    from sojourn.runs.run_folder import RunFolder as RunFolder
    from sojourn.simulate import compare_simulated as compare_simulated
    from sojourn.simulate.simulate import simulate as simulate
    from sojourn.solve import methods as methods
    from sojourn.solve import mmm as mmm
    from sojourn.solve import sweep as sweep
    from sojourn.solve.cite import cite as cite
    from sojourn.solve.solve import solve as solve
    from sojourn.solve.two_class import two_class as two_class
    from sojourn.study import run_study as run_study
    from sojourn.study.analysis import Analysis as Analysis
    from sojourn.study.fit_templates import FitTemplate as FitTemplate
    from sojourn.study.kinds.call_system import CallSystem as CallSystem
    from sojourn.study.kinds.simulated_model import VirtualSystem as VirtualSystem
    from sojourn.study.system import Factor as Factor
    from sojourn.study.system import Point as Point
    from sojourn.study.system import Session as Session
    from sojourn.study.system import System as System
    from sojourn.table import Metrics as Metrics
    from sojourn.traces.observed_traces import read_traces as read_traces

_MODEL = (
    "Breakdowns NumberByFactor Choice Closed Delay Deterministic Distribution Empirical Erlang Exponential ForkJoin Hyperexponential "
    "LoadDependent Lognormal MAP Model Multicore Network Open Pareto PhaseType Pool Queue Region SharedCores Station Steps Trace "
    "Uniform Weibull ParameterFromRuns Unknown replaced"
)
_ROOMS = "cli control design diagnosis errors file_errors files lab laws model report runs stats study terminal units"
# name → the module that has it; a module has itself
_HOMES = {
    **dict.fromkeys(_ROOMS.split(), ""),
    **dict.fromkeys(_MODEL.split(), "model"),
    "SojournError": "errors",
    "FittedModel": "fit",
    "fit_rivals": "fit",
    "fit": "fit",
    "predict": "fit",
    "validate": "fit",
    "fit_usl": "fit.scalability_law",
    "usl": "fit.scalability_law",
    "Set": "control",
    "RunFolder": "runs.run_folder",
    "diagnose": "diagnosis.load_levels",
    "load": "load",
    "measure": "measure",
    "oscillation": "diagnosis.oscillation",
    "plan": "plan",
    "capacity_ratio": "fit.capacity_ratio",
    "query": "query",
    "Document": "report",
    "write_html": "report",
    **dict.fromkeys(("compare_simulated", "simulate"), "simulate"),
    "cite": "solve",
    "methods": "solve",
    "mmm": "solve",
    "solve": "solve",
    "sweep": "solve",
    "two_class": "solve",
    "run_study": "study",
    **dict.fromkeys(("Factor", "Point", "Session", "System"), "study.system"),
    "Analysis": "study.analysis",
    "Case": "cases",
    **dict.fromkeys(("capacity", "capacity_of_runs"), "capacity"),
    "check": "check",
    "compare": "compare",
    "CallSystem": "study.kinds.call_system",
    "FitTemplate": "study.fit_templates",
    "MeasuredResource": "runs.resources",
    "VirtualSystem": "study.kinds.simulated_model",
    "read_traces": "traces.observed_traces",
    "trace_visits": "fit.trace_visits",
    "Metrics": "table",
}
__all__ = sorted(_HOMES)
_CALLED = {
    "load": "sojourn.measure.load_once"
}  # a package whose function is elsewhere, as it needs more than the package may
# former name → its home and the present name
_FORMER = {
    "fit_model": ("fit.model_fit", "fit", "fit"),
    "observe_runs": ("fit", "observe_runs", "fit, which takes folders too, or sojourn.fit.observe_runs"),
    "http_load": ("load.http_load", "http_load", "load, or sojourn.load.http_load.http_load"),
    "kv_load": ("load.kv_load", "kv_load", "load, or sojourn.load.kv_load.kv_load"),
    "messages_load": ("load.messages_load", "messages_load", "load, or sojourn.load.messages_load.messages_load"),
    "gain": ("fit", "capacity_ratio", "capacity_ratio"),
    "Resource": ("runs", "MeasuredResource", "MeasuredResource"),
    "MeasuredParameter": ("model", "ParameterFromRuns", "ParameterFromRuns"),
    "execute": ("measure.execute_run", "execute", "load, or sojourn.measure.execute_run.execute"),
}


class _CallablePackage(ModuleType):
    """A package that is called like the function of its name."""

    def __setattr__(self, name: str, value: Any) -> None:
        """A module with a function of its name, which the package offers: `from sojourn.load import http_load` means the function, in
        whatever order they are imported."""
        meant = isinstance(value, ModuleType) and name in self.__dict__.get("__all__", ())
        if meant and callable(function := getattr(value, name, None)):
            value = function
        super().__setattr__(name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _function(self)(*args, **kwargs)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The function's, then the package's. Made when it is read: a command imports one module of a package, and not its function."""
        own: str | None = self.__dict__.get("__doc__")
        if self.__name__.rpartition(".")[2] in _CALLED:
            return own
        return f"{_function(self).__doc__}\n\nThe package {self.__name__}: {own}"

    @property
    def __signature__(self) -> Signature:
        from inspect import signature  # takes as long to import as all that a worker process needs

        return signature(_function(self))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return import_module, (self.__name__,)  # so that another process can be given it as a function


def _function(module: ModuleType) -> Any:
    name = module.__name__.rpartition(".")[2]
    return getattr(import_module(_CALLED[name]) if name in _CALLED else module, name)


def _of_former_name(name: str) -> Any:
    from warnings import warn

    home, own, present = _FORMER[name]
    warn(f"sojourn.{name} is now sojourn.{present}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(f"sojourn.{home}"), own)


class _LazyImportIndex(ModuleType):
    """This package: the names of the index, each imported when it is first used."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOMES.get(name) == name:
            value.__class__ = _CallablePackage  # the import of a package that is a function, too
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _FORMER:
            return _of_former_name(name)
        if name not in _HOMES:
            raise AttributeError(f"sojourn has no {name!r}; it has {', '.join(__all__)}")
        module = import_module(f"sojourn.{_HOMES[name] or name}")
        if name not in self.__dict__:  # a package is there by its import
            self.__dict__[name] = getattr(module, name)
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return [*__all__, *(name for name in self.__dict__ if name.startswith("__"))]


sys.modules[__name__].__class__ = _LazyImportIndex
