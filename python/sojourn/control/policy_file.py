"""A policy as a TOML file: which one, its options, objective and guard rails; or a Python function of one's own.

policy = "model"            # model, square-root, hpa, kpa, fixed, schedule, configurations, or "my_policy.py:decide"
objective = "p99 < 300ms"
[options]                   # keys of the policy
[rails]                     # keys of the guard rails; settings = ["workers", "cap"]: what may be changed
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sojourn.control.configurations import Configurations
from sojourn.control.decision import Decide
from sojourn.control.guard_rails import GuardRails
from sojourn.control.hpa import Hpa
from sojourn.control.kpa import Kpa
from sojourn.control.model_policy import ModelPolicy
from sojourn.control.simple_policies import Fixed, Schedule, SquareRoot
from sojourn.control.simulate import single_queue, tail_objective
from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.model import Model
from sojourn.toml_settings import TomlFile

POLICIES: dict[str, type[BaseModel]] = {
    "model": ModelPolicy, "square-root": SquareRoot, "hpa": Hpa, "kpa": Kpa, "fixed": Fixed, "schedule": Schedule,
    "configurations": Configurations,
}  # fmt: skip


class PolicyTable(BaseModel):
    """The file's own keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    policy: str
    objective: str = "p99 < 300ms"
    options: dict[str, Any] = Field(default_factory=dict)
    rails: GuardRails = GuardRails()


@dataclass(frozen=True)
class Policy:
    """`decide` with what it is judged by and kept within."""

    name: str
    decide: Decide
    objective: str
    rails: GuardRails


def read(path: Path | str, model: Model | None = None) -> Policy:
    """The policy of a file; what it does not say of the service is the model's. InputError names file, line, value and remedy."""
    file = TomlFile.read(path, "a policy file")
    table = file.checked(PolicyTable)
    name = Path(path).stem
    if ":" in table.policy:
        decide = _own(table.policy, Path(path).parent, file.at("policy"))
        return Policy(name, decide, tail_objective(table.objective).text, table.rails)
    if table.policy not in POLICIES:
        raise InputError(repr(table.policy), file.at("policy"), meant(table.policy, POLICIES))
    aim = tail_objective(table.objective)
    known = _of_model(table.policy, model, aim.q, aim.limit)
    kind: Any = POLICIES[table.policy]
    bounds = {"least": table.rails.least, "most": table.rails.most} if "least" in kind.model_fields else {}
    options = {**bounds, **known, **table.options}
    return Policy(name, file.checked(kind, options, ("options",)), aim.text, table.rails)


def _of_model(policy: str, model: Model | None, q: float, limit_s: float) -> dict[str, Any]:
    """What a policy has of the objective and of the model."""
    found: dict[str, Any] = {"q": q, "limit_s": limit_s} if policy == "model" else {}
    if model is not None and policy in ("model", "square-root"):
        _, service = single_queue(model)
        found["service_s"] = service.first
        if policy == "model":
            found["scv"] = service.scv
    return found


def _own(named: str, folder: Path, place: str) -> Decide:
    """A function of a user's file, FILE.py:NAME beside the policy file."""
    file, _, name = named.rpartition(":")
    path = folder / file
    spec = spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise InputError(named, place, f"there is no file {path}; give FILE.py:FUNCTION, beside the policy file")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"{type(error).__name__}: {error}", path, "correct the file; the file must be importable by itself"
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        have = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        raise InputError(named, place, meant(name, have))
    return found
