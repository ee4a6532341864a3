"""Credentials of a load: they come from the environment, and never reach a run folder, a record or a message.

The generator's configuration, which the manifest keeps, has only the name of an environment variable; the generator's
process inherits the variable and reads it. A credential that stands in a header as it is, is put into a variable here.
"""

from __future__ import annotations

import os
import re
from typing import Any

from sojourn.errors import InputError

OWN = "SOJOURN_HEADER_"
SECRET = re.compile(r"authorization|cookie|token|secret|password|api-?key", re.IGNORECASE)
TELLING = re.compile(r"auth|cookie|token|secret|pass|key|credential", re.IGNORECASE)  # names of variables
URL_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")
LEAST_SECRET = 6  # shorter values are not looked for: they stand in any text
FROM_ENV = re.compile(r"(?:(bearer|basic)-)?env:(.*)", re.DOTALL)


def header(name: str, value: str) -> dict[str, Any]:
    """A header as the generator has it: `env:NAME`, `bearer-env:NAME` (RFC 6750) and `basic-env:NAME` (`user:password`,
    RFC 7617) are read from the environment; what looks like a credential by the header's name (Authorization, Cookie,
    those with token, secret, password or api-key in them) is hidden there.

    Raises:
        InputError: a variable that is not set.
    """
    if match := FROM_ENV.fullmatch(value):
        credential = {"credential": match[1]} if match[1] else {}
        return {"name": name, "env": set_variable(match[2], f"header {name}"), **credential}
    if SECRET.search(name) and value.strip():
        return {"name": name, "env": hide(name, value)}
    return {"name": name, "value": value}


def authorization(bearer_env: str | None, basic_env: str | None) -> list[tuple[str, str]]:
    """The Authorization header of a bearer token, or of `user:password`, in a variable of the environment.

    Raises:
        InputError: both.
    """
    if bearer_env is not None and basic_env is not None:
        raise InputError("--bearer-token-env and --basic-auth-env", "load", "choose one")
    given = (("bearer", bearer_env), ("basic", basic_env))
    return [("Authorization", f"{kind}-env:{name}") for kind, name in given if name is not None]


def hidden(load: dict[str, Any]) -> list[str]:
    """The headers of a generator's configuration whose credentials stood in clear text."""
    targets = [target for lane in load["lanes"] for target in lane["targets"]]
    found = [header for target in targets for header in target.get("headers", ())]
    return sorted({header["name"] for header in found if header.get("env", "").startswith(OWN)})


def without_secrets(text: str) -> str:
    """`text` with `***` in place of what the environment has under a name that tells of a credential, and of the password of a
    URL."""
    telling = [value for name, value in os.environ.items() if TELLING.search(name) and len(value) >= LEAST_SECRET]
    for value in sorted(telling, key=len, reverse=True):  # a longer one may hold a shorter one
        text = text.replace(value, "***")
    return URL_PASSWORD.sub(r"\1***@", text)


def set_variable(name: str, place: str) -> str:
    """`name`, where the environment has it.

    Raises:
        InputError: it is not set, or empty.
    """
    if not os.environ.get(name, "").strip():
        raise InputError(f"environment variable {name} is not set", place, f"export {name} first")
    return name


def hide(name: str, value: str) -> str:
    """Puts a credential into a variable of this process's environment, named after what it is for; its name.

    Raises:
        InputError: a value that no environment can hold.
    """
    if "\0" in value:
        raise InputError("the value contains a zero byte", f"header {name}", "it must be one line")
    first = variable = OWN + re.sub(r"\W", "_", name).upper()
    number = 1
    while os.environ.get(variable, value) != value:
        number += 1
        variable = f"{first}_{number}"
    os.environ[variable] = value
    return variable
