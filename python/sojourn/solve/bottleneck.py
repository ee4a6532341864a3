"""Which core runs out first, and on what: plain words from demands, or from measured shares."""

from __future__ import annotations

from collections.abc import Mapping

from sojourn.units import per_second, percent


def bottleneck(shares: Mapping[str, float], *, cores: int, nics: int, trailing_busy: float | None = None) -> str:
    """`core 0: interrupts 78 %, pages 21 %`, for shares of one leading core's time by kind (each in [0, 1], kinds
    such as interrupts, pages, client), or `cores 1-3: pages 96 %` where the trailing cores (`trailing_busy`) are
    busier. Kinds under half a percent are left out.
    """
    lead = sum(shares.values())
    if trailing_busy is not None and cores > nics and trailing_busy > lead:
        return f"{_cores(nics, cores)}: pages {percent(trailing_busy, 0)}"
    parts = sorted(((v, k) for k, v in shares.items() if v >= 0.005), reverse=True)
    return f"{_cores(0, nics)}: " + (", ".join(f"{k} {percent(v, 0)}" for v, k in parts) or "idle")


def two_class_bottleneck(
    *,
    interrupt_s: float,
    page_s: float,
    p: float,
    cores: int,
    nics: int,
    client_s: float = 0.0,
    rate_per_s: float | None = None,
) -> str:
    """The same from demands (s, >= 0): at `rate_per_s`, or at saturation where it is None, which it then names.

    Both classes are taken to share the core (variants `shared` and `priority`). For cores > nics >= 1, p in [0, 1].
    """
    p = 1.0 if cores == nics else p
    lead = nics / (interrupt_s + client_s + p * page_s)
    behind = (cores - nics) / ((1 - p) * page_s) if cores > nics and p < 1 and page_s > 0 else float("inf")
    rate = min(lead, behind) if rate_per_s is None else rate_per_s
    work = {"interrupts": interrupt_s, "pages": p * page_s, "client": client_s}
    text = bottleneck(
        {kind: rate / nics * value for kind, value in work.items()},
        cores=cores,
        nics=nics,
        trailing_busy=rate / behind,
    )
    return f"{text} at saturation, {per_second(rate)}" if rate_per_s is None else f"{text} at {per_second(rate)}"


def _cores(first: int, end: int) -> str:
    return f"core {first}" if end - first == 1 else f"cores {first}-{end - 1}"
