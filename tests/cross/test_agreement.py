"""300 random models of all kinds: `solve(model, "auto")` against every other exact method, references and laws.

The models, the referee and what it allows are those of `benches/agreement`, which judges 10 000 with the simulator beside
(README there). Here the simulator judges the few strata that nothing else can, a model of each.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benches"))

from agreement.models import SLOTS, STRATA, STRIDE, draw
from agreement.referee import judge

SEED, MODELS = 20, 300
CASES = {name: [i for i in range(MODELS) if SLOTS[i * STRIDE % len(SLOTS)] == name] for name in STRATA}


@pytest.mark.parametrize("stratum", STRATA)
def test_nothing_is_outside_what_its_status_promises(stratum: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = []
    for index in CASES[stratum]:
        verdict = judge(draw(SEED, index), simulate=False)
        found += [f"--seed {SEED} --only {index}: {words}" for words in verdict.findings]
    found += [f"on stderr: {line}" for line in capfd.readouterr().err.splitlines()[:3]]
    if found:
        pytest.fail("\n".join(["python benches/agreement/run.py", *found]), pytrace=False)


@pytest.mark.parametrize("stratum", ("regions", "blocking", "shortest", "losing"))
def test_the_simulator_agrees(stratum: str) -> None:
    """The first model of the stratum that both can do."""
    for index in CASES[stratum]:
        verdict = judge(draw(SEED, index))
        assert not verdict.findings, f"--seed {SEED} --only {index}"
        if "simulation" in verdict.referees:
            return
    pytest.fail("no model of the stratum was simulated")


def test_models_are_a_function_of_seed_and_index() -> None:
    assert all(draw(3, i) == draw(3, i) for i in range(50))
    assert draw(3, 0).parts != draw(4, 0).parts
    assert sorted(i * STRIDE % len(SLOTS) for i in range(len(SLOTS))) == list(range(len(SLOTS)))
