"""M/M/m against published values."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.laws import broken, check_laws
from sojourn.solve import erlang_c, mmm

# ascknd (004), helpdesk, service 30 min, recomputed: servers, lambda per minute, Erlang C, response in minutes
HELPDESK = [(4, 0.08, 0.287043189368771, 35.3820598006645), (6, 0.18, 0.740125700282309, 67.0062850141155),
            (10, 0.26, 0.365994383650509, 34.9908325043251)]  # fmt: skip


@pytest.mark.parametrize(("servers", "rate", "waits", "response"), HELPDESK)
def test_helpdesk(servers: int, rate: float, waits: float, response: float) -> None:
    assert erlang_c(rate * 30, servers) == pytest.approx(waits, rel=1e-13)
    m = mmm(rate / 60, mu_per_s=1 / 1800, cores=servers)
    assert m.value("response_time") == pytest.approx(response * 60, rel=1e-13)
    assert not broken(check_laws(m, servers={"": servers}))


def test_telesto_mm25() -> None:
    """Telesto (002), recomputed: rho 0.805157131345688961, C 0.220314513293708327, E[n] 21.0393429308013363."""
    m = mmm(2498, mu_per_s=1 / 0.008059, cores=25)
    assert m.value("utilisation", "leading") == pytest.approx(0.80526, rel=1e-5)  # errata: with mu not rounded
    exact = mmm(0.805157131345688961 * 25, mu_per_s=1.0, cores=25)
    assert exact.value("queue_length") == pytest.approx(21.0393429308013363, rel=1e-13)
    assert erlang_c(0.805157131345688961 * 25, 25) == pytest.approx(0.220314513293708327, rel=1e-13)


def test_many_servers_and_saturation() -> None:
    assert np.isfinite(erlang_c(9_900, 10_000))
    assert erlang_c(0.5, 1) == pytest.approx(0.5)  # M/M/1: P(wait) = rho
    m = mmm([50, 100, 150], mu_per_s=50, cores=2)
    assert m.status == "saturated" and np.isnan(m.value("response_time", rate_per_s=100))
    assert m.value("throughput", rate_per_s=150) == 100


@pytest.mark.parametrize("change", [{"total_rate_per_s": -1}, {"mu_per_s": 0}, {"cores": 1, "nics": 2}, {"cores": 0}])
def test_bad_input(change: dict) -> None:
    with pytest.raises(InputError):
        mmm(**({"total_rate_per_s": 1, "mu_per_s": 2} | change))
