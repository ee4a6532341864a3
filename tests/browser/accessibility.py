"""axe-core, the usual checker of accessibility, on a page that is open in headless Chromium."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

# what is looked at: WCAG 2.2 at level AA, and what axe calls best practice
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]  # rules that look at colours: the others find the same in the dark
ALL = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": TAGS}}
OF_COLOURS = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": COLOURS}}
WIDTHS, THEMES = (1280, 390), {"light": ALL, "dark": OF_COLOURS}


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
        for theme, options in THEMES.items():
            page.emulate_media(color_scheme=theme)
            found += [f"{width} px, {theme}: {line}" for line in violations(page, options)]
    return found


def violations(page: Any, options: dict[str, Any] = ALL) -> list[str]:
    """A line for each element that breaks a rule: the rule, where the element is, and why."""
    checker = axe.Axe()
    if not page.evaluate("() => 'axe' in window"):  # once a page: it is half a megabyte
        page.evaluate(checker.axe_script)
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found
        for node in rule["nodes"]
    ]
