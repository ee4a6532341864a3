"""What an I/O costs in CPU, by path: run lists, cost per I/O, linearity, sizing, and what makes a storage benchmark wrong.

run_list      runs of a storage experiment as CSV, ours or the document's      published_cost  coefficients that a document prints
cost_per_io   CPU per I/O of each path, through the origin                       sizing          I/Os per core, cores, response time
"""

from sojourn.storage.cost_per_io import PathCost, cost_per_io, cost_ratio
from sojourn.storage.run_list import read_storage_runs
from sojourn.storage.sizing import PathSizing, size_storage

__all__ = ["PathCost", "PathSizing", "cost_per_io", "cost_ratio", "read_storage_runs", "size_storage"]
