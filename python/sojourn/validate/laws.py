"""Operational laws on measured tables: `sojourn.laws`, which solvers, simulation and tests use too."""

from __future__ import annotations

from sojourn.laws import Finding, broken, check_laws

__all__ = ["Finding", "broken", "check_laws"]
