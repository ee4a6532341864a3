"""Writes the tables of docs/reference/methods.md and docs/reference/status.md from the code.

`python tools/methods_table.py` writes them; with `--check` it says whether they are what the code says (exit status 1
if not). Each page keeps what is written by hand; a table stands between two comments that name it. The models are those
of examples/, whose first line says what each is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from sojourn.model import Model
from sojourn.simulate import simulation_status as simulated
from sojourn.solve import status
from sojourn.solve.automatic_method import preferred
from sojourn.solve.load_dependent_times import at_rest
from sojourn.solve.method import Method
from sojourn.solve.registry import FAMILIES, all_methods, refusal
from sojourn.stats import quantiles

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python tools/methods_table.py"
# the order of the tables: from one station to what has no formula
EXAMPLES = (
    "counter", "parts", "warming",
    "desk", "lines", "constant", "uneven", "regular", "bursts", "spread", "urgent", "hospital", "shared", "stack", "wire",
    "repair", "subscribers", "fork",
    "batch", "shop", "twelve", "offices", "uneven-classes", "mixed", "site", "tiers", "switching",
    "threads", "blocking", "multicore", "guests", "shortest", "shifts",
)  # fmt: skip


def main() -> int:
    stale = []
    for path, text in made().items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            stale.append(f"{path.relative_to(ROOT)} is not what the code says; run {COMMAND}")
    print("\n".join(stale), file=sys.stderr, end="\n" if stale else "")
    return 1 if stale else 0


def made() -> dict[Path, str]:
    """Both pages as they should be."""
    models = {name: Model.read(ROOT / f"examples/{name}.toml") for name in EXAMPLES}
    reference = ROOT / "docs/reference"
    tables = {
        "methods.md": {
            "choice": choice_table(models),
            "methods": method_tables(models),
            "reasons": reasons(models),
            "sources": sources(),
        },
        "status.md": {
            "solved": status_table(status.TEXT),
            "simulated": status_table(simulated.TEXT),
            "measured": status_table(quantiles.TEXT),
        },
    }
    return {reference / page: filled((reference / page).read_text(), parts) for page, parts in tables.items()}


def filled(page: str, parts: dict[str, str]) -> str:
    """The page with what stands between `<!-- made: NAME -->` and `<!-- end: NAME -->` replaced."""
    for name, text in parts.items():
        marked = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        found = marked.search(page)
        if not found:
            raise SystemExit(f"no place for {name}: put <!-- made: {name} --> and <!-- end: {name} --> into the page")
        before, after = page[: found.end(1)], page[found.start(2) :]
        page = f"{before}{text}\n{after}"
    return page


def choice_table(models: dict[str, Model]) -> str:
    """What `auto` takes for each example, and what else applies."""
    rows = []
    for name, model in models.items():
        fits = [m for m in all_methods().values() if not reason(m, model)]
        taken = chosen(model)
        rest = sorted(
            (m for m in fits if m.name != taken), key=lambda m: (m.on_request_only, not m.exact, m.rank, m.name)
        )
        others = ", ".join(tag(m) for m in rest) or "–"
        rows.append((link(name), about(name), f"**{taken}**" if taken else "none: simulate", others))
    return table(("example", "what it is", "`auto` takes", "also apply"), rows)


def chosen(model: Model) -> str:
    """The name of the method that `auto` takes, or nothing."""
    return next((method.name for method, _ in preferred(at_rest([model.network]))), "")


def method_tables(models: dict[str, Model]) -> str:
    """One table a family: every method, what it is, and the examples it applies to."""
    parts = []
    for family in FAMILIES:
        rows = [
            (f"`{m.name}`", m.title, worth(m), ", ".join(n for n, x in models.items() if not reason(m, x)) or "–")
            for m in of_family(family)
        ]
        if rows:
            parts.append(f"### {family}\n\n" + table(("method", "what", "answer", "applies to"), rows))
    return "\n\n".join(parts)


def reasons(models: dict[str, Model]) -> str:
    """For each example, why the methods that refuse it do; methods with one reason in one row."""
    parts = []
    for name, model in models.items():
        found: dict[str, list[str]] = {}
        for m in all_methods().values():
            if text := reason(m, model):
                found.setdefault(text, []).append(f"`{m.name}`")
        rows = ((", ".join(names), sentence(text)) for text, names in found.items())
        parts.append(f"### {name}\n\n{about(name)}.\n\n" + table(("method", "why it does not apply"), rows))
    return "\n\n".join(parts)


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def sources() -> str:
    return "\n".join(f"- `{m.name}`: {'; '.join(cell(s) for s in m.sources)}" for m in all_methods().values())


def status_table(text: dict[str, str]) -> str:
    return table(("status", "what happened, and what to do"), ((f"`{name}`", why) for name, why in text.items()))


def worth(method: Method) -> str:
    kind = "exact" if method.exact else "approximate"
    kind = "bounds" if "bounds" in method.title else kind
    kind += f"; approximate where {method.approximate_if[0]}" if method.approximate_if else ""
    return f"{kind}; only by name" if method.on_request_only else kind


def tag(method: Method) -> str:
    return method.name if method.exact or method.on_request_only else f"{method.name} (≈)"


def of_family(family: str) -> tuple[Method, ...]:
    from importlib import import_module

    methods: tuple[Method, ...] = import_module(f"sojourn.solve.{family}").METHODS
    return methods


def reason(method: Method, model: Model) -> str | None:
    return refusal(method, at_rest([model.network])[0])


def about(name: str) -> str:
    """The first line of an example, without its mark."""
    return (ROOT / f"examples/{name}.toml").read_text().splitlines()[0].removeprefix("# ")


def link(name: str) -> str:
    return f"[{name}](../../examples/{name}.toml)"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(cell(c) for c in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """Text that fits in one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
