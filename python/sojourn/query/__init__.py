"""Questions to measured, simulated and solved results: Performance Trees as text (docs/reference/query.md)."""

from sojourn.errors import QueryError as QueryError
from sojourn.errors import SourceRefused as SourceRefused
from sojourn.query.query import Answer as Answer
from sojourn.query.query import Question as Question
from sojourn.query.query import query as query
