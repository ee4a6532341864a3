"""Storage paths: what an I/O costs in CPU on each, and how many cores a wanted rate needs.

Map: `storage_system` the system, its factors and paths beside it, `storage_simulated` the same with known costs · `nbd_server`, `qemu_nbd`
servers of network block devices, `serve_nbd` the command of ours · `costs` run lists, CPU per I/O, sizing · `storage_analysis`,
`measured_lines`, `storage_figures` what its studies say · `calc_storage` the command of sizing.
"""

from sojourn import Case

CASE = Case(
    systems={
        "storage": "sojourn_cases.storage.storage_system:StorageSystem",
        "storage-simulated": "sojourn_cases.storage.storage_simulated:SimulatedStorage",
    },
    analyses={"storage": "sojourn_cases.storage.storage_analysis:storage_analysis"},
    workers={"nbd": "sojourn_cases.worker_kinds:nbd"},
    commands={
        "serve": {"nbd": "sojourn_cases.storage.serve_nbd:nbd"},
        "calc": {"storage": "sojourn_cases.storage.calc_storage:storage"},
    },
    studies={"storage": "sojourn_cases:studies/storage", "storage-virtual": "sojourn_cases:studies/storage-virtual"},
)
