"""axe-core, the usual checker of accessibility, on a page that is open in headless Chromium."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

# what is looked at: WCAG 2.2 at level AA, and what axe calls best practice
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": TAGS}}
WIDTHS, THEMES = (1280, 390), ("light", "dark")


def on_all_screens(page: Any) -> list[str]:
    """Wide and narrow, light and dark, all folds open and all figures of a report drawn."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(
            "() => { for (const fold of document.querySelectorAll('details:not(.values, .data)')) fold.open = true; }"
        )
        for plot in page.locator("figure .plot").all():  # each is drawn when it comes into view
            plot.evaluate("plot => plot.scrollIntoView()")
            page.wait_for_timeout(100)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            found += [f"{width} px, {theme}: {line}" for line in violations(page)]
    return found


def violations(page: Any) -> list[str]:
    """A line for each element that breaks a rule: the rule, where the element is, and why."""
    found = axe.Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found
        for node in rule["nodes"]
    ]
