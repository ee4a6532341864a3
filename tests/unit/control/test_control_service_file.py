"""A service of one's own under control: its series, the windows made of them, its commands, and what a mistake in its file says."""

from __future__ import annotations

import http.server
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.control.live_metrics import LiveMetrics, RestartedError
from sojourn.control.service_metrics import ServiceMetrics, ServiceReading
from sojourn.errors import InputError, LabError, ServiceError
from sojourn.live_service import lease_keeper
from sojourn.live_service.command_settings import CommandSettings, ran
from sojourn.live_service.lease_keeper import LeaseKeeper
from sojourn.live_service.metric_series import MetricSeries, MetricsError, page, totals
from sojourn.live_service.restore_plan import RestorePlan, plan_of
from sojourn.live_service.service_file import ServiceFile

# https://prometheus.io/docs/instrumenting/exposition_formats/: its own example, shortened
PAGE = """# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000
msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1.458255915e9
metric_without_timestamp_and_labels 12.47
something_weird{problem="division by zero"} +Inf -3982045
rpc_duration_seconds_sum 1.7560473e+07
rpc_duration_seconds_count 2693
"""


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("http_requests_total", 1030),
        ('http_requests_total{code="400"}', 3),
        ('http_requests_total{code="200",method="post"}', 1027),
        ("rpc_duration_seconds_sum", 17560473),
        ("metric_without_timestamp_and_labels", 12.47),
        ('msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT"}', 1458255915),
        ("http_requests", None),
        ('http_requests_total{code="500"}', None),
    ],
)
def test_totals_of_a_page(text: str, total: float | None) -> None:
    found = totals(PAGE, {"it": MetricSeries.parsed(text, "here")})
    assert found == ({} if total is None else {"it": total})


def test_a_value_that_is_no_figure_is_told() -> None:
    with pytest.raises(MetricsError, match="something_weird is inf"):
        totals(PAGE, {"it": MetricSeries.parsed("something_weird", "here")})
    with pytest.raises(MetricsError, match="not a sample"):
        totals("it{ 3\n", {"it": MetricSeries.parsed("it", "here")})


@pytest.mark.parametrize("text", ["a b", "1st", "{}", 'it{a="b"', "it 3\nother 4", "", "it{a=b}", "# it"])
def test_not_a_series(text: str) -> None:
    with pytest.raises(InputError, match="give a name as on the page"):
        MetricSeries.parsed(text, "here")


FIRST = ServiceReading(100.0, {"departures": 50.0, "response_seconds": 5.0, "busy_seconds": 4.0}, 4.0, 0.0, 8, 8, None)


def test_a_window_is_the_difference_of_two_readings() -> None:
    """10 s: 20 answers that took 0.15 s in the mean, and one more present at the end: 21 arrivals; 8 workers, busy 3.2 s."""
    after = replace(
        FIRST,
        clock_seconds=110.0,
        in_system=5.0,
        sums={"departures": 70.0, "response_seconds": 8.0, "busy_seconds": 7.2},
    )
    seen = after.since(FIRST)
    assert (seen.window_s, seen.throughput_per_s, seen.rate_per_s) == (10.0, 2.0, 2.1)
    assert seen.response_s == pytest.approx(0.15)
    assert seen.utilisation == pytest.approx(0.04)
    assert seen.in_system == 4.5


def test_without_a_sum_of_busy_seconds_those_present_are_served() -> None:
    """2 of 4 workers at the beginning, all 4 at the end, where 5 wait: (2 + 4) / 2 of 4."""
    before = ServiceReading(0.0, {"departures": 0.0, "response_seconds": 0.0}, 2.0, 0.0, 4, 4, None)
    after = replace(before, clock_seconds=1.0, in_system=9.0)
    assert after.since(before).utilisation == 0.75


def test_a_restart_and_a_clock_that_stands() -> None:
    with pytest.raises(RestartedError, match="departures fell by 50"):
        replace(FIRST, clock_seconds=101.0, sums={"departures": 0.0, "response_seconds": 0.0}).since(FIRST)
    with pytest.raises(MetricsError, match="the clock went on by 0 s"):
        FIRST.since(FIRST)


