"""What a study runs: a `System` has options, factors and resources, and is opened to run points into run folders.

Map: `system` the protocol, points, factors · `seconds` times as files have them · `placeholders` where values of factors go in the
text of a user · `watching` resources as files name them · `http` the load on a URL · `command` a program of the user's own, started
for each run · `service` one such program while it runs · `calls` a function of the user's own · `url` a service that somebody else
runs · `virtual` a model, simulated · `kv` a memcached middleware · `messages` the message service, `messages_reading` what it says
of itself, `messages_simulated` the same with known times · `web` the web shop on hosts of its own, `web_virtual` on a simulated
host.
"""

from sojourn.measure.resources import Resource
from sojourn.system.calls import CallOptions, CallSystem
from sojourn.system.command import CommandSystem
from sojourn.system.system import Factor, Point, Session, System
from sojourn.system.url import UrlSystem
from sojourn.system.virtual import VirtualSystem

# kind → where its class is; study files also name classes of their own, as FILE.py:CLASS
SYSTEMS: dict[str, str] = {
    "command": "sojourn.system.command:CommandSystem",
    "kv": "sojourn.system.kv.system:KvSystem",
    "kv-simulated": "sojourn.system.kv.simulated:SimulatedKv",
    "url": "sojourn.system.url:UrlSystem",
    "virtual": "sojourn.system.virtual:VirtualSystem",
    "web": "sojourn.system.web:WebSystem",
    "web-virtual": "sojourn.system.web_virtual:WebVirtualSystem",
    "messages": "sojourn.system.messages:MessagesSystem",
    "messages-simulated": "sojourn.system.messages_simulated:SimulatedMessages",
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
