"""A document as Markdown and verdicts as JUnit: nothing that a service says becomes markup, and both are read back."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

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
    assert row == "| a\\|b \\<img src=x\\> \\[c\\](http:\u2060//d) \\`e\\` \\@\u2060f \\*g\\* \\\\u001b\\[31m | – |"


def test_nothing_becomes_a_link_a_mention_or_an_entity() -> None:
    """GitHub Flavored Markdown 6.9 (autolinks: www., http://), 6.2 (entities); mentions and #12 are of the site."""
    said = "&lt;b> https://x.org www.x.org WWW.x.org @ann #12"
    line = render_markdown(document(verdict=["first", said])).splitlines()[4]
    end = "https:\u2060//x.org www\u2060.x.org WWW\u2060.x.org \\@\u2060ann \\#\u206012"
    assert line == f"- &amp;lt;b\\> {end}"


@pytest.mark.parametrize(
    ("said", "written"),
    [("- a", "\\- a"), ("+ a", "\\+ a"), ("12. a", "12\\. a"), ("1) a", "1\\) a"), ("-4 %", "\\-4 %"), ("720 /s", "720 /s"),
     ("---", "\\---"), ("1.5 ms", "1.5 ms"), (" - a", " \\- a")],
)  # fmt: skip
def test_a_line_does_not_begin_a_list(said: str, written: str) -> None:
    """CommonMark 5.2: -, + and a number of up to nine digits with . or ) begin an item; 2.4: a backslash before them is none."""
    text = render_markdown(document(verdict=["first", said], sections=(), footer={said: "x"}))
    assert text.splitlines()[4] == f"- {written}" and text.endswith(f"\n{written}: x\n")


def test_junit_has_no_character_that_xml_forbids() -> None:
    """XML 1.0, 2.2 Char: neither U+FFFE nor U+FFFF."""
    text = render_junit("a\uffff", [JunitCase("b\ufffe", "missed", "c\uffff")])
    assert "\uffff" not in text and "\ufffe" not in text and "\\ufffe" in text


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
