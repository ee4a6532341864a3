"""What a service, a load and a study run on: processes, hosts, cores, control groups, disks, each removed at the end.

Map: `backends` where a study runs · `worker_process`, `worker_main` what runs in a process of its own, `load_here` in this one,
`embedded_kv`, `waiting_service` two such servers · `supervisor` a user's own program, `readiness` when it is ready, `capped_log`
what it prints · `process_tree` whose children processes are · `cleanup_registry`, `owned_folder` what a killed start left ·
`machine_lock` one measurement at a time ·
`cpu_topology`, `machine_topology`, `topology_probe` the cores, `core_placement`, `cpu_affinity` who runs on which,
`service_placement` of a service that runs already · `cgroups`, `counted_groups` shares and exact CPU times · `spinners` cores kept
awake · `namespaces`, `emulated_hosts`, `emulated_network`, `nic_configuration` hosts and NICs · `slow_disk`, `loop_disk`,
`slow_file` disks of a chosen speed · `listening_process` who answers at an address · `real_time` priority · `doctor` what this
machine can do.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.lab.backends import Environment as Environment
    from sojourn.lab.backends import LoopbackBackend as LoopbackBackend
    from sojourn.lab.backends import NamespaceBackend as NamespaceBackend
    from sojourn.lab.backends import environment as environment
    from sojourn.lab.backends import why_not_namespaces as why_not_namespaces
    from sojourn.lab.capped_log import last_lines as last_lines
    from sojourn.lab.cgroups import LEAST_CORE_SHARE as LEAST_CORE_SHARE
    from sojourn.lab.cgroups import QUOTA_PERIODS as QUOTA_PERIODS
    from sojourn.lab.cgroups import QUOTA_USED_UP as QUOTA_USED_UP
    from sojourn.lab.cgroups import CpuShareCgroup as CpuShareCgroup
    from sojourn.lab.cgroups import in_group as in_group
    from sojourn.lab.cleanup_registry import CleanupRegistry as CleanupRegistry
    from sojourn.lab.cleanup_registry import clean_stale as clean_stale
    from sojourn.lab.core_placement import FIRST_CORES as FIRST_CORES
    from sojourn.lab.core_placement import PLACEMENTS as PLACEMENTS
    from sojourn.lab.core_placement import choose_cores as choose_cores
    from sojourn.lab.core_placement import split_cores as split_cores
    from sojourn.lab.counted_groups import CLIENT as CLIENT
    from sojourn.lab.counted_groups import CountedGroups as CountedGroups
    from sojourn.lab.counted_groups import counted_groups as counted_groups
    from sojourn.lab.cpu_affinity import pin as pin
    from sojourn.lab.cpu_topology import Core as Core
    from sojourn.lab.cpu_topology import CorePlacement as CorePlacement
    from sojourn.lab.cpu_topology import cores as cores
    from sojourn.lab.cpu_topology import place as place
    from sojourn.lab.doctor import AbilityCheck as AbilityCheck
    from sojourn.lab.embedded_kv import EmbeddedKv as EmbeddedKv
    from sojourn.lab.emulated_network import LEAST_BIT_PER_S as LEAST_BIT_PER_S
    from sojourn.lab.emulated_network import MOST_BIT_PER_S as MOST_BIT_PER_S
    from sojourn.lab.emulated_network import NIC as NIC
    from sojourn.lab.emulated_network import EmulatedNetwork as EmulatedNetwork
    from sojourn.lab.guest_command import LINK as LINK
    from sojourn.lab.guest_command import LISTENS as LISTENS
    from sojourn.lab.guest_command import GuestDisk as GuestDisk
    from sojourn.lab.guest_command import GuestShape as GuestShape
    from sojourn.lab.guest_image import lacking_modules as lacking_modules
    from sojourn.lab.guest_parts import GuestParts as GuestParts
    from sojourn.lab.guest_parts import guest_parts as guest_parts
    from sojourn.lab.guest_parts import with_kernel as with_kernel
    from sojourn.lab.guest_probe import guest_kind as guest_kind
    from sojourn.lab.guest_programs import folder_files as folder_files
    from sojourn.lab.guest_programs import program_files as program_files
    from sojourn.lab.guest_samples import GuestSamples as GuestSamples
    from sojourn.lab.guest_samples import merge_guests as merge_guests
    from sojourn.lab.guest_samples import merge_samples as merge_samples
    from sojourn.lab.guest_samples import ticks_busy as ticks_busy
    from sojourn.lab.load_here import load_blocks as load_blocks
    from sojourn.lab.namespaces import in_namespace as in_namespace
    from sojourn.lab.owned_folder import make_owned_folder as make_owned_folder
    from sojourn.lab.owned_folder import owned_folder as owned_folder
    from sojourn.lab.owned_folder import owner_of as owner_of
    from sojourn.lab.owned_folder import stale_folders as stale_folders
    from sojourn.lab.process_tree import GONE_S as GONE_S
    from sojourn.lab.process_tree import alive as alive
    from sojourn.lab.process_tree import children as children
    from sojourn.lab.process_tree import how_ended as how_ended
    from sojourn.lab.process_tree import send as send
    from sojourn.lab.process_tree import wait_until as wait_until
    from sojourn.lab.slow_disk import MOST_DISK_BPS as MOST_DISK_BPS
    from sojourn.lab.slow_disk import SlowDisk as SlowDisk
    from sojourn.lab.slow_disk import slow_disk as slow_disk
    from sojourn.lab.worker_in_guest import GuestWorker as GuestWorker
    from sojourn.lab.worker_in_guest import guest_worker as guest_worker
    from sojourn.lab.worker_process import WorkerProcess as WorkerProcess
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "backends": ["Environment", "LoopbackBackend", "NamespaceBackend", "environment", "why_not_namespaces"],
            "capped_log": ["last_lines"],
            "cgroups": ["LEAST_CORE_SHARE", "QUOTA_PERIODS", "QUOTA_USED_UP", "CpuShareCgroup", "in_group"],
            "cleanup_registry": ["CleanupRegistry", "clean_stale"],
            "core_placement": ["FIRST_CORES", "PLACEMENTS", "choose_cores", "split_cores"],
            "counted_groups": ["CLIENT", "CountedGroups", "counted_groups"],
            "cpu_affinity": ["pin"],
            "cpu_topology": ["Core", "CorePlacement", "cores", "place"],
            "doctor": ["AbilityCheck"],
            "embedded_kv": ["EmbeddedKv"],
            "emulated_network": ["LEAST_BIT_PER_S", "MOST_BIT_PER_S", "NIC", "EmulatedNetwork"],
            "guest_command": ["LINK", "LISTENS", "GuestDisk", "GuestShape"],
            "guest_image": ["lacking_modules"],
            "guest_parts": ["GuestParts", "guest_parts", "with_kernel"],
            "guest_probe": ["guest_kind"],
            "guest_programs": ["folder_files", "program_files"],
            "guest_samples": ["GuestSamples", "merge_guests", "merge_samples", "ticks_busy"],
            "worker_in_guest": ["GuestWorker", "guest_worker"],
            "load_here": ["load_blocks"],
            "namespaces": ["in_namespace"],
            "owned_folder": ["make_owned_folder", "owned_folder", "owner_of", "stale_folders"],
            "process_tree": ["GONE_S", "alive", "children", "how_ended", "send", "wait_until"],
            "slow_disk": ["MOST_DISK_BPS", "SlowDisk", "slow_disk"],
            "worker_process": ["WorkerProcess"],
        },
    )
