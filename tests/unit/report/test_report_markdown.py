"""A document as Markdown and verdicts as JUnit: nothing that a service says becomes markup, and both are read back."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from sojourn.report import (
    Code,
    Document,
    Figure,
    JunitCase,
    Section,
    Series,
    Table,
    Text,
    render_junit,
    render_markdown,
    write_junit,
    write_markdown,
)

EVIL = "a|b <img src=x> [c](http://d) `e` @f *g* \x1b[31m"


def document(**more: object) -> Document:
    blocks = (
        Table("", ("run", "mean"), (("first|one", 1.5), (EVIL, None)), note="a note"),
        Text("One.\n\n- **two**\n- `th|ree`"),
        Figure("f", "Response", "x", "y", (Series("s", (1.0,), (2.0,)),)),
        Code("a | b"),
    )
    fields: dict[str, object] = {
        "title": "shop", "subtitle": "", "verdict": ["720 /s meet `p99 < 50ms`", "second"], "status": "ok",
        "sections": (Section("Runs", "lead", blocks),), "footer": {"runs": "7"},
    }  # fmt: skip
    return Document(**(fields | more))  # type: ignore[arg-type]


def test_the_verdict_comes_first_then_tables() -> None:
    text = render_markdown(document())
    lines = text.splitlines()
    assert lines[0] == "### shop" and lines[2] == "**720 /s meet `p99 < 50ms`**" and lines[4] == "- second"
    start = lines.index("| run | mean |")
    assert lines[start + 1 : start + 3] == ["| --- | ---: |", "| first\\|one | 1.5 |"]
    assert "- **two**" in lines and "- `th|ree`" in lines and "    a | b" in lines and "*figure: Response*" in lines
    assert text.endswith("runs: 7\n")


def test_names_are_no_markup() -> None:
    row = next(line for line in render_markdown(document()).splitlines() if "img" in line)
    assert row == "| a\\|b \\<img src=x\\> \\[c\\](http://d) \\`e\\` \\@f \\*g\\* \\\\u001b\\[31m | – |"


def test_a_warning_is_in_the_title() -> None:
    assert render_markdown(document(status="warn")).startswith("### shop (with warnings)\n")


CASES = (
    JunitCase("at least 700 /s", "met", "720 /s", 1.5),
    JunitCase("at least 900 /s", "missed", "720 /s (690 /s … 750 /s)\nmore", 0.5),
    JunitCase("known", "unknown", EVIL + "&"),
)


def test_junit_counts_and_texts() -> None:
    root = ElementTree.fromstring(render_junit("capacity", CASES))
    assert root.tag == "testsuite"
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("time")) == ("3", "1", "1", "2.000")
    met, missed, unknown = root.findall("testcase")
    assert met.find("failure") is None and met.find("error") is None and met.findtext("system-out") == "720 /s"
    failure = missed.find("failure")
    assert failure is not None and failure.get("message") == "720 /s (690 /s … 750 /s)"
    assert failure.text is not None and failure.text.endswith("\nmore")
    assert unknown.find("error") is not None and "\\u001b[31m&" in (unknown.findtext("error") or "")


def test_files(tmp_path: Path) -> None:
    assert write_markdown(document(), tmp_path / "a/b.md").read_text().startswith("### shop")
    assert write_junit("capacity", CASES, tmp_path / "a/b.xml").read_text(encoding="utf-8").startswith("<?xml")
