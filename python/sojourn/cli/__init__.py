"""The command line: one file a verb, each calls one public function."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line; an error of ours becomes one message and its exit code."""
    import typer
    from rich.console import Console

    from sojourn.cli.app import app
    from sojourn.errors import SojournError

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except SojournError as error:
        console.print(f"sojourn: {error}", style="red")
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        console.print("sojourn: interrupted; what was measured is kept, what was made for it has been removed")
        sys.exit(130)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except typer.TyperException as error:
        console.print(f"sojourn: {error}; sojourn --help shows how", style="red")
        sys.exit(2)
