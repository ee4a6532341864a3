"""Solvers: one file per method, closed forms broadcast over rates; every result is a `Metrics`.

cpu0            the chain of one leading core, to full precision        two_class, two_class_laws   interrupts and pages
routing         rules for p                                             mmm                         M/M/m, the
comparator bottleneck      which core, busy with what, in words                    status, cite
outcomes; sources
"""

from sojourn.solve.bottleneck import bottleneck, two_class_bottleneck
from sojourn.solve.cite import cite
from sojourn.solve.mmm import erlang_c, mmm
from sojourn.solve.routing import routing_probability
from sojourn.solve.two_class import two_class

__all__ = ["bottleneck", "cite", "erlang_c", "mmm", "routing_probability", "two_class", "two_class_bottleneck"]
