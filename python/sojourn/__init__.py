"""sojourn: measure a real service under a known load, fit a queueing model, predict what nobody has run.

Names are imported when they are first used, so that a worker process starts in milliseconds.

Table      Metrics
Measure    http_load, kv_load, messages_load, execute, RunFolder, observe, diagnose
Model      Model, Network; Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool, Region, Breakdowns; Closed, Open, Choice
           Distribution: Exponential, Deterministic, Erlang, Hyperexponential, Uniform, Lognormal, Weibull, Pareto,
           PhaseType, Empirical; MAP, Steps, Trace
Solve      solve, sweep, methods; two_class, mmm, cite; simulate, compare_simulated
Fit        observe_runs, fit_model, FittedModel; of the two-class model: fit, compare, Fitted
Predict    predict, gain
Validate   validate, table3
Study      run_study
Report     Document, write_html
Errors     SojournError and its tree in sojourn.errors
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.errors import SojournError as SojournError
    from sojourn.fit import Fitted as Fitted
    from sojourn.fit import FittedModel as FittedModel
    from sojourn.fit import compare as compare
    from sojourn.fit import fit as fit
    from sojourn.fit import fit_model as fit_model
    from sojourn.fit import observe_runs as observe_runs
    from sojourn.measure.folder import RunFolder as RunFolder
    from sojourn.measure.kv_load import kv_load as kv_load
    from sojourn.measure.levels import diagnose as diagnose
    from sojourn.measure.load import http_load as http_load
    from sojourn.measure.messages_load import messages_load as messages_load
    from sojourn.measure.observations import observe as observe
    from sojourn.measure.run import execute as execute
    from sojourn.model import *  # noqa: F403
    from sojourn.predict import gain as gain
    from sojourn.predict import predict as predict
    from sojourn.report import Document as Document
    from sojourn.report import write_html as write_html
    from sojourn.simulate import *  # noqa: F403
    from sojourn.solve import cite as cite
    from sojourn.solve import methods as methods
    from sojourn.solve import mmm as mmm
    from sojourn.solve import solve as solve
    from sojourn.solve import sweep as sweep
    from sojourn.solve import two_class as two_class
    from sojourn.study import run_study as run_study
    from sojourn.table import Metrics as Metrics
    from sojourn.validate import table3 as table3
    from sojourn.validate import validate as validate

_MODEL = (
    "Breakdowns Choice Closed Delay Deterministic Distribution Empirical Erlang Exponential ForkJoin Hyperexponential "
    "LoadDependent Lognormal MAP Model Multicore Network Open Pareto PhaseType Pool Queue Region Steps Trace Uniform "
    "Weibull"
)
_HOMES = {
    **dict.fromkeys(_MODEL.split(), "model"),
    "SojournError": "errors",
    "Fitted": "fit",
    "FittedModel": "fit",
    "fit_model": "fit",
    "observe_runs": "fit",
    "compare": "fit",
    "fit": "fit",
    "RunFolder": "measure.folder",
    "http_load": "measure.load",
    "kv_load": "measure.kv_load",
    "messages_load": "measure.messages_load",
    "diagnose": "measure.levels",
    "observe": "measure.observations",
    "execute": "measure.run",
    "gain": "predict",
    "predict": "predict",
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
    "Metrics": "table",
    "table3": "validate",
    "validate": "validate",
}
__all__ = sorted(_HOMES)
__version__ = "0.1.0"


class _Index(ModuleType):
    """This package: a name of the index is the function, also after the submodule of the same name was imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"sojourn has no {name!r}; it has {', '.join(__all__)}")
        value = self.__dict__[name] = getattr(import_module(f"sojourn.{_HOMES[name]}"), name)
        return value


sys.modules[__name__].__class__ = _Index
