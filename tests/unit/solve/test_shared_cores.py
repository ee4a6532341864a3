"""Guests on shared cores: against a chain written out by hand, a product form, the bounds of Lazowska et al., and a case worked by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import MethodRefused, ModelError
from sojourn.solve.special import shared_core_chain
from sojourn.solve.special.shared_core_chain import chain_bytes, fair_shares

FRONT_S, DATABASE_S, THINK_S = 0.03, 0.05, 0.2


def _model(
    users: int = 4, group: str = "", station: str = "", database_s: float | str = DATABASE_S, think_s: float = THINK_S
) -> sj.Model:
    said = f'"{database_s}"' if isinstance(database_s, str) else database_s
    return sj.Model.parse(
        f"""
[stations.front]
discipline = "ps"
{station}
[stations.database]
discipline = "ps"
{station}
[shared_cores.host]
stations = ["front", "database"]
{group}
[classes.user]
kind = "closed"
population = {users}
think_s = {think_s}
[demands_s.front]
user = {FRONT_S}
[demands_s.database]
user = {said}
"""
    )


def _by_hand(users: int, weights: tuple[float, float], cores: float) -> dict[str, float]:
    """The chain of (customers in the front guest, in the database's), one virtual CPU each, as a dense generator."""
    states = [(f, d) for f, d in itertools.product(range(users + 1), repeat=2) if f + d <= users]
    place = {state: i for i, state in enumerate(states)}
    q = np.zeros((len(states), len(states)))
    for (f, d), i in place.items():
        both = f > 0 and d > 0
        first = min(1.0, cores * weights[0] / sum(weights)) if both else min(1.0, cores)
        second = min(1.0, cores * weights[1] / sum(weights)) if both else min(1.0, cores)
        if both:  # what one does not need the other has
            first, second = max(first, min(1.0, cores - second)), max(second, min(1.0, cores - first))
        if f + d < users:
            q[i, place[f + 1, d]] += (users - f - d) / THINK_S
        if f:
            q[i, place[f - 1, d + 1]] += first / FRONT_S
        if d:
            q[i, place[f, d - 1]] += second / DATABASE_S
    q -= np.diag(q.sum(axis=1))
    p = np.linalg.lstsq(np.vstack([q.T, np.ones(len(states))]), np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    law = list(zip(states, p, strict=True))
    return {
        "throughput": sum(x * (users - f - d) for (f, d), x in law) / THINK_S,
        "front": sum(x * f for (f, _), x in law),
        "front.guest": sum(x for (f, _), x in law if f),
        "database.guest": sum(x for (_, d), x in law if d),
    }


@pytest.mark.parametrize(
    ("weights", "cores"), [((1.0, 1.0), 1.0), ((1.0, 3.0), 1.0), ((2.0, 1.0), 1.5), ((1.0, 1.0), 0.7)]
)
@pytest.mark.parametrize("users", [1, 2, 7])
def test_it_is_the_chain_written_out(users: int, weights: tuple[float, float], cores: float) -> None:
    found = sj.solve(_model(users, f"cores = {cores}\nweights = {list(weights)}"), method="shared-cores")
    right = _by_hand(users, weights, cores)
    assert found.value("throughput") == pytest.approx(right["throughput"], rel=1e-9)
    assert found.value("queue_length", station="front") == pytest.approx(right["front"], rel=1e-9)
    for name in ("front.guest", "database.guest"):
        assert found.value("utilisation", station=name) == pytest.approx(right[name], rel=1e-9)


def test_a_host_s_account_is_less_than_the_guest_s() -> None:
    found = sj.solve(_model(12))
    rate = found.value("throughput")
    assert found.value("utilisation", station="database") == pytest.approx(rate * DATABASE_S)  # the utilisation law
    assert found.value("utilisation", station="database.guest") > 1.5 * found.value("utilisation", station="database")


def test_alone_with_one_user_nobody_waits() -> None:
    assert sj.solve(_model(1)).value("throughput") == pytest.approx(1 / (THINK_S + FRONT_S + DATABASE_S))


def test_a_server_for_each_customer_is_processor_sharing_of_all() -> None:
    """Then each customer has the same share of the core: one queue with the sum of the demands, which has a product form (Lazowska et
    al. (1984), chapter 6; Bolch et al. (2006), chapter 8)."""
    found = sj.solve(_model(9, station="servers = 9"))
    whole = sj.Model(
        [sj.Queue("cpu", discipline="ps")], [sj.Closed("user", 9, THINK_S)], {"cpu": {"user": FRONT_S + DATABASE_S}}
    )
    assert found.value("throughput") == pytest.approx(sj.solve(whole, method="mva").value("throughput"), rel=1e-9)


def test_cores_of_their_own_are_a_plain_closed_network() -> None:
    found = sj.solve(_model(9, "together = 0"))
    plain = sj.Model(
        [sj.Queue("front", discipline="ps"), sj.Queue("database", discipline="ps")], [sj.Closed("user", 9, THINK_S)],
        {"front": {"user": FRONT_S}, "database": {"user": DATABASE_S}},
    )  # fmt: skip
    assert found.value("response_time") == pytest.approx(sj.solve(plain, method="mva").value("response_time"), rel=1e-9)


@pytest.mark.parametrize("together", [0, 1])
def test_full_cores_give_what_hypervisor_and_guests_leave(together: int) -> None:
    """The asymptotic bound (Lazowska et al. (1984), chapter 5): of each core 1/(1 + h) is for guests, and these use b of it at rest."""
    model = _model(150, f"overhead = 0.25\ntogether = {together}", "background = 0.05")
    found = sj.solve(model, method="shared-cores")
    left = (1 / 1.25 - 0.1) / (FRONT_S + DATABASE_S) if together else (1 / 1.25 - 0.05) / DATABASE_S
    assert found.value("throughput") == pytest.approx(left, rel=2e-3)
    assert found.value("throughput") <= left * (1 + 1e-9)


def test_times_may_depend_on_what_the_host_gives_to_a_guest() -> None:
    """u is the host's account: with one user the chain is 1/(Z + R), so that u = X D(u) by hand."""
    found = sj.solve(_model(1, database_s="0.05 * (1 + (1 - u)**2)"))
    rate = found.value("throughput")
    u = found.value("utilisation", station="database")
    assert u == pytest.approx(rate * 0.05 * (1 + (1 - u) ** 2), rel=1e-5)
    assert rate == pytest.approx(1 / (THINK_S + FRONT_S + 0.05 * (1 + (1 - u) ** 2)), rel=1e-5)


def test_shares_are_fair() -> None:
    """Worked by hand: 2 cores, by 1 : 1 : 6; the last wants only 1 of its 1.5, and the others share what is left."""
    shares = fair_shares(np.array([1.0, 1.0, 1.0]), (1.0, 1.0, 6.0), np.array(2.0))
    assert shares.tolist() == pytest.approx([0.5, 0.5, 1.0])


@pytest.mark.parametrize(
    ("group", "place"),
    [
        ("cores = 0", "cores"), ("weights = [1]", "weights"), ("weights = [1, 0]", "weights"), ("overhead = -1", "overhead"),
        ("together = 0.5", "together"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(group: str, place: str) -> None:
    with pytest.raises(ModelError, match=rf"shared_cores\.host\.{place}"):
        _model(2, group)


def test_other_methods_refuse_it_and_so_does_the_simulator() -> None:
    with pytest.raises(MethodRefused, match="share cores"):
        sj.solve(_model(), method="mva")
    with pytest.raises(ModelError, match="share cores"):
        sj.simulate(_model())


def test_a_file_says_what_the_model_says() -> None:
    model = _model(3, "weights = [1.0, 2.0]\noverhead = 0.1")
    assert sj.Model.parse(model.to_toml()) == model


def test_a_sweep_may_have_cores_together_and_apart() -> None:
    told = sj.sweep(_model(9), {"shared_cores.host.together": [0, 1]}, method="shared-cores").frame
    each = told.filter((told["metric"] == "throughput") & (told["station"] == "") & (told["class"] == ""))[
        "value"
    ].to_list()
    alone = [
        sj.solve(_model(9, f"together = {together}"), method="shared-cores").value("throughput") for together in (0, 1)
    ]
    assert each == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize(("together", "background"), [(1, 0.5), (0, 0.9)])
def test_guests_that_use_all_of_their_cores_at_rest_are_refused(together: int, background: float) -> None:
    """(1 + h) b: 1.2 (0.5 + 0.5) of one core together, and 1.2 0.9 of one core each."""
    model = _model(3, f"overhead = 0.2\ntogether = {together}", f"background = {background}")
    with pytest.raises(MethodRefused, match=r"shared_cores\.host use all of its cores"):
        sj.solve(model, method="shared-cores")


def test_memory_is_that_of_all_levels() -> None:
    """Two stations have 1, 2 and 3 states with 0, 1 and 2 customers: 1 2 + 2 3 numbers that lead upwards, and five matrices of 3 x 3."""
    assert chain_bytes(2, 2) == 8 * (2 + 6 + 5 * 9)


def test_points_that_do_not_fit_into_memory_at_once_are_solved_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {"demands_s.front.user": [0.01, 0.02, 0.03], "classes.user.population": [2, 5]}
    whole = sj.sweep(_model(), paths, method="shared-cores").frame["value"].to_list()
    monkeypatch.setattr(shared_core_chain, "PIECE_BYTES", 1.0)
    pieces = sj.sweep(_model(), paths, method="shared-cores").frame["value"].to_list()
    assert pieces == pytest.approx(whole, rel=1e-12, nan_ok=True)


def test_what_is_approximate_is_never_called_exact() -> None:
    """With `overhead`, the status was `approximate` and the line of `auto` said `exact`."""
    rough, right = sj.solve(_model(group="overhead = 0.2")), sj.solve(_model())
    assert rough.status == "approximate" and "exact" not in rough.message
    assert right.status == "ok" and "exact" in right.message


def test_a_refusal_offers_no_simulation_that_would_refuse_too() -> None:
    with pytest.raises(MethodRefused) as named:
        sj.solve(_model(think_s=0), method="shared-cores")
    assert "does not think" in str(named.value) and "use sj.simulate" not in str(named.value)
    with pytest.raises(MethodRefused) as auto:
        sj.solve(_model(think_s=0))
    assert "shared-cores: the class `user` does not think" in str(auto.value)
    assert "use sj.simulate" not in str(auto.value)


@pytest.mark.parametrize("name", ["front", '"front.guest"', "database"])
def test_a_group_has_no_row_of_another_name(name: str) -> None:
    """The row of the group took the place of the row of the station or the guest, which then had a wrong value."""
    with pytest.raises(ModelError, match="two rows would be called"):
        sj.Model.parse(_model().to_toml().replace("[shared_cores.host]", f"[shared_cores.{name}]"))


def test_weights_are_a_list() -> None:
    with pytest.raises(ModelError, match=r"shared_cores\.host\.weights.*2; give a list"):
        _model(2, "weights = 2")