class MetricsServer:
    """A server of one text, or of a status."""

    def __init__(self) -> None:
        self.text, self.status = "shop_n 1\nshop_s 2\nshop_now 3\nshop_pool 4\n", 200
        it = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(it.status)
                self.end_headers()
                self.wfile.write(it.text.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/metrics?all=1"


@pytest.fixture
def shop() -> Iterator[MetricsServer]:
    served = MetricsServer()
    yield served
    served.server.shutdown()
    served.server.server_close()


SERIES = """
[series]
departures = "shop_n"
response_seconds = "shop_s"
in_system = "shop_now"
"""


def described(folder: Path, url: str, more: str, series: str = SERIES) -> ServiceFile:
    path = folder / "service.toml"
    path.write_text(f'metrics = "{url}"\ntimeout_s = 10\n{series}\n{more}')
    return ServiceFile(path)


def test_what_the_page_and_the_commands_tell(shop: MetricsServer, tmp_path: Path) -> None:
    (tmp_path / "size").write_text("7\n")
    file = described(tmp_path, shop.url, '[workers]\nread = ["cat", "size"]\nset = ["true", "{value}"]')
    found = ServiceMetrics(file, CommandSettings(file).read).read()
    assert (found.workers, found.ready, found.in_system, found.cap, found.waiting) == (7, 7, 3.0, None, 0.0)
    with_ready = described(tmp_path, shop.url, '[workers]\nread = ["cat", "size"]\nset = ["true", "{value}"]',
                           SERIES + 'workers = "shop_pool"')  # fmt: skip
    found = ServiceMetrics(with_ready, CommandSettings(with_ready).read).read()
    assert (found.workers, found.ready) == (7, 4)


def test_a_series_that_is_not_there_is_no_zero(shop: MetricsServer, tmp_path: Path) -> None:
    """A wrong name of the busy seconds would be read as idle workers, and they would be taken away. A counter of refusals begins with
    the first of them."""
    file = described(tmp_path, shop.url, "", SERIES + 'workers = "shop_pool"\nbusy_seconds = "shop_bussy"')
    with pytest.raises(MetricsError, match=r"the page has no shop_bussy \(\[series\] busy_seconds of service.toml\)"):
        ServiceMetrics(file, dict).read()
    file = described(tmp_path, shop.url, "", SERIES + 'workers = "shop_pool"\nrefused = "shop_refused{code=\\"503\\"}"')
    assert ServiceMetrics(file, dict).read().sums["refused"] == 0


def test_a_url_of_a_service_of_ones_own_asks_for_the_file(shop: MetricsServer) -> None:
    """Issue 29: nothing said that a URL is the web shop's alone."""
    with pytest.raises(InputError, match=r"no sojourn_web_.*give a file, service.toml"):
        LiveMetrics(shop.url.split("/metrics")[0]).check()


def test_pages_that_are_none(shop: MetricsServer, tmp_path: Path) -> None:
    shop.status = 500
    with pytest.raises(ServiceError, match="status 500"):
        page(shop.url, 10.0)
    for url in ("ftp://127.0.0.1/", "127.0.0.1:80", "http://127.0.0.1:99999/"):
        with pytest.raises(InputError):
            page(url, 10.0)
    file = described(tmp_path, shop.url, "", SERIES + 'workers = "shop_pool"')
    with pytest.raises(MetricsError, match="metrics are lost: status 500"):
        ServiceMetrics(file, dict).read()


@pytest.mark.parametrize(
    ("more", "series", "line", "told"),
    [
        ("", SERIES, 0, "nothing tells workers"),
        ('[workers]\nset = ["scale"]\nread = ["size"]', SERIES, 10, 'has to contain "{value}"'),
        ('[workers]\nset = ["scale", "{value}"]', SERIES, 9, "nothing tells workers"),
        ('[workers]\nset = []', SERIES, 10, "workers.set"),
        ('[workers]\nset = "scale {value}"', SERIES, 10, "workers.set"),
        ('[worker]\nset = ["scale", "{value}"]', SERIES, 9, "did you mean workers"),
        ("", SERIES + 'workers = "a b"', 8, "give a name as on the page"),
        ("", "[series]\ndepartures = 3", 4, "series."),
    ],
)  # fmt: skip
def test_mistakes_in_the_file(tmp_path: Path, more: str, series: str, line: int, told: str) -> None:
    with pytest.raises(InputError) as found:
        described(tmp_path, "http://127.0.0.1:1/metrics", more, series)
    assert told in str(found.value), found.value
    assert "service.toml" in str(found.value)
    assert not line or f"service.toml:{line}" in str(found.value), found.value


def test_a_command_that_fails_hangs_or_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="ended with 3: no rights"):
        ran([sys.executable, "-c", "import sys; sys.exit((print('no rights', file=sys.stderr), 3)[1])"], tmp_path, 30.0)
    with pytest.raises(LabError, match="took more than 0.2 s, and was stopped"):
        ran([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, 0.2)
    with pytest.raises(LabError, match="cannot be started"):
        ran(["./nothing-here"], tmp_path, 1.0)


def test_what_a_command_leaves_running_neither_holds_it_nor_is_ended(tmp_path: Path) -> None:
    """A command that starts workers: they keep its output open."""
    script = (
        "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)"
    )
    begin = time.monotonic()
    pid = int(ran([sys.executable, "-c", script], tmp_path, 50.0))
    try:
        assert time.monotonic() - begin < 50
        os.kill(pid, 0)
    finally:
        os.kill(pid, 9)


def test_words_are_handed_over_as_they_are(tmp_path: Path) -> None:
    """No shell: nothing is expanded or split."""
    word = "$(touch made); `id` 'a b' *"
    assert ran([sys.executable, "-c", "import sys; print(sys.argv[1])", word], tmp_path, 30.0).strip() == word
    assert not (tmp_path / "made").exists()


SCRIPT = (
    'import sys, pathlib; pathlib.Path("size").write_text(sys.argv[1]); open("calls", "a").write(sys.argv[1] + " ")'
)


def by_files(folder: Path, safe: str = "") -> CommandSettings:
    (folder / "size").write_text("2")
    (folder / "resize.py").write_text(SCRIPT)
    commands = f'[workers]\nread = ["cat", "size"]\nset = ["{sys.executable}", "resize.py", "{{value}}"]\n{safe}'
    return CommandSettings(described(folder, "http://127.0.0.1:1/metrics", commands))


def test_set_where_it_is_not_so_already_and_put_back(tmp_path: Path) -> None:
    settings = by_files(tmp_path)
    assert settings.safe == {"workers": 2}
    for size in (5, 5, 6):
        settings.set({"workers": size})
    assert settings.restore() == []
    assert (tmp_path / "calls").read_text().split() == ["5", "6", "2"]


def test_the_safe_setting_of_the_file_counts(tmp_path: Path) -> None:
    assert by_files(tmp_path, "safe = 4").safe == {"workers": 4}


def test_a_reader_that_prints_no_number(tmp_path: Path) -> None:
    settings = by_files(tmp_path)
    (tmp_path / "size").write_text("two")
    with pytest.raises(LabError, match="cat printed 'two'.*whole number"):
        settings.read()


def test_a_keeper_tries_again_until_it_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "RETRY_S", 0.05)
    settings = by_files(tmp_path)
    keeper = LeaseKeeper(settings, RestorePlan.of(settings, tmp_path / "log", None))
    assert keeper.answer(b'{"do": "set", "holder": "one", "lease_s": 60, "workers": 5}') == {"holder": "one"}
    assert "held by one" in keeper.answer(b'{"do": "set", "holder": "two", "lease_s": 60, "workers": 6}')["error"]
    (tmp_path / "resize.py").rename(tmp_path / "away.py")
    with pytest.raises(LabError, match="workers 2"):
        keeper.put_back("the lease ran out")
    assert keeper.holder == "one"  # nobody else may have it meanwhile
    (tmp_path / "away.py").rename(tmp_path / "resize.py")
    keeper.put_back("the lease ran out")
    assert (keeper.holder, (tmp_path / "size").read_text()) == (None, "2")
    assert (tmp_path / "log").read_text().count('"put_back": true') == 1
    assert plan_of(settings.key()) is None


def test_what_is_to_be_put_back_is_written_down_first_for_its_user_alone(tmp_path: Path) -> None:
    settings = by_files(tmp_path)
    keeper = LeaseKeeper(settings, RestorePlan.of(settings, None, None))
    (tmp_path / "resize.py").unlink()  # nothing can be set, and yet something may have been
    assert "error" in keeper.answer(b'{"do": "set", "holder": "one", "lease_s": 60, "workers": 5}')
    plan = plan_of(settings.key())
    assert plan is not None and plan.holder == "one" and plan.told["safe"] == {"workers": 2}
    assert plan.path.stat().st_mode & 0o777 == 0o600
    again = LeaseKeeper(settings, plan)
    assert again.holder == "one" and again.until_s == plan.until_s, "one that is started again has the lease"
    plan.remove()
