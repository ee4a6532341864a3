"""A hook of mkdocs: what pages link to outside docs/ gets a page of the site, the notebook becomes one, decisions get their place.

The pages themselves stay as they are, so that their links work on GitHub too.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
NOTEBOOK = "tutorial/whole-loop.ipynb"
SOURCE = "source"  # where pages of files outside docs/ are
LANGUAGES = {".toml": "toml", ".py": "python", ".rs": "rust", ".json": "json"}


def on_config(config: Any) -> Any:
    """The decisions, by number, at the end of the navigation."""
    decisions = sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md"))
    config.nav.append({"Decisions": [f"decisions/{name}" for name in decisions]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages for the notebook, and for what is linked outside docs/, and for what these link to."""
    files.append(File.generated(config, NOTEBOOK.replace(".ipynb", ".md"), content=notebook(ROOT / "docs" / NOTEBOOK)))
    waiting = [(f.src_uri, f.content_string) for f in files.documentation_pages()]
    there = {uri for uri, _ in waiting}
    while waiting:
        uri, text = waiting.pop()
        for path in outside(uri, text):
            name = page_of(path)
            if name not in there:
                there.add(name)
                made = content(path)
                page = File.generated(config, name, content=made)
                page.inclusion = page.inclusion.NOT_IN_NAV
                files.append(page)
                waiting.append((name, made))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links that leave docs/ go to the page made for their file."""
    uri = page.file.src_uri

    def turned(found: re.Match[str]) -> str:
        path = target(uri, found[2])
        if path is None:
            ipynb = posixpath.normpath(posixpath.join(posixpath.dirname(uri), found[2])) == NOTEBOOK
            return found[0].replace(".ipynb", ".md") if ipynb else found[0]
        return f"{found[1]}{posixpath.relpath(page_of(path), posixpath.dirname(uri) or '.')}{found[4]}"

    return LINK.sub(turned, markdown)


def outside(uri: str, text: str) -> set[str]:
    """Paths in the repository, outside docs/, that a page links to."""
    return {path for found in LINK.finditer(text) if (path := target(uri, found[2])) is not None}


def target(uri: str, link: str) -> str | None:
    """The path in the repository of a link that leaves docs/; None for any other."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return None
    at = origin(uri)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(at), link))
    if path.startswith("docs/") and at.startswith("docs/"):
        return None
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def origin(uri: str) -> str:
    """Where a page of the site is in the repository."""
    if not uri.startswith(SOURCE + "/"):
        return f"docs/{uri}"
    path = uri.removeprefix(SOURCE + "/").removesuffix(".page.md")
    return f"{path}/x" if (ROOT / path).is_dir() else path


def page_of(path: str) -> str:
    """The page of the site for a path of the repository."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"{SOURCE}/{path}.page.md"


def content(path: str) -> str:
    file = ROOT / path
    if file.is_dir():
        return f"# {path}\n\n" + "\n".join(f"- `{p.name}{'/' * p.is_dir()}`" for p in sorted(file.iterdir()))
    text = file.read_text()
    if file.suffix == ".md":
        return text
    return f"# {path}\n\n```{LANGUAGES.get(file.suffix, 'text')}\n{text}\n```\n"


def notebook(path: Path) -> str:
    """The cells of a notebook with their outputs."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += [shown for output in cell.get("outputs", ()) if (shown := output_of(output))]
    return "\n\n".join(parts) + "\n"


def output_of(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/svg+xml" in data:
        return re.sub(r"\n\s*\n", "\n", "".join(data["image/svg+xml"]))
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""
