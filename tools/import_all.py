"""Imports each module of sojourn and of its cases once, so that Python keeps them, and what they import, compiled.

uv compiles nothing when it installs. Where a container sets PYTHONDONTWRITEBYTECODE, each command would compile all that it imports.
"""

from __future__ import annotations

import importlib
import pkgutil

NOT_RUN = ("__main__", "_main")  # what runs when it is imported


def main() -> None:
    for name in ("sojourn", "sojourn_cases"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith(NOT_RUN):
                importlib.import_module(module.name)


if __name__ == "__main__":
    main()
