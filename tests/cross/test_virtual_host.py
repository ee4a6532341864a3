"""The virtual host against closed forms, each with the sampling error of the simulation.

M/M/1 and M/D/1 (Kleinrock, Queueing Systems I, 1975, sections 3.2 and 5.6), M/G/1-PS and its insensitivity (Kleinrock,
Queueing Systems II, 1976, section 4.4), M/M/1/K (I, section 3.6), the priority variant of `solve/two_class.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.simulate.virtual_host import VirtualHost, VirtualHostRun, simulate_host
from sojourn.solve.two_class import two_class
from sojourn.stats.batch_means import batch_interval

REQUESTS = 600_000
NOTHING = {"kind": "deterministic", "mean": 0.0}
S, A = 5e-4, 3e-3


def exponential(mean: float) -> dict[str, object]:
    return {"kind": "exponential", "mean": mean}


def constant(mean: float) -> dict[str, object]:
    return {"kind": "deterministic", "mean": mean}


def run(host: VirtualHost, rate: float, seed: int = 1) -> VirtualHostRun:
    return simulate_host(host, rate_per_s=rate, duration_s=REQUESTS / rate, seed=seed, sample_s=1.0)


def close(values: np.ndarray, expected: float) -> None:
    """Within four standard errors of the mean, by batch means, after a tenth of warm-up."""
    mean, low, high = batch_interval(values[values.size // 10 :])
    assert abs(mean - expected) < 2 * (high - low), f"{mean} is not {expected} within {(high - low) / 4:.2g}"
    assert high - low < 0.1 * expected, "too noisy to say anything"


@pytest.mark.parametrize("more", [{}, {"threads_per_core": 0}, {"threads_per_core": 0, "quantum_s": 4e-3}])
def test_pages_alone_are_mm1_in_any_order(more: dict[str, float]) -> None:
    host = VirtualHost(1, 1, NOTHING, exponential(A), **more)  # type: ignore[arg-type]
    close(run(host, 0.8 / A).response_s, A / 0.2)


def test_interrupts_alone_are_md1() -> None:
    rho = 0.7
    seen = run(VirtualHost(1, 1, constant(A), NOTHING), rho / A).requests
    close(seen["ready_s"] - seen["intended_s"], A + rho * A / (2 * (1 - rho)))


def test_shared_pages_do_not_see_the_distribution() -> None:
    mixed = {"kind": "hyperexponential", "probabilities": [0.9, 0.1], "means": [A / 3, 7 * A]}
    for page in (constant(A), mixed):
        found = run(VirtualHost(1, 1, NOTHING, page, threads_per_core=0), 0.6 / A)
        close(found.response_s, A / 0.4)
        # and each page takes in proportion to its work
        short = found.requests["page_s"] <= A
        close(found.response_s[short], found.requests["page_s"][short].mean() / 0.4)


def test_a_full_core_refuses_as_in_mm1k() -> None:
    rho, room = 0.9, 5
    found = run(VirtualHost(1, 1, NOTHING, exponential(A), capacity=room), rho / A)
    lost = (1 - rho) * rho**room / (1 - rho ** (room + 1))
    share = found.requests["refused"].mean()
    # losses come in bursts: three times the error of independent ones
    assert abs(share - lost) < 4 * 3 * np.sqrt(lost / REQUESTS)
    numbers = np.arange(room + 1)
    present = (numbers * rho**numbers).sum() / (rho**numbers).sum()
    close(found.response_s, present / (rho / A * (1 - lost)))


@pytest.mark.parametrize(("cores", "nics", "rate"), [(1, 1, 200.0), (2, 2, 400.0), (4, 4, 900.0)])
def test_interrupts_first_is_the_priority_variant_where_all_cores_lead(cores: int, nics: int, rate: float) -> None:
    host = VirtualHost(cores, nics, constant(S), exponential(A), threads_per_core=0)
    expected = two_class(rate, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=cores, nics=nics, variant="priority")
    close(run(host, rate).response_s, expected.value("response_time"))


def test_pages_of_the_leading_core_are_exact_and_those_behind_nearly() -> None:
    """4 cores, 1 NIC, p = 1/4: the stayed pages by the exact law, all of them within 2 % (trailing: QNA)."""
    rate, p, delay = 550.0, 0.25, 2e-4
    found = run(VirtualHost(4, 1, constant(S), exponential(A), crossing_s=delay), rate)
    stayed = found.response_s[found.requests["core"] == 0]
    high, high2, both2 = S, S * S, S * S + p * (2 * S * A + 2 * A * A)
    rho_h, rho = rate * high, rate * (S + p * A)
    close(stayed, (rate * both2 / (2 * (1 - rho)) + S + A) / (1 - rho_h))
    interrupted = (found.requests["ready_s"] - found.requests["intended_s"])[found.requests["core"] != 0]
    close(interrupted, rate * high2 / (2 * (1 - rho_h)) + S)
    expected = two_class(rate, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=4, nics=1, variant="priority", crossing_s=delay)
    assert found.response_s.mean() == pytest.approx(expected.value("response_time"), rel=0.02)


def test_counters_agree_with_the_work_that_was_drawn() -> None:
    found = run(VirtualHost(4, 2, exponential(S), exponential(A), threads_per_core=0, quantum_s=4e-3), 800.0)
    assert found.states["softirq"][-1].sum() == pytest.approx(found.requests["interrupt_s"].sum(), rel=1e-9)
    assert found.states["user"][-1].sum() == pytest.approx(found.requests["page_s"].sum(), rel=1e-9)
    assert found.states["softirq"][-1, 2:].sum() == 0
    assert (np.diff(found.states["user"], axis=0) >= 0).all()


def test_two_hosts_with_one_seed_see_the_same_requests() -> None:
    one = run(VirtualHost(4, 1, constant(S), exponential(A)), 700.0)
    two = run(VirtualHost(4, 4, constant(S), exponential(A), threads_per_core=0), 700.0)
    for name in ("intended_s", "page_s"):
        assert (one.requests[name] == two.requests[name]).all()


def test_bad_hosts_are_refused() -> None:
    with pytest.raises(InputError, match="nics.*number of cores"):
        run(VirtualHost(1, 2, NOTHING, exponential(A)), 1.0)
    with pytest.raises(InputError, match="unknown variant `gamma`"):
        run(VirtualHost(1, 1, NOTHING, {"kind": "gamma", "mean": 1.0}), 1.0)
    with pytest.raises(InputError, match="give one of rate_per_s"):
        simulate_host(VirtualHost(1, 1, NOTHING, exponential(A)), duration_s=1.0)
