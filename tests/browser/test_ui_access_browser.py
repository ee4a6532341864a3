"""Pages of the workbench for everybody: on a phone, by contrast, with names of controls."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from served_ui import WITHOUT, Open, browser, folder, opened, served  # noqa: F401  (fixtures)

pytestmark = WITHOUT


@pytest.mark.parametrize(
    "part", ["", "#/model/one.toml", "#/run/runs%2Frate-20", "#/compare/runs%2Frate-20/runs%2Frate-60"]
)
def test_a_phone_needs_no_sideways_scrolling(opened: Open, part: str) -> None:
    page = opened(part, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.wait_for_selector("table, .figures[data-settled], .beside")
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parts = text => text.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parts(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll('main *, header *')) {
    if (!(e instanceof HTMLElement) || e.disabled || e.closest('[hidden], .unseen')) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const a = light(parts(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return faint;
}"""  # WCAG 2.2, 1.4.3: 4.5 to 1
UNNAMED = """() => [...document.querySelectorAll('input, select, textarea, button, a')].filter(e => !e.closest('[hidden]')
  && !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", ["", "#/model/one.toml", "#/compare/runs%2Frate-20/runs%2Frate-60"])
def test_text_can_be_read_and_controls_have_names(opened: Open, part: str, scheme: str) -> None:
    page = opened(part, color_scheme=scheme)
    page.wait_for_selector(".bar, .figures[data-settled], .beside")
    assert page.evaluate(CONTRAST) == [] and page.evaluate(UNNAMED) == []
