"""Solvers: a model in, a `Metrics` out. `solve` chooses or is told a method; each method is one file.

solve, sweep, methods   the public face          parameter_variation   one number of a model, varied
model_sweep, sweep_on_workers   many values of a number, in one process and on workers
method                  what a method is         registry    all of them, and how `auto` chooses
solution                their answer as arrays   law_verification   what an answer must satisfy before it leaves
single, closed, open, markov, bounds, special    the methods, by family
two_class, two_class_equations, interrupt_core, same_core_probability, mmm_cores, bottleneck     interrupts and pages on cores, over rates
status, cite            outcomes; sources
"""

from sojourn.solve.bottleneck import bottleneck, two_class_bottleneck
from sojourn.solve.cite import cite
from sojourn.solve.closed.mva import exact_mva
from sojourn.solve.mmm_cores import erlang_c, mmm
from sojourn.solve.model_sweep import sweep
from sojourn.solve.same_core_probability import routing_probability
from sojourn.solve.single.mmm import MMm
from sojourn.solve.solve import methods, solve
from sojourn.solve.two_class import two_class

__all__ = [
    "MMm",
    "bottleneck",
    "cite",
    "erlang_c",
    "exact_mva",
    "methods",
    "mmm",
    "routing_probability",
    "solve",
    "sweep",
    "two_class",
    "two_class_bottleneck",
]
