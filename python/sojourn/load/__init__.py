"""What a load is, one file a protocol: the generator's configuration from what a user says.

Map: `http_load` plain HTTP, and what all loads have in common · `http_request` its requests · `credentials` from the environment ·
`session_load` users in sessions, `transition_matrix` their matrix, `session_walk` walks on it · `kv_load` memcached · `messages_load` the
message service · `block_load` block I/O · `schedule_seed` when requests are due.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.load.block_load import block_load as block_load
    from sojourn.load.block_load import size_bytes as size_bytes
    from sojourn.load.http_load import http_load as http_load
    from sojourn.load.kv_load import kv_load as kv_load
    from sojourn.load.messages_load import messages_load as messages_load
    from sojourn.load.session_load import mix_of as mix_of
    from sojourn.load.session_load import session_load as session_load
    from sojourn.load.transition_matrix import TransitionMatrix as TransitionMatrix
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "block_load": ["block_load", "size_bytes"],
            "http_load": ["http_load"],
            "kv_load": ["kv_load"],
            "messages_load": ["messages_load"],
            "session_load": ["mix_of", "session_load"],
            "transition_matrix": ["TransitionMatrix"],
        },
    )
