"""What the verbs need: models, simulated runs, a fit, clusters with tables; made once, copied into each cell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.serve_bulletin import load

POOL = """name = "pool"
[stations.app]
servers = 2
[classes.user]
kind = "open"
rate_per_s = {rate}
[service_s.app]
user = {service}
"""
POLICY = 'policy = "{name}"\nobjective = "p99 < 300ms"\n[options]\n{options}\n[rails]\nmost = 20\n'
STUDY = """name = "short"
title = "A study as short as can be"
[system]
kind = "command"
command = ["python3", "-c", "{service}", "{{port}}"]
url = "http://127.0.0.1:8490/"
factors = {{ port = 8490 }}
[load]
for = "0.7s"
[[section]]
name = "ramp"
vary = {{ rate_per_s = [50, 100] }}
"""
SERVICE = (
    "import http.server as h, sys;"
    "A=type('A',(h.BaseHTTPRequestHandler,),{'protocol_version':'HTTP/1.1','log_message':lambda *a:None,"
    "'do_GET':lambda s:s.wfile.write(b'HTTP/1.1 200 OK\\\\r\\\\nContent-Length: 2\\\\r\\\\n\\\\r\\\\nok') and None});"
    "h.ThreadingHTTPServer.request_queue_size=256;"
    "h.ThreadingHTTPServer(('127.0.0.1',int(sys.argv[1])),A).serve_forever()"
)


def make(folder: Path) -> None:
    """Everything, in a new folder that every user may enter."""
    folder.chmod(0o755)
    files = folder / "files"
    files.mkdir()
    (files / "pool.toml").write_text(POOL.format(rate=60, service=0.02))
    (files / "shop.toml").write_text(POOL.format(rate=60, service="{ free = true }"))
    (files / "policy.toml").write_text(POLICY.format(name="hpa", options="target = 0.7"))
    (files / "fixed.toml").write_text(POLICY.format(name="fixed", options="workers = 9\nperiod_s = 0.3"))
    (files / "study.toml").write_text(STUDY.format(service=SERVICE))
    for rate in (20, 40, 60, 80):
        (folder / "one.toml").write_text(POOL.format(rate=rate, service=0.02))
        _sojourn(files, "simulate", str(folder / "one.toml"), "--until", "60s", "--out", f"runs/rate-{rate}")
    _sojourn(files, "fit", "runs", "--model", "shop.toml", "--out", "fitted.toml")
    Postgres(folder / "messages", keep=True).close()
    board = Postgres(folder / "bulletin", keep=True)
    try:
        load(board, 0.001, 1)
    finally:
        board.close()


def _sojourn(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "sojourn", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
