"""What a load is, one file a protocol: the generator's configuration from what a user says.

Each protocol has a class of options, whose fields are the options of the command line, the keywords from Python, and what
`config` makes the generator's configuration of.

Map: `protocols` which there are, and which a URL is of · `load_options` what all have in common · `http_load` plain HTTP, `http_request`
its requests, `credentials` from the environment · `kv_load` memcached · `messages_load` the message service · `client_lanes` what these
two have in common · `block_load` block I/O · `session_load` users in sessions, `transition_matrix` their matrix, `session_walk` walks
on it · `schedule_seed` when requests are due.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.load.block_load import BlockOptions as BlockOptions
    from sojourn.load.block_load import block_load as block_load
    from sojourn.load.block_load import size_bytes as size_bytes
    from sojourn.load.http_load import HttpOptions as HttpOptions
    from sojourn.load.http_load import http_load as http_load
    from sojourn.load.kv_load import MemcachedOptions as MemcachedOptions
    from sojourn.load.kv_load import kv_load as kv_load
    from sojourn.load.load_options import ClosedLoad as ClosedLoad
    from sojourn.load.load_options import LoadOptions as LoadOptions
    from sojourn.load.load_options import OpenLoad as OpenLoad
    from sojourn.load.load_options import option as option
    from sojourn.load.load_options import zero_or_s as zero_or_s
    from sojourn.load.messages_load import MessagesOptions as MessagesOptions
    from sojourn.load.messages_load import messages_load as messages_load
    from sojourn.load.session_load import mix_of as mix_of
    from sojourn.load.session_load import session_load as session_load
    from sojourn.load.transition_matrix import TransitionMatrix as TransitionMatrix
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "block_load": ["BlockOptions", "block_load", "size_bytes"],
            "http_load": ["HttpOptions", "http_load"],
            "kv_load": ["MemcachedOptions", "kv_load"],
            "load_options": ["ClosedLoad", "LoadOptions", "OpenLoad", "option", "zero_or_s"],
            "messages_load": ["MessagesOptions", "messages_load"],
            "session_load": ["mix_of", "session_load"],
            "transition_matrix": ["TransitionMatrix"],
        },
    )
