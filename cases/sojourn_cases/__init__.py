"""Five systems that were studied with sojourn, each a package of its own: `web`, `kv`, `messages`, `ntier`, `storage`; `common` is what
two of them need. sojourn finds them by their entry points (`pyproject.toml`)."""
