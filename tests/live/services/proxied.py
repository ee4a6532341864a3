"""nginx as a proxy in front of `queueing.py`, whose options it takes: PORT is nginx, PORT + 1 the service behind it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONF = """
daemon off; user root; pid {folder}/nginx.pid; worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off; keepalive_requests 10000000;
    client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
    uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
    upstream workers {{ server 127.0.0.1:{behind}; keepalive 256; keepalive_requests 10000000; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://workers; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}
}}
"""


def accepts(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


arguments = sys.argv[1:]
at = arguments.index("--port") + 1
port = int(arguments[at])
arguments[at] = str(port + 1)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with tempfile.TemporaryDirectory() as folder:
    service = subprocess.Popen([sys.executable, str(Path(__file__).with_name("queueing.py")), *arguments])
    while not accepts(port + 1):
        time.sleep(0.05)
    conf = Path(folder, "nginx.conf")
    conf.write_text(CONF.format(folder=folder, port=port, behind=port + 1))
    nginx = subprocess.Popen(["nginx", "-c", str(conf), "-e", "stderr"])
    try:
        nginx.wait()
    finally:
        nginx.terminate()
        service.terminate()
        nginx.wait()
        service.wait()
