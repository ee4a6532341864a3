"""A scaling rule as a manifest: HorizontalPodAutoscaler (autoscaling/v2), KEDA ScaledObject, or the policy `hpa` of `sojourn control`.

Fields: Kubernetes API reference, HorizontalPodAutoscaler v2; KEDA documentation 2.16, ScaledObject specification, Prometheus and CPU
scalers.
"""

from __future__ import annotations

import math
import re
from typing import Any

import tomli_w
import yaml

from sojourn.errors import InputError
from sojourn.plan.scaling_rule import TOLERANCE, ScalingRule
from sojourn.units import per_second, percent

KINDS = ("hpa", "keda", "policy")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # RFC 1123 label


def manifest(
    rule: ScalingRule, kind: str, name: str = "service", *, metric: str = "", query: str = "", server: str = ""
) -> str:
    """`name` of the Deployment. `metric`: of an HPA, name of a metric of pods that is the requests a second; without one it is CPU
    utilisation. `query` at the Prometheus `server`: of KEDA, requests a second of all replicas; without one CPU utilisation.

    Raises:
        InputError: another kind, a name that Kubernetes does not take, or options of another kind.
    """
    if kind not in KINDS:
        raise InputError(repr(kind), "--manifest-kind", f"give one of {', '.join(KINDS)}")
    if not NAME.fullmatch(name):
        raise InputError(
            repr(name), "--deployment-name", "give the name of a Deployment: lower-case letters, digits and -"
        )
    if bool(query) != bool(server) or (query and kind != "keda"):
        raise InputError(
            query or server,
            "--prometheus-query, --prometheus-server",
            "both are of --manifest-kind keda, and it needs both",
        )
    if metric and kind != "hpa":
        raise InputError(metric, "--pod-metric", "it is of --manifest-kind hpa")
    if kind == "policy":
        return _reason(rule, by_requests=False) + tomli_w.dumps(_policy(rule))
    table = _hpa(rule, name, metric) if kind == "hpa" else _keda(rule, name, query, server)
    text = yaml.safe_dump(table, sort_keys=False, default_flow_style=False, allow_unicode=True)
    return _reason(rule, by_requests=bool(metric or query)) + text


def target_percent(rule: ScalingRule) -> int:
    """Of CPU, rounded down, at least 1."""
    return max(math.floor(100 * rule.utilisation + 1e-9), 1)


def _thousandths(rule: ScalingRule) -> int:
    """Requests a second of a replica, rounded down."""
    return max(math.floor(1000 * rule.rate_per_s), 1)


def _reason(rule: ScalingRule, by_requests: bool) -> str:
    """As a comment."""
    end = f"lower end of the {percent(rule.level, 0)} interval" if rule.draws else "by the model, which has no interval"
    aim = (
        f"{per_second(rule.rate_per_s)} a replica"
        if by_requests
        else f"{target_percent(rule)} % of {rule.station}, {per_second(rule.rate_per_s)} a replica"
    )
    lines = [
        f"sojourn plan: {rule.objective} from {per_second(rule.lowest_per_s)} to {per_second(rule.highest_per_s)}",
        f"{rule.least} to {rule.most} of {rule.factor}; {aim} ({end})",
        f"less {percent(TOLERANCE, 0)}, by which an HPA lets its metric be off before it acts",
        f"scale down: the most that was asked for in the last {rule.scale_down_s:g} s is kept",
    ]
    if rule.inside is False:
        lines.append("OUTSIDE what was measured: measure near the highest load before you rely on it")
    if not by_requests:
        lines.append(
            f"utilisation is of the CPU that a pod requests: right where that is its share of {rule.station} in the model"
        )
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)


def _behaviour(rule: ScalingRule) -> dict[str, Any]:
    return {"scaleDown": {"stabilizationWindowSeconds": round(rule.scale_down_s)}}


def _hpa(rule: ScalingRule, name: str, metric: str) -> dict[str, Any]:
    if metric:
        value = {"type": "AverageValue", "averageValue": f"{_thousandths(rule)}m"}
        measured: dict[str, Any] = {"type": "Pods", "pods": {"metric": {"name": metric}, "target": value}}
    else:
        target = {"type": "Utilization", "averageUtilization": target_percent(rule)}
        measured = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": rule.least,
            "maxReplicas": rule.most,
            "metrics": [measured],
            "behavior": _behaviour(rule),
        },
    }


def _keda(rule: ScalingRule, name: str, query: str, server: str) -> dict[str, Any]:
    if query:
        told = {"serverAddress": server, "query": query, "threshold": f"{_thousandths(rule) / 1000:g}"}
        trigger: dict[str, Any] = {"type": "prometheus", "metricType": "AverageValue", "metadata": told}
    else:
        trigger = {"type": "cpu", "metricType": "Utilization", "metadata": {"value": str(target_percent(rule))}}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"name": name},
            "minReplicaCount": rule.least,
            "maxReplicaCount": rule.most,
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": _behaviour(rule)}},
            "triggers": [trigger],
        },
    }


def _policy(rule: ScalingRule) -> dict[str, Any]:
    """For `sojourn control`: the same numbers."""
    return {
        "policy": "hpa",
        "objective": rule.objective,
        "options": {"target": target_percent(rule) / 100, "down": {"stabilisation_s": float(round(rule.scale_down_s))}},
        "rails": {"least": rule.least, "most": rule.most},
    }
