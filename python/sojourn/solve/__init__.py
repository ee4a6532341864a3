"""Solvers: a model in, a `Metrics` out. `solve` chooses or is told a method; each method is one file.

solve, sweep, methods   the public face          parameter_variation   one number of a model, varied
model_sweep, sweep_on_workers   many values of a number, in one process and on workers
method                  what a method is         registry    all of them, and how `auto` chooses
solution                their answer as arrays   law_verification   what an answer must satisfy before it leaves
single, closed, open, markov, bounds, special    the methods, by family
two_class, two_class_equations, interrupt_core, same_core_probability, mmm_cores, bottleneck     interrupts and pages on cores, over rates
status, cite            outcomes; sources
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.solve.bottleneck import bottleneck as bottleneck
    from sojourn.solve.bottleneck import two_class_bottleneck as two_class_bottleneck
    from sojourn.solve.cite import cite as cite
    from sojourn.solve.closed.mva import exact_mva as exact_mva
    from sojourn.solve.mmm_cores import erlang_c as erlang_c
    from sojourn.solve.mmm_cores import mmm as mmm
    from sojourn.solve.model_sweep import sweep as sweep
    from sojourn.solve.same_core_probability import routing_probability as routing_probability
    from sojourn.solve.single.mmm import MMm as MMm
    from sojourn.solve.solve import methods as methods
    from sojourn.solve.solve import solve as solve
    from sojourn.solve.two_class import two_class as two_class
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "bottleneck": ["bottleneck", "two_class_bottleneck"],
            "cite": ["cite"],
            "closed.mva": ["exact_mva"],
            "mmm_cores": ["erlang_c", "mmm"],
            "model_sweep": ["sweep"],
            "same_core_probability": ["routing_probability"],
            "single.mmm": ["MMm"],
            "solve": ["methods", "solve"],
            "two_class": ["two_class"],
        },
    )
