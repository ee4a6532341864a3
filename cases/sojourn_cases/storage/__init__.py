"""Storage paths: what an I/O costs in CPU on each, and how many cores a wanted rate needs.

Map: `storage_system` the system, its factors and paths beside it, `storage_simulated` the same with known costs · `storage_guests` a disk
of a guest, and NFS or iSCSI between two: `storage_guest_pair` both guests, `iscsi_guests` what iSCSI needs, `storage_in_guest` inside,
`guest_cpu` whose CPU · `nbd_server`, `qemu_nbd` servers of network block devices, `serve_nbd` the command of ours · `costs` run lists, CPU
per I/O, sizing · `storage_analysis`, `storage_guests_analysis`, `measured_lines`, `storage_figures` what its studies say · `calc_storage`
the command of sizing.
"""

from sojourn import Case

CASE = Case(
    system_classes={
        "storage": "sojourn_cases.storage.storage_system:StorageSystem",
        "storage-guests": "sojourn_cases.storage.storage_guests:StorageGuests",
        "storage-simulated": "sojourn_cases.storage.storage_simulated:SimulatedStorage",
    },
    analysis_functions={
        "storage": "sojourn_cases.storage.storage_analysis:storage_analysis",
        "storage-guests": "sojourn_cases.storage.storage_guests_analysis:storage_guests_analysis",
    },
    worker_functions={"nbd": "sojourn_cases.worker_kinds:nbd"},
    command_functions={
        "serve": {"nbd": "sojourn_cases.storage.serve_nbd:nbd"},
        "calc": {"storage": "sojourn_cases.storage.calc_storage:storage"},
    },
    study_folders={
        "storage": "sojourn_cases:studies/storage",
        "storage-virtual": "sojourn_cases:studies/storage-virtual",
        "storage-vm": "sojourn_cases:studies/storage-vm",
    },
)
