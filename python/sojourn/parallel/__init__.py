"""Many independent pieces of work on other processes and machines, with the same results wherever they run.

open_workers   what `on` means: "2" or "local:2", "tls://host:8786", an Executor, a dask Client
run_pieces     pieces → results in order, in tasks of about a second
run_at_once    pieces that must run at the same time, each on a slot of its own
"""

from sojourn.parallel.at_once import run_at_once
from sojourn.parallel.open_workers import On, open_workers
from sojourn.parallel.piece_list import blocks, run_pieces
from sojourn.parallel.workers import Workers

__all__ = ["On", "Workers", "blocks", "open_workers", "run_at_once", "run_pieces"]
