"""`sojourn ui [FOLDER]`: runs, models and studies of a folder in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.errors import LabError
from sojourn.terminal import say


def ui(
    folder: Annotated[Path, typer.Argument(help="a folder with runs, model files or studies")] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on 127.0.0.1; 0: any that is free")] = 0,
    write: Annotated[bool, typer.Option("--allow-saving", help="let pages save new model files in the folder")] = False,
) -> None:
    """Shows runs, models and studies in a browser.

    Open the URL that it prints: who has it may look at the folder, nobody else. It listens on 127.0.0.1 only, writes nothing without
    --allow-saving, and ends with Ctrl-C.
    """
    try:
        from sojourn.ui.serve import serve
    except ModuleNotFoundError as error:
        raise LabError(f"no package {error.name}", "sojourn ui", "pip install 'sojourn[ui]'") from None

    say("open this URL in a browser; Ctrl-C ends the workbench", err=True)
    serve(folder, say, port=port, write=write)
