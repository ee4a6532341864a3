"""Manifests of autoscalers: numbers by Erlang's formula, accepted by published schemas, and a simulated policy that does what they say."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import numpy as np
import pytest
import yaml
from jsonschema import Draft202012Validator
from plan.test_plan_fit import fitted_one
from scipy.optimize import brentq
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.control import Load, simulate
from sojourn.control.hpa import average_value
from sojourn.control.policy_file import read
from sojourn.errors import InputError, ObjectiveMissed
from sojourn.plan.scaling_manifest import manifest
from sojourn.plan.scaling_rule import ScalingRule, scaling_rule

SERVICE_S, LIMIT_S = 0.05, 0.3
POOL = sj.Model(
    [sj.Queue("pool", servers=12)], [sj.Open("request", 200.0)], service_s={"pool": {"request": SERVICE_S}}, name="pool"
)
VARY = {"stations.pool.servers": range(1, 41)}
PAGE = Path(__file__).resolve().parents[3] / "docs/howto/plan-capacity.md"


TEXT, COUNT = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 0}


def fields(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


TRIGGERS = [
    fields(
        {
            "type": {"const": "prometheus"},
            "metadata": fields({"serverAddress": TEXT, "query": TEXT, "threshold": TEXT}),
        },
        metricType={"enum": ["AverageValue", "Value"]},
    ),
    fields(
        {"type": {"const": "cpu"}, "metadata": fields({"value": TEXT})},
        metricType={"enum": ["Utilization", "AverageValue"]},
    ),
]
# KEDA documentation 2.16: Concepts, ScaledObject specification; Scalers, Prometheus and CPU: of their fields those that we write
SCALED_OBJECT = fields(
    {
        "apiVersion": {"const": "keda.sh/v1alpha1"},
        "kind": {"const": "ScaledObject"},
        "metadata": fields({"name": TEXT}),
        "spec": fields(
            {"scaleTargetRef": fields({"name": TEXT}), "triggers": {"type": "array", "minItems": 1, "items": {"oneOf": TRIGGERS}}},
            minReplicaCount=COUNT, maxReplicaCount=COUNT,
            advanced=fields({"horizontalPodAutoscalerConfig": fields({"behavior": {"type": "object"}})}),
        ),
    }
)  # fmt: skip


def above(rate: float, m: int) -> float:
    """P(response > limit) of M/M/m (Gross et al., Fundamentals of Queueing Theory, 4th ed. (2008), eq. 2.41), a sum in place of ours."""
    a, mu = rate * SERVICE_S, 1 / SERVICE_S
    terms = [a**k / math.factorial(k) for k in range(m)]
    last = a**m / math.factorial(m) * m / (m - a)
    waits, drain = last / (sum(terms) + last), m * mu - rate
    both = (drain * math.exp(-mu * LIMIT_S) - mu * math.exp(-drain * LIMIT_S)) / (drain - mu)
    return (1 - waits) * math.exp(-mu * LIMIT_S) + waits * both


def most(m: int) -> float:
    return float(brentq(lambda rate: above(rate, m) - 0.01, 0.01, m / SERVICE_S * (1 - 1e-6) - 1e-6))


@pytest.fixture(scope="module")
def rule() -> ScalingRule:
    return scaling_rule(POOL, VARY, "p99 < 300ms", "40..200")


def test_numbers_are_erlangs(rule: ScalingRule) -> None:
    least = next(m for m in range(2, 41) if most(m) >= 40)
    enough = next(m for m in range(2, 41) if most(m) >= 200)
    a_replica = min(most(m) / m for m in range(least, enough + 1)) / 1.1
    assert rule.least == least and rule.most == math.ceil(200 / rule.rate_per_s)
    assert rule.rate_per_s == pytest.approx(a_replica, rel=2e-3)
    assert rule.utilisation == pytest.approx(a_replica * SERVICE_S, rel=2e-3) and rule.station == "pool"


@pytest.mark.parametrize("more", [{}, {"metric": "http_requests_per_second"}])
def test_an_hpa_is_accepted_by_the_published_schema(rule: ScalingRule, more: dict[str, str]) -> None:
    text = manifest(rule, "hpa", "shop", **more)
    table = yaml.safe_load(text)
    kubernetes_validate.validate(table, kubernetes_validate.latest_version(), strict=True)
    (measured,) = table["spec"]["metrics"]
    if more:
        assert float(measured["pods"]["target"]["averageValue"][:-1]) / 1000 == pytest.approx(rule.rate_per_s, abs=1e-3)
    else:
        assert measured["resource"]["target"]["averageUtilization"] == math.floor(100 * rule.utilisation)
    wrong = yaml.safe_load(text.replace("minReplicas", "minReplica"))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("more", [{}, {"query": "sum(rate(requests_total[1m]))", "server": "http://prometheus:9090"}])
def test_a_scaled_object_has_the_documented_fields(rule: ScalingRule, more: dict[str, str]) -> None:
    table = yaml.safe_load(manifest(rule, "keda", "shop", **more))
    Draft202012Validator(SCALED_OBJECT).validate(table)
    behaviour = table["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert (
        behaviour == yaml.safe_load(manifest(rule, "hpa"))["spec"]["behavior"]
    )  # KEDA hands it to an HPA, whose schema is checked above


@pytest.mark.parametrize("rate", [45.0, 90.0, 140.0, 200.0])
def test_the_simulated_policy_runs_what_the_manifest_says(rule: ScalingRule, rate: float, tmp_path: Path) -> None:
    """The rule of Kubernetes on the numbers of the YAML: ceil(busy/target) within the bounds, or what is off by the tolerance at most."""
    spec = yaml.safe_load(manifest(rule, "hpa"))["spec"]
    target = spec["metrics"][0]["resource"]["target"]["averageUtilization"] / 100
    file = tmp_path / "policy.toml"
    file.write_text(manifest(rule, "policy"))
    policy = read(file)
    assert (
        policy.decide.target == target
        and policy.decide.down.stabilisation_s == spec["behavior"]["scaleDown"]["stabilizationWindowSeconds"]
    )  # type: ignore[attr-defined]
    assert (policy.rails.least, policy.rails.most) == (spec["minReplicas"], spec["maxReplicas"])
    run = simulate(
        policy.decide, POOL, Load("constant", (rate,) * 1500), seed=3, objective="p99 < 300ms", rails=policy.rails, workers=rule.most
    )  # fmt: skip
    busy = rate * SERVICE_S
    bounded = min(max(math.ceil(busy / target), rule.least), rule.most)
    late = [one.workers for one in run.log[len(run.log) // 2 :]]
    low, high = (
        math.floor(busy / target / 1.1),
        math.ceil(busy / target / 0.9) + 1,
    )  # by the tolerance, and noise of 15 s
    assert all(low <= workers <= high or workers == bounded for workers in late), (late, low, high)
    assert run.figures.late_requests <= 0.01


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda rule: manifest(rule, "vpa"), "hpa, keda, policy"),
        (lambda rule: manifest(rule, "hpa", "My_Shop"), "name of a Deployment"),
        (lambda rule: manifest(rule, "hpa", query="x", server="y"), "--manifest-kind keda"),
        (lambda rule: manifest(rule, "keda", query="x"), "needs both"),
        (lambda rule: scaling_rule(POOL, VARY, "p99 < 300ms", None), "--load"),
        (lambda rule: scaling_rule(POOL, {"stations.pool.servers": [1, 2.5]}, "p99 < 300ms", "40"), "whole numbers"),
        (lambda rule: scaling_rule(POOL, {}, "p99 < 300ms", "40"), "vary one number"),
    ],
)  # fmt: skip
def test_refusals(rule: ScalingRule, call: Callable[[ScalingRule], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call(rule)


def test_a_load_that_no_number_carries() -> None:
    with pytest.raises(ObjectiveMissed, match="carry"):
        scaling_rule(POOL, {"stations.pool.servers": [1, 2]}, "p99 < 300ms", "100")


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    POOL.write("pool.toml")
    lines = re.findall(r"^    (sojourn plan pool.toml .* --manifest-kind .*)$", PAGE.read_text(), re.M)
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        done = CliRunner().invoke(command_line(), words[1:])
        assert done.exit_code == 0 and done.output.startswith("# sojourn plan: p99 < 300ms from 40.0 /s"), done.output


def test_every_number_that_kedas_rule_may_leave_keeps_the_objective(rule: ScalingRule) -> None:
    """By Erlang's formula, whatever number runs before: KEDA gives an HPA the total, which acts beyond its tolerance."""
    more = {"query": "sum(rate(requests_total[1m]))", "server": "http://prometheus:9090"}
    (trigger,) = yaml.safe_load(manifest(rule, "keda", **more))["spec"]["triggers"]
    threshold = float(trigger["metadata"]["threshold"])
    assert threshold <= rule.rate_per_s
    for rate in np.linspace(41.3, 199.7, 33).tolist():
        for before in range(rule.least, rule.most + 1):
            replicas = min(max(average_value(rate, threshold, before), rule.least), rule.most)
            assert above(rate, replicas) <= 0.01 * 1.01, (rate, before, replicas)


def test_of_a_fit_the_lower_end_counts_and_what_was_not_measured_is_said() -> None:
    fitted = fitted_one()
    told, plain = (scaling_rule(one, {"cores": [5, 6]}, "mean < 30ms", "100") for one in (fitted, fitted.model))
    assert told.draws > 0 and plain.draws == 0
    assert told.least == plain.least == 5 and told.rate_per_s < plain.rate_per_s
    assert "lower end of the 90 % interval" in manifest(told, "hpa") and "OUTSIDE" not in manifest(told, "hpa")
    beyond = scaling_rule(fitted, {"cores": range(1, 40)}, "mean < 30ms", "100..900")
    assert beyond.inside is False and "# OUTSIDE what was measured" in manifest(beyond, "keda")
