"""Which of several models is taken, from errors made up so that the right answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.fit.compare import ranked
from sojourn.fit.fitted import ERRORS, Fitted

NAMES = ("priority", "shared", "paper", "mmm")
RATES = np.linspace(50, 400, 8)


def fitted(errors: np.ndarray, rates: np.ndarray = RATES) -> Fitted:
    """With these held-out errors, (rates, ERRORS)."""
    rows = tuple(
        {"cores": 2, "nics": 1, "rate_per_s": float(rate), **dict(zip(ERRORS, map(float, each), strict=True))}
        for rate, each in zip(rates, errors, strict=True)
    )
    return Fitted("two-class", "shared", {}, {}, {}, 0.95, 1, rows, (), ())


def test_of_models_that_are_alike_the_preferred_stays_at_the_level_that_is_stated() -> None:
    """Errors of one law, whatever the model: at most 5 % of comparisons may take another than the first (Holm holds the level over
    all of them; 400 draws: 5 % ± 2.2 %). To take the best by looking and then to test it takes another twice as often."""
    random = np.random.default_rng(1)
    taken = [
        ranked({name: fitted(random.normal(0, 0.08, (len(RATES), len(ERRORS)))) for name in NAMES}).best
        for _ in range(400)
    ]
    assert np.mean([name != "priority" for name in taken]) <= 0.072


def test_a_model_that_is_better_is_taken_and_a_tie_is_told() -> None:
    random = np.random.default_rng(2)
    sizes = dict(zip(NAMES, (0.3, 0.02, 0.3, 0.6), strict=True))
    found = ranked({name: fitted(random.normal(0, size, (8, 4))) for name, size in sizes.items()})
    assert found.best == "shared" and found.clear
    assert next(iter(found.fits)) == "shared"
    alike = ranked({name: fitted(random.normal(0, 0.05, (8, 4))) for name in ("priority", "shared")})
    assert alike.best == "priority" and not alike.clear
    assert "cannot be told apart" in alike.why and "not because it is better" in alike.why
    worse = ranked({name: fitted(random.normal(0, size, (8, 4))) for name, size in (("a", 0.02), ("b", 0.4))})
    assert worse.best == "a" and worse.clear


def test_points_called_saturated_that_were_not_are_errors_and_counted() -> None:
    errors = np.full((8, 4), 0.02)
    wrong = fitted(errors)
    for row in wrong.held_out[-2:]:
        row |= {"response_time": 1.0, "saturated": 1.0}
    found = ranked({"priority": fitted(errors), "mmm": wrong})
    assert "2 of 8 of them called saturated that were not" in found.why


def test_models_that_were_judged_at_other_rates_are_not_compared() -> None:
    errors = np.full((8, 4), 0.02)
    with pytest.raises(InputError, match="models judged at different rates"):
        ranked({"priority": fitted(errors), "shared": fitted(errors[1:], RATES[1:])})
