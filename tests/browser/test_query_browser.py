"""Pictures of queries in headless Chromium: every kind of node is drawn inside the picture, and no text runs out of its box.

Mermaid itself is no part of this project: `npm install mermaid` and MERMAID_JS=…/node_modules/mermaid/dist/mermaid.min.js.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from headless import ARGS, CHROMIUM, WITHOUT, sync_api

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from query_trees import Trees

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.picture import TITLES, boxes, mermaid, svg

pytestmark = WITHOUT
EVERY = {name for name, kind in vars(N).items() if isinstance(kind, type) and issubclass(kind, N.Node)} - {"Node"}
# texts wider than their own box, and what lies outside the picture
WRONG = """() => {
  const whole = document.documentElement.getBoundingClientRect(), wrong = [];
  const boxes = [...document.querySelectorAll('rect[rx]')].map(e => e.getBoundingClientRect());
  for (const e of document.querySelectorAll('text, rect[rx], circle')) {
    const r = e.getBoundingClientRect();
    if (r.left < whole.left - 1 || r.right > whole.right + 1 || r.bottom > whole.bottom + 1) wrong.push('outside: ' + e.textContent);
    if (e.tagName !== 'text' || e.getAttribute('font-size')) continue;
    const own = boxes.find(b => b.top <= r.top + 2 && b.bottom >= r.bottom - 2 && b.left <= (r.left + r.right) / 2 && b.right >= (r.left + r.right) / 2);
    if (!own || r.left < own.left || r.right > own.right) wrong.push('too wide: ' + e.textContent);
  }
  return wrong;
}"""  # noqa: E501


def kinds_of(tree: N.Node) -> set[str]:
    """The kinds of the nodes of a tree."""
    return {type(tree).__name__}.union(*(kinds_of(child) for _, child in tree.children()))


def trees_of_all_kinds() -> list[N.Result]:
    """Drawn at random, each with a kind that those before it lack."""
    trees, chosen, missing = Trees(seed=5), [], EVERY
    while missing:
        tree = trees.result()
        if missing & kinds_of(tree):
            missing = missing - kinds_of(tree)
            chosen.append(tree)
    return chosen


def test_every_kind_of_node_in_chromium(tmp_path: Path) -> None:
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page()
        for k, tree in enumerate(trees_of_all_kinds()):
            file = tmp_path / f"{k}.svg"
            file.write_text(svg(boxes(tree, {}), "a query"))
            page.goto(file.as_uri())
            assert page.evaluate("() => document.documentElement.tagName") == "svg"
            assert page.evaluate(WRONG) == []
        browser.close()


def test_the_picture_in_the_reference() -> None:
    file = Path(__file__).resolve().parents[2] / "docs/reference/query-nodes.svg"
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page()
        page.goto(file.as_uri())
        assert page.evaluate(WRONG) == []
        drawn = set(page.evaluate("() => [...document.querySelectorAll('text')].map(e => e.textContent)"))
        browser.close()
    assert {TITLES.get(name, name) for name in EVERY} <= drawn


@pytest.mark.skipif(not os.environ.get("MERMAID_JS"), reason="MERMAID_JS names no mermaid.min.js: npm install mermaid")
def test_every_kind_of_node_in_mermaid() -> None:
    draw = """async ([name, text]) => {
      const drawn = await mermaid.render(name, text);
      document.body.innerHTML = drawn.svg;
      return [document.querySelectorAll('.node').length, document.querySelectorAll('.edgePaths path, path.flowchart-link').length];
    }"""
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page()
        page.set_content("<html><body></body></html>")
        page.add_script_tag(path=os.environ["MERMAID_JS"])
        page.evaluate("() => mermaid.initialize({ startOnLoad: false })")
        for k, tree in enumerate(trees_of_all_kinds()):
            text = mermaid(boxes(tree, {}))
            nodes, edges = page.evaluate(draw, [f"tree{k}", text])
            assert nodes == len(re.findall(r'^ +n[0-9]+\("', text, re.MULTILINE)), text
            assert edges == nodes - 1, "a tree"
        browser.close()
