"""`cite(method)`: where a method's formulas come from. Every method of `sojourn.solve` has an entry."""

from __future__ import annotations

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword

_CHEN = (
    "X. Chen, C. P. Ho, R. Osman, P. G. Harrison, W. J. Knottenbelt: Understanding, Modelling, and Improving the "
    "Performance of Web Applications in Multicore Virtualised Environments. ICPE 2014, Sections 4.2-5.3, Appendix A"
)
_QNA = "W. Whitt: The Queueing Network Analyzer. Bell System Technical Journal 62(9), 1983, pp. 2779-2815, eqs. 24-44"
_KLEINROCK = (
    "L. Kleinrock: Queueing Systems, vol. 1 (1975), Sections 3.5 (M/M/m) and 5.7 (M/G/1); vol. 2 (1976), Section 3.3"
)
SOURCES = {
    "two-class/paper": (
        _CHEN,
        "S. S. Lam: Queuing Networks with Population Size Constraints. IBM J. Res. Dev. 21(4), 1977",
    ),
    "two-class/shared": (
        _CHEN,
        "F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: J. ACM 22(2), 1975, pp. 248-260",
    ),
    "two-class/priority": (
        "ours: soft interrupts preempt pages (M/G/1 workload and delay-busy period)",
        _KLEINROCK,
        _QNA,
    ),
    "mmm": (
        _KLEINROCK,
        "A. K. Erlang (1917), loss recurrence in A. O. Allen: Probability, Statistics, and Queueing Theory",
    ),
}


@former_keyword(name="method")
def cite(method: str) -> str:
    """The sources of a method, one a line; InputError names the methods that exist."""
    from sojourn.solve.registry import all_methods

    known = {**{m.name: m.sources for m in all_methods().values()}, **SOURCES}
    if method not in known:
        raise InputError(repr(method), "method", f"use one of {', '.join(known)}")
    return "\n".join(known[method])
