"""`sojourn serve bulletin` as an operator meets it: pages, metrics, the end in good order."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.live
COMMAND = [sys.executable, "-c", "from sojourn.cli import main; main()", "serve", "bulletin"]


def test_it_serves_counts_and_ends() -> None:
    words = [*COMMAND, "--embedded", "--port", "0", "--scale", "0.001", "--metrics", "127.0.0.1:0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        greeting = process.stderr.readline()
        board, metrics = re.findall(r"http://[0-9.:]+", greeting)
        page = urlopen(f"{board}/StoriesOfTheDay", timeout=10).read().decode()
        assert len(set(re.findall(r'href="(/ViewStory\?storyId=\d+)"', page))) == 20
        told = urlopen(f"{metrics}/metrics", timeout=10).read().decode()
        assert 'bulletin_completions_total{interaction="StoriesOfTheDay"} 1' in told
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    summary = json.loads(said)
    assert summary["completions"] == 1 and summary["by_kind"]["StoriesOfTheDay"] == 1
    # A page takes 2 ms of CPU time, which the threads' own clock has seen.
    assert summary["cpu_s"] > 1e-3


def test_without_tables_it_says_what_to_do() -> None:
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--embedded" in done.stderr
