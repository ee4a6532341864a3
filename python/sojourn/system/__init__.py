"""What a study runs: a `System` has options, factors and resources, and is opened to run points into run folders.

Map: `system` the protocol, points, factors · `time_values` times as files have them · `placeholders` where values of
factors go in the text of a user · `watched_resources` resources as files name them · `http_system` the load on a URL ·
`command_system` a program of the user's own, started for each run · `command_session` one such program while it runs ·
`call_system` a function of the user's own · `url_system` a service that somebody else runs · `simulated_model` a model,
simulated · `kv` a memcached middleware · `message_service` the message service, `message_service_metrics` what it says of
itself, `message_service_simulated` the same with known times · `bulletin_board` a three-tier site, `bulletin_board_tiers` its
processes in one run, `bulletin_board_simulated` the same with everything known · `storage` I/Os on paths to a disk,
`storage_paths` which there are, `storage_simulated` the same with known costs · `web_shop` the web shop on hosts of its
own, `web_shop_simulated` on a simulated host.
"""

from sojourn.measure.resources import Resource
from sojourn.system.call_system import CallOptions, CallSystem
from sojourn.system.command_system import CommandSystem
from sojourn.system.simulated_model import VirtualSystem
from sojourn.system.system import Factor, Point, Session, System
from sojourn.system.url_system import UrlSystem

# kind → where its class is; study files also name classes of their own, as FILE.py:CLASS
SYSTEMS: dict[str, str] = {
    "bulletin": "sojourn.system.bulletin_board:BulletinSystem",
    "bulletin-simulated": "sojourn.system.bulletin_board_simulated:SimulatedBulletin",
    "command": "sojourn.system.command_system:CommandSystem",
    "kv": "sojourn.system.kv.system:KvSystem",
    "kv-simulated": "sojourn.system.kv.simulated_system:SimulatedKv",
    "url": "sojourn.system.url_system:UrlSystem",
    "virtual": "sojourn.system.simulated_model:VirtualSystem",
    "web": "sojourn.system.web_shop:WebSystem",
    "web-virtual": "sojourn.system.web_shop_simulated:WebVirtualSystem",
    "messages": "sojourn.system.message_service:MessagesSystem",
    "messages-simulated": "sojourn.system.message_service_simulated:SimulatedMessages",
    "storage": "sojourn.system.storage:StorageSystem",
    "storage-simulated": "sojourn.system.storage_simulated:SimulatedStorage",
}

__all__ = [
    "SYSTEMS",
    "CallOptions",
    "CallSystem",
    "CommandSystem",
    "Factor",
    "Point",
    "Resource",
    "Session",
    "System",
    "UrlSystem",
    "VirtualSystem",
]
