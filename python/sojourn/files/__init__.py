"""Files of a user, a peer or another user of the machine: read within limits, written whole or not at all."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.files.reading import parse_json as parse_json
    from sojourn.files.reading import read_toml as read_toml
    from sojourn.files.tables import NUMBER as NUMBER
    from sojourn.files.tables import TEXT as TEXT
    from sojourn.files.tables import read_parquet as read_parquet
    from sojourn.files.writing import write_output as write_output
    from sojourn.files.writing import write_whole as write_whole
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "reading": ["parse_json", "read_toml"],
            "tables": ["NUMBER", "TEXT", "read_parquet"],
            "writing": ["write_output", "write_whole"],
        },
    )
