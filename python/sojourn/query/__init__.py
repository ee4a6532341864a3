"""Questions to measured, simulated and solved results: Performance Trees as text (docs/reference/query.md)."""

from typing import TYPE_CHECKING

from sojourn.errors import QueryError as QueryError
from sojourn.errors import SourceRefused as SourceRefused

if TYPE_CHECKING:
    from sojourn.query.query import Answer as Answer
    from sojourn.query.query import Question as Question
    from sojourn.query.query import query as query
else:
    from lazy_loader import attach

    __getattr__, _, __all__ = attach(__name__, submod_attrs={"query": ["Answer", "Question", "query"]})
    __all__ += ["QueryError", "SourceRefused"]
    __dir__ = __all__.copy
