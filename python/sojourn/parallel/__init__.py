"""Many independent pieces of work on other processes and machines, with the same results wherever they run.

open_workers   what `on` means: "local:2", "dask://host:8786", an Executor, a dask Client
run_pieces     pieces → results in order, in tasks of about a second
"""

from sojourn.parallel.open_workers import On, open_workers
from sojourn.parallel.piece_list import blocks, run_pieces
from sojourn.parallel.workers import Workers

__all__ = ["On", "Workers", "blocks", "open_workers", "run_pieces"]
