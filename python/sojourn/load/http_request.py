"""HTTP requests as a user says them, and as the generator's targets: one, or a weighted list from a file.

The file is TOML, like models and studies: bodies stand in it as they are, over several lines, and it can be commented.

    [[request]]
    name = "search"                     # the class in records and metrics; default: method and path
    path = "/search?q={choice:a|b}"     # below the URL of the command line, or url = "http://host/path"
    weight = 3                          # default 1
    method = "POST"                     # default GET
    headers = { Accept = "text/html", Authorization = "env:TOKEN" }
    body = '{"page": {int:1-9}}'        # "@FILE": beside this file
    template = true                     # placeholders are drawn; default false
    status = [200, 304]                 # default: --ok-status
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.files.reading import read_toml
from sojourn.load.credentials import header

KEYS = {"name", "path", "url", "weight", "method", "headers", "body", "template", "status"}
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class HttpRequest:
    """One kind of request: `url`, or a path (begins with `/`) below the URL of the load; `weight` > 0; `body` text, or
    `@FILE`; `status` those that a good answer may have, None: as the load says."""

    url: str
    method: str = "GET"
    headers: Pairs = ()
    body: str | None = None
    template: bool = False
    weight: float = 1.0
    name: str | None = None
    status: Sequence[int] | None = None
    folder: Path = field(default=Path())

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", self.method.upper())  # there is no other post than POST

    def target(self, base: str | None = None) -> dict[str, Any]:
        """As the generator has it.

        Raises:
            InputError: a path without a base URL.
        """
        target: dict[str, Any] = {"url": self.url, "weight": self.weight, "class": self.name or self._label()}
        if self.url.startswith("/"):
            if base is None:
                raise InputError(repr(self.url), "request", "give the URL that the path belongs to, or write url = …")
            target["url"] = base + self.url
        if self.method != "GET":
            target["method"] = self.method
        if self.headers:
            target["headers"] = [header(name, value) for name, value in self.headers]
        if self.body is not None:
            target["body"] = self._body()
        if self.template:
            target["template"] = True
        if self.status is not None:
            target["status"] = statuses(self.status)
        return target

    def _label(self) -> str:
        return self.url if self.method == "GET" else f"{self.method} {self.url}"

    def _body(self) -> dict[str, str]:
        assert self.body is not None
        if self.body.startswith("@"):
            return {"file": str(self.folder / self.body[1:])}
        return {"text": self.body}

    def with_type(self) -> HttpRequest:
        """With `Content-Type: application/json` where the body is a file named so and no header says otherwise."""
        named = any(name.lower() == "content-type" for name, _ in self.headers)
        if named or self.body is None or not (self.body.startswith("@") and self.body.endswith(".json")):
            return self
        return replace(self, headers=(*self.headers, ("Content-Type", "application/json")))


def targets(urls: list[str], requests: Iterable[HttpRequest] | None, common: HttpRequest) -> list[dict[str, Any]]:
    """`common` for each of `urls`, or `requests` with the headers of `common` where they have none of that name.

    Raises:
        InputError: several URLs beside requests, or a path without a URL.
    """
    if requests is None:
        return [replace(common, url=url).with_type().target() for url in urls]
    if len(urls) > 1:
        raise InputError(f"{len(urls)} URLs", "--request-mix", "give a URL that the paths belong to, or none")
    if common.method != "GET" or common.body is not None or common.template:
        raise InputError("a method, body or template", "--request-mix", "write them into the file")
    base = urls[0].rstrip("/") if urls else None
    return [replace(one, headers=merged(one.headers, common.headers)).with_type().target(base) for one in requests]


def merged(own: Pairs, common: Pairs) -> Pairs:
    """`own`, and those of `common` whose names are not among them."""
    names = {name.lower() for name, _ in own}
    return (*own, *(pair for pair in common if pair[0].lower() not in names))


def read_requests(path: Path) -> list[HttpRequest]:
    """The requests of a TOML file (see above).

    Raises:
        InputError: no such file, no TOML, no request, an unknown key, or a value of the wrong type.
    """
    found, _ = read_toml(path, "give a file of requests that can be read")
    listed = found.get("request")
    if set(found) != {"request"} or not isinstance(listed, list) or not listed:
        raise InputError("no list of requests", path, "write each under [[request]]")
    return [_request(one, f"{path}: request {number}", path.parent) for number, one in enumerate(listed, 1)]


def _request(found: Mapping[str, Any], place: str, folder: Path) -> HttpRequest:
    if unknown := set(found) - KEYS:
        raise InputError(f"unknown key {sorted(unknown)[0]}", place, f"use {', '.join(sorted(KEYS))}")
    if ("path" in found) == ("url" in found):
        raise InputError("path and url" if "url" in found else "no path", place, "give either path or url")
    values = dict(found)
    values["url"] = values.pop("path", None) or values.pop("url", None)
    if "path" in found and not str(found["path"]).startswith("/"):
        raise InputError(repr(found["path"]), f"{place}: path", "begin it with /")
    for key, kinds in TYPES.items():
        if key in values and (
            not isinstance(values[key], kinds) or (isinstance(values[key], bool) and bool not in kinds)
        ):
            raise InputError(repr(values[key]), f"{place}: {key}", f"give {kinds[0].__name__}")
    headers = values.pop("headers", {})
    if not all(isinstance(value, str) for value in headers.values()):
        raise InputError(repr(headers), f"{place}: headers", "give each value as text")
    status = values.pop("status", None)
    listed = [status] if isinstance(status, int) else status
    return HttpRequest(**values, headers=tuple(headers.items()), status=listed, folder=folder)


TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,), "url": (str,), "weight": (float, int), "method": (str,), "headers": (dict,), "body": (str,),
    "template": (bool,), "status": (list, int),
}  # fmt: skip


def statuses(listed: Sequence[int]) -> int | list[int]:
    """As the generator has them: a number alone, or a list."""
    return listed[0] if len(listed) == 1 else list(listed)


def pairs(headers: list[str] | None) -> list[tuple[str, str]]:
    """Names and values of `Name: value`.

    Raises:
        InputError: one without a colon, or without a name; its value is not told, it may be a secret.
    """
    found = []
    for text in headers or ():
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise InputError("a header without a name and a colon", "--header", "write 'Name: value'")
        found.append((name.strip(), value.strip(" \t")))
    return found


def status_list(text: str) -> list[int]:
    """`200,201` as numbers.

    Raises:
        InputError: anything else.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(repr(text), "--ok-status", "give statuses like 200 or 200,201") from None
