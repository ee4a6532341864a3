"""What an I/O costs in CPU, by path: run lists, cost per I/O, linearity, sizing, and what makes a storage benchmark wrong.

storage_run_list        runs as CSV, ours or the document's; their design    published_cost  coefficients that a document prints
cost_per_io     CPU per I/O of each path, through the origin         effects         of all factors, on CPU and on CPU per I/O
linearity       does CPU grow in proportion to IOPS; the curve       run_faults      runs that do not show what they should
sizing          I/Os per core, cores, response for a wanted rate
"""

from sojourn_cases.storage.costs.cost_per_io import CpuCostPerIo, cost_per_io, cost_ratio
from sojourn_cases.storage.costs.effects import StorageEffects, storage_effects
from sojourn_cases.storage.costs.linearity import StoragePathLinearity, linearity
from sojourn_cases.storage.costs.run_faults import StorageRunFault, run_faults
from sojourn_cases.storage.costs.sizing import StoragePathSizing, size_storage
from sojourn_cases.storage.costs.storage_run_list import read_storage_runs, storage_design

__all__ = [
    "CpuCostPerIo",
    "StorageEffects",
    "StoragePathLinearity",
    "StoragePathSizing",
    "StorageRunFault",
    "cost_per_io",
    "cost_ratio",
    "linearity",
    "read_storage_runs",
    "run_faults",
    "size_storage",
    "storage_design",
    "storage_effects",
]
