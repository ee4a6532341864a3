"""The routes of the workbench, as an ASGI application: pages, and answers as JSON. What is computed is computed in worker processes."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
from anyio import CapacityLimiter, to_process, to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from sojourn.compare.comparison import names_of
from sojourn.errors import InputError, SojournError
from sojourn.files.reading import read_text
from sojourn.files.writing import NEW
from sojourn.report.vega_script import vega_script
from sojourn.ui import fit_answers, model_answers, plan_answers, request_bodies, run_answers, study_answers
from sojourn.ui.guard import MOST_BODY_BYTES, AccessGuard, AccessSecrets, BodyTooLarge
from sojourn.ui.live_run import LiveRun, looked
from sojourn.ui.model_answers import error_table
from sojourn.ui.request_bodies import read_body
from sojourn.ui.work_folder import WorkFolder
from sojourn.ui.worker import in_worker

WORKERS, LONGEST_S = 2, 20.0
MOST_FITS = 20  # of which a page says what runs they are of
WARM_S = 120.0
EVERY_S, LONGEST_STREAM, MOST_STREAMS = 1.0, 3600, 8  # of events: a page that follows for longer asks anew
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
Answer = Callable[[Request], Awaitable[Response]]


class Workbench:
    """What the routes have in common. `write`: whether files may be made in the folder."""

    def __init__(self, folder: WorkFolder, write: bool = False, longest_s: float = LONGEST_S) -> None:
        self.folder, self.write, self.longest_s = folder, write, longest_s
        self._quick: CapacityLimiter | None = None  # both are made where an event loop runs
        self._slow: CapacityLimiter | None = None
        self._streams = 0

    async def computed(self, function: Any, *arguments: Any, slow: bool = False) -> Response:
        """What `function` answers in a worker process; one that takes too long is ended, and said to. What is slow waits for its like, not
        a slider for it."""
        self._quick, self._slow = self._quick or CapacityLimiter(WORKERS), self._slow or CapacityLimiter(WORKERS)
        limiter = self._slow if slow else self._quick
        remedy, value = "give smaller numbers", f"no answer within {self.longest_s:g} s"
        try:
            with anyio.move_on_after(self.longest_s):
                found = await to_process.run_sync(in_worker, function, *arguments, cancellable=True, limiter=limiter)
                return told(found, 422 if "error" in found else 200)
        except anyio.BrokenWorkerProcess:
            value = "the process that computed it was ended: it had no memory, or met a damaged file"
        return told({"error": {"value": value, "place": "", "remedy": remedy, "line": None}}, 503)

    async def kept_warm(self) -> None:
        """Two worker processes, so that a slider that moves while a band is computed need not wait for one that starts: what they import
        takes a second or more, and anyio ends a process that nobody asked for five minutes."""
        while True:
            async with anyio.create_task_group() as group:
                for slow in (False, True):
                    group.start_soon(partial(self.computed, run_answers.rows, {}, [], slow=slow))
            await anyio.sleep(WARM_S)

    async def index(self, _: Request) -> Response:
        return _page("index.html")

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "vega.js":
            script = await to_thread.run_sync(vega_script)
            return Response(script, media_type=KINDS["js"], headers={"cache-control": "private, max-age=3600"})
        return _page(name) if name in page_files() else told({"error": {"value": "no such file"}}, 404)

    async def contents(self, _: Request) -> Response:
        found = await to_thread.run_sync(self.folder.contents)
        return told({**asdict(found), "folder": self.folder.root.name, "write": self.write})

    async def fits(self, _: Request) -> Response:
        names = (await to_thread.run_sync(self.folder.contents)).fitted[:MOST_FITS]
        return await self.computed(fit_answers.fits, {name: str(self.folder.inside(name)) for name in names})

    async def rows(self, request: Request) -> Response:
        paths, refused = {}, []
        for name in (await _body(request, request_bodies.RunRowsRequest)).names:
            try:
                paths[name] = str(self.folder.run(name))
            except InputError as error:
                refused.append({"name": name, "error": error_table(error)})
        return await self.computed(run_answers.rows, paths, refused)

    async def report(self, request: Request) -> Response:
        wanted = await _body(request, request_bodies.ReportRequest)
        return await self.computed(run_answers.document, [*self._runs(wanted.names).values()], wanted.width, slow=True)

    async def compare(self, request: Request) -> Response:
        wanted = await _body(request, request_bodies.CompareRequest)
        sides = [[*self._runs(names).values()] for names in (wanted.a, wanted.b)]
        return await self.computed(
            run_answers.compared, *sides, _sides_names(self.folder.root, wanted.a, wanted.b), wanted.width, slow=True
        )

    async def live(self, request: Request) -> Response:
        """Server-sent events of a run that is being recorded, one a second, until it has ended."""
        run = LiveRun(self.folder.run(request.query_params.get("name", "")))
        return self._stream(partial(looked, run))

    async def study(self, request: Request) -> Response:
        """The same of a study, as long as it runs."""
        name = request.query_params.get("name", "")
        path = self.folder.study(name)
        return self._stream(lambda: study_answers.looked(str(path), self.folder.runs_of_study(name)))

    def _stream(self, look: Callable[[], dict[str, Any]]) -> Response:
        if self._streams >= MOST_STREAMS:
            raise InputError(f"{MOST_STREAMS} pages follow a run", "live", "close one of them")
        return StreamingResponse(self._events(look), media_type="text/event-stream")

    async def _events(self, look: Callable[[], dict[str, Any]]) -> AsyncIterator[str]:
        self._streams += 1
        try:
            for _ in range(LONGEST_STREAM):
                found = await to_thread.run_sync(look)
                yield f"data: {as_json(found)}\n\n"
                if not found["live"]:
                    return
                await anyio.sleep(EVERY_S)
        finally:
            self._streams -= 1

    async def file(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        path = self.folder.inside(name)
        if not name.endswith(".toml"):
            raise InputError("no model file", name, "give the name of a file that ends in .toml")
        return told({"text": await to_thread.run_sync(lambda: read_text(path, "give a model file"))})

    async def model(self, request: Request) -> Response:
        wanted = await _body(request, request_bodies.ModelTextRequest)
        return await self.computed(model_answers.described, wanted.text, _plain(wanted.name))

    async def curves(self, request: Request) -> Response:
        return await self._curves(request, model_answers.curves)

    async def band(self, request: Request) -> Response:
        return await self._curves(request, model_answers.band, slow=True)

    async def _curves(self, request: Request, function: Any, slow: bool = False) -> Response:
        it = await _body(request, request_bodies.CurvesRequest)
        measured = [point.model_dump() for point in it.measured]
        objectives = [one.model_dump() for one in it.objectives]
        asked_of = (it.text, _plain(it.name), it.settings, it.x, it.width, measured, it.most, objectives)
        return await self.computed(function, *asked_of, slow=slow)

    async def plan(self, request: Request) -> Response:
        it = await _body(request, request_bodies.PlanRequest)
        asked_of = (it.text, _plain(it.name), it.settings, it.vary, it.objective, it.cost, it.width)
        return await self.computed(plan_answers.planned, *asked_of, slow=True)

    async def changed(self, request: Request) -> Response:
        it = await _body(request, request_bodies.ModelSettingsRequest)
        return await self.computed(model_answers.changed_text, it.text, _plain(it.name), it.settings)

    async def save(self, request: Request) -> Response:
        if not self.write:
            raise InputError("this workbench only reads", "save", "start it with sojourn ui --allow-saving")
        it = await _body(request, request_bodies.SaveModelRequest)
        path = self.folder.new_file(it.name)
        await to_thread.run_sync(_write_new, path, it.text)
        return told({"name": it.name})

    def _runs(self, names: list[str]) -> dict[str, str]:
        return {name: str(self.folder.run(name)) for name in names}


def workbench(folder: WorkFolder, secret: AccessSecrets, write: bool = False) -> ASGIApp:
    """The application, guarded; `secret`: who may ask, and where it lies."""
    it = Workbench(folder, write)
    gets = {
        "api/folder": it.contents,
        "api/file": it.file,
        "api/fits": it.fits,
        "api/live": it.live,
        "api/study": it.study,
        "page/{name}": it.asset,
    }
    posts = {
        "api/rows": it.rows, "api/report": it.report, "api/compare": it.compare, "api/model": it.model, "api/curves": it.curves,
        "api/band": it.band, "api/plan": it.plan, "api/changed": it.changed, "api/save": it.save,
    }  # fmt: skip

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(it.kept_warm)
            yield
            group.cancel_scope.cancel()

    routes = [
        Route("/", it.index),
        *(Route(f"/{path}", _safe(one)) for path, one in gets.items()),
        *(Route(f"/{path}", _safe(one), methods=["POST"]) for path, one in posts.items()),
    ]
    return AccessGuard(Starlette(routes=[Mount(secret.root.rstrip("/"), routes=routes)], lifespan=lifespan), secret)


def _safe(route: Answer) -> Answer:
    """Errors of ours, and of files, as JSON."""

    async def answer(request: Request) -> Response:
        try:
            return await route(request)
        except SojournError as error:
            return told({"error": error_table(error)}, 422)
        except BodyTooLarge:
            return told({"error": {"value": f"more than {MOST_BODY_BYTES // 1024} KiB"}}, 413)
        except ClientDisconnect:
            return Response(status_code=499)
        except OSError as error:
            remedy = "look at the folder, then reload the page"
            return told(
                {"error": {"value": error.strerror or str(error), "place": "", "remedy": remedy, "line": None}}, 422
            )

    return answer


async def _body(request: Request, kind: type[request_bodies.SomeBody]) -> request_bodies.SomeBody:
    return read_body(await request.body(), kind)


def told(found: Any, status: int = 200) -> Response:
    """As JSON, in ASCII: names of files may be no UTF-8. What is not finite is null."""
    return Response(as_json(found), status, media_type="application/json")


def as_json(found: Any) -> str:
    return json.dumps(_finite(found), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value if isinstance(value, str | int | None) else str(value)


def _sides_names(root: Path, a: list[str], b: list[str]) -> tuple[str, str]:
    """Of two runs their own names, of two series those of their folders."""
    two = len(a) == len(b) == 1
    return names_of(*(root / names[0] if two else (root / names[0]).parent for names in (a, b)))


def _plain(name: str) -> str:
    """The last part of a name, for errors that begin with it."""
    return name.rpartition("/")[2].replace(":", "_")


def _write_new(path: Any, text: str) -> None:
    import os

    with open(os.open(path, NEW, 0o666), "w", encoding="utf-8") as file:
        file.write(text)


@cache
def page_files() -> frozenset[str]:
    """What a browser may load, by name: nothing else of the package is given."""
    return frozenset(
        one.name for one in files("sojourn.ui").joinpath("page").iterdir() if one.name.endswith((".js", ".css"))
    )


def _page(name: str) -> Response:
    text = files("sojourn.ui").joinpath("page", name).read_text(encoding="utf-8")
    return Response(text, media_type=KINDS[name.rpartition(".")[2]])
