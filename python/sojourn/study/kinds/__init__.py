"""Systems of a user's own, and the names of all: a `System` has options, factors and resources, and is opened to run points.

Map: `command_system` a program of the user's own, started for each run, `command_options` what is said of it, `command_session` one
such program while it runs · `call_system` a function of the user's own · `url_system` a service that somebody else runs ·
`http_system` the load on a URL · `simulated_model` a model, simulated · `placeholders` where values of factors go in the text of a
user · `time_values` times as files have them · `watched_resources` resources as files name them.
"""

# kind → where its class is; study files also name classes of their own, as FILE.py:CLASS
SYSTEMS: dict[str, str] = {
    "bulletin": "sojourn.system.bulletin_board:BulletinSystem",
    "bulletin-simulated": "sojourn.system.bulletin_board_simulated:SimulatedBulletin",
    "command": "sojourn.study.kinds.command_system:CommandSystem",
    "kv": "sojourn.system.kv.system:KvSystem",
    "kv-simulated": "sojourn.system.kv.simulated_system:SimulatedKv",
    "url": "sojourn.study.kinds.url_system:UrlSystem",
    "virtual": "sojourn.study.kinds.simulated_model:VirtualSystem",
    "web": "sojourn.system.web_shop:WebSystem",
    "web-virtual": "sojourn.system.web_shop_simulated:WebVirtualSystem",
    "messages": "sojourn.system.message_service:MessagesSystem",
    "messages-simulated": "sojourn.system.message_service_simulated:SimulatedMessages",
    "storage": "sojourn.system.storage:StorageSystem",
    "storage-simulated": "sojourn.system.storage_simulated:SimulatedStorage",
}
