"""`ShownInNotebook`: a result that a notebook shows as the first lines of its report, its first figure and its first table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from sojourn.errors import InputError, SojournError

if TYPE_CHECKING:
    from altair import LayerChart

    from sojourn.report import Document


class ShownInNotebook:
    """A result that has a report. `_REPORT`: the function that makes it, as `module:function`; a name, since the module knows the class,
    and since a load or a search needs none of what a report imports."""

    _REPORT: ClassVar[str] = ""

    def document(self) -> Document:
        """The result as a report, for `sj.write_html`. Raises SojournError where there is nothing to tell."""
        module, _, function = self._REPORT.partition(":")
        made: Document = getattr(import_module(f"sojourn.{module}"), function)(self)
        return made

    def plot(self, figure: str = "") -> LayerChart:
        """A figure of the report as an altair chart: the first, or the one whose `id` or title is `figure`. Raises InputError where there
        is none."""
        from sojourn.report.chart import plot

        figures = [one for _, one in self.document().figures()]
        found = [one for one in figures if figure in (one.id, one.title)] if figure else figures
        if not found:
            known = ", ".join(one.id for one in figures)
            raise InputError(
                figure or type(self).__name__,
                "figure",
                f"choose one of {known}" if known else "this report has no figure",
            )
        return plot(found[0])

    def _repr_html_(self) -> str | None:
        """None, which a notebook takes for "show the text", where no report can be made of it."""
        from sojourn.report.notebook_html import notebook_html

        try:
            return notebook_html(self.document())
        except SojournError:
            return None
