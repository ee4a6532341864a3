"""Formulas in place of numbers: what they are worth, where they may stand, and what is said of those that are wrong."""

from __future__ import annotations

import pickle

import pytest

import sojourn as sj
from sojourn.errors import ModelError
from sojourn.model.unknown_parameters import replaced, unknowns

TEXT = """
[parameters]
base_s = 0.001
key_s = 0.0005
keys = 4
half = "keys / 2"
stores = { factor = "workload", value = "mixed", cases = { set = 1, mixed = 0.5 }, otherwise = 0 }
workers = 3
[stations.cpu]
servers = "workers"
[stations.disk]
[classes.user]
kind = "open"
rate_per_s = 10
[demands_s.cpu]
user = "base_s + key_s * keys"
[demands_s.disk]
user = { kind = "lognormal", mean = "base_s * (1 + stores)", scv = "half" }
"""


def model(**parameters: object) -> sj.Model:
    return sj.Model.parse(TEXT.replace("keys = 4", f"keys = {parameters.get('keys', 4)}"))


def test_a_formula_is_the_number_that_its_parameters_make() -> None:
    network = model().network
    assert network.service_s[:, 0] == pytest.approx([0.001 + 4 * 0.0005, 0.001 * 1.5])
    assert network.scv[1, 0] == pytest.approx(2.0)
    assert network.servers[0] == 3


def test_another_value_of_a_parameter_changes_all_formulas_that_need_it() -> None:
    it = replaced(model(), {"parameters.keys": 10, "parameters.stores.value": "set", "parameters.workers": 5})
    assert it.network.service_s[:, 0] == pytest.approx([0.006, 0.002])
    assert it.network.scv[1, 0] == pytest.approx(5.0)
    assert it.network.servers[0] == 5


def test_a_number_in_place_of_a_formula_stays() -> None:
    it = replaced(model(), {"demands_s.cpu.user": 0.02, "parameters.keys": 10})
    assert it.network.service_s[0, 0] == 0.02


def test_the_file_says_the_same_after_reading() -> None:
    it = model()
    assert sj.Model.parse(it.to_toml()) == it == pickle.loads(pickle.dumps(it))
    assert '"base_s + key_s * keys"' in it.to_toml()


def test_unknown_parameters_are_unknowns_and_formulas_are_none() -> None:
    it = sj.Model.parse(TEXT.replace("base_s = 0.001", "base_s = { free = true, start = 0.002 }"))
    assert list(unknowns(it)) == ["parameters.base_s"]
    assert it.network.service_s[0, 0] == pytest.approx(0.004)  # by the start


def test_a_sweep_takes_the_name_of_a_parameter() -> None:
    found = sj.sweep(model(), "keys", [1, 3])
    busy = found.frame.filter(metric="utilisation", station="cpu", **{"class": "user"})["value"]
    assert busy.to_list() == pytest.approx([10 * 0.0015 / 3, 10 * 0.0025 / 3])


@pytest.mark.parametrize(
    ("old", "new", "value", "place", "remedy"),
    [
        ("key_s * keys", "key_s * kees", "no parameter 'kees'", "demands_s.cpu.user", "keys"),
        ("base_s + key_s * keys", "base_s +", "base_s +", "demands_s.cpu.user", "write + - * /"),
        ("base_s + key_s * keys", "__import__('os')", "__import__", "demands_s.cpu.user", "write + - * /"),
        ('servers = "workers"', 'servers = "workers * u"', "u in 'workers * u'", "stations.cpu.servers", "a mean of demands_s"),
        ("base_s + key_s * keys", "base_s / (keys - 4)", "is inf", "demands_s.cpu.user", "keys = 4"),
        ("base_s + key_s * keys", "base_s - keys", "", "demands_s.cpu.user", "of at least 0"),
        ('half = "keys / 2"', 'half = "other"\nother = "half"', "other", "parameters.", "in a circle"),
        ("base_s = 0.001", "rate_per_s = 0.001", "'rate_per_s'", "parameters", "a load of the runs"),
        ("base_s = 0.001", "base_s = { fre = true }", "fre", "parameters.base_s", "{ free = true }"),
        ('servers = "workers"', 'servers = "workers / 10"', "workers / 10 = 0", "stations.cpu.servers", "at least 1"),
        ("base_s = 0.001", "u = 0.001", "'u'", "parameters", "other than u and n"),
        ("base_s = 0.001", "base_s = true", "True", "parameters.base_s", "give a number"),
        ('value = "mixed"', 'value = "odd"', "", "", ""),
        (", otherwise = 0", "", "", "", ""),
        ('value = "mixed", cases = { set = 1, mixed = 0.5 }, otherwise = 0', 'value = "odd", cases = { set = 1 }', "'odd'",
         "parameters.stores.value", "use set, or add otherwise"),
        ("cases = { set = 1, mixed = 0.5 }", 'cases = { set = "a" }', "{'set': 'a'}", "parameters.stores.cases", "give a number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, value: str, place: str, remedy: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    if not remedy:
        sj.Model.parse(text)  # allowed
        return
    with pytest.raises(ModelError) as error:
        sj.Model.parse(text, "shop.toml")
    assert value in str(error.value.value) and place in str(error.value.place) and remedy in error.value.remedy, (
        error.value
    )


def test_rates_by_the_number_present_are_those_of_the_law() -> None:
    """The universal scalability law (N. J. Gunther: Guerrilla Capacity Planning (2007), eq. 4.29)."""
    it = sj.Model.parse("""
[parameters]
work_s = 0.02
contention = 0.05
coherency = 0.001
[stations.cpu]
kind = "load_dependent"
rates_per_s = "n / (work_s * (1 + contention*(n-1) + coherency*n*(n-1)))"
[classes.user]
kind = "closed"
population = 30
""")
    n = 20
    assert it.network.rates[0][n - 1] == pytest.approx(n / (0.02 * (1 + 0.05 * 19 + 0.001 * 20 * 19)))
    x = sj.solve(it).value("throughput", cls="user")  # no think time: all 30 are always present
    assert x == pytest.approx(30 / (0.02 * (1 + 0.05 * 29 + 0.001 * 30 * 29)))


def test_arithmetic_needs_no_parameters() -> None:
    it = sj.Model.parse("""
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 50
[demands_s.cpu]
user = "0.02 / 4"
""")
    assert it.network.service_s[0, 0] == pytest.approx(0.005)


def test_a_factor_that_is_a_text_is_swept_by_its_name() -> None:
    found = sj.sweep(model(), "workload", ["get", "set"])
    times = found.frame.filter(metric="service_time", station="disk", **{"class": "user"})["value"]
    assert times.to_list() == pytest.approx([0.001, 0.002])


def test_whole_and_other_numbers_may_stand_in_one_list() -> None:
    assert set(sj.sweep(model(), "keys", [1, 2.5]).frame["keys"]) == {1.0, 2.5}
