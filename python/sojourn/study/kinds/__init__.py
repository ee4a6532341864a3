"""Systems of a user's own, and the names of all: a `System` has options, factors and resources, and is opened to run points.

Map: `command_system` a program of the user's own, started for each run, `command_options` what is said of it, `command_session` one
such program while it runs · `call_system` a function of the user's own · `url_system` a service that somebody else runs ·
`http_system` the load on a URL · `simulated_model` a model, simulated · `placeholders` where values of factors go in the text of a
user · `time_values` times as files have them · `study_resources` resources as files name them.
"""

# kind → where its class is; cases have further ones, and study files name classes of their own, as FILE.py:CLASS
SYSTEMS: dict[str, str] = {
    "command": "sojourn.study.kinds.command_system:CommandSystem",
    "url": "sojourn.study.kinds.url_system:UrlSystem",
    "virtual": "sojourn.study.kinds.simulated_model:VirtualSystem",
}
