"""The command line: one file a verb, which reads arguments, calls the package and prints."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sojourn.cli.console import console as console
    from sojourn.cli.console import finite as finite
    from sojourn.cli.console import print_table as print_table
    from sojourn.cli.json_answer import say_answer as say_answer
    from sojourn.cli.serve_common import STANDARD_ERROR as STANDARD_ERROR
    from sojourn.cli.serve_common import Watched as Watched
    from sojourn.cli.serve_common import stopped_early as stopped_early
else:
    from lazy_loader import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        submod_attrs={
            "console": ["console", "finite", "print_table"],
            "json_answer": ["say_answer"],
            "serve_common": ["STANDARD_ERROR", "Watched", "stopped_early"],
        },
    )

ELSEWHERE = {"sweep": "sojourn solve MODEL --vary PATH=VALUES [--parallel 2]"}  # as Python calls it
MEASURING = ("measure", "capacity", "compare")  # verbs that are asked about service and machine before their imports
COLLECTED = (50_000, 20, 20)  # new objects before circles of them are looked for: imports make many, and none that goes
INTERRUPTED = "sojourn: interrupted; measured data is kept, temporary files and processes are removed"


def main() -> None:
    """Runs the command line; an error of ours becomes one message and its exit code."""
    code: str | int | None = 0
    gc.set_threshold(*COLLECTED)
    try:
        from sojourn.cli.stop_signals import end_in_good_order

        end_in_good_order()  # before all that takes long to import: Ctrl-C then is one line, too
        _run()
    except KeyboardInterrupt:  # outside of what `_run` guards: while it imports, or while it says what went wrong
        sys.stderr.write(f"{INTERRUPTED}\n")
        code = 130  # errors.Interrupted, which may not be there yet
    except SystemExit as end:
        code = end.code
    except ImportError as error:
        if not _by_interruption(error):
            raise
        sys.stderr.write(f"{INTERRUPTED}\n")
        code = 130
    from sojourn.cli.stop_signals import too_late

    too_late()
    _forget_interruption()
    gc.freeze()  # Python looks through all that is there once more as it ends, a quarter of a short command
    sys.exit(code)


def _by_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: out of the import of a module in C it comes as an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _forget_interruption() -> None:
    """Python ends by SIGINT, not by our exit code, if Ctrl-C once went through an `exec` of text, as dataclasses have it in their
    import; the next `exec` forgets it."""
    exec("")


def _run() -> NoReturn:
    from sojourn.cli.late_modules import import_late

    import_late()
    if sys.argv[1:2] == ["load"] and "--help" not in sys.argv:
        from sojourn.measure.early_look import look

        look()
    import typer

    from sojourn.cli.app import COMPLETES, asked_words, command_line
    from sojourn.cli.former_names import present
    from sojourn.cli.stop_signals import too_late
    from sojourn.errors import Interrupted, SojournError
    from sojourn.terminal import SafeConsole

    console = SafeConsole(stderr=True, soft_wrap=True)
    try:
        words, note = present(asked_words(sys.argv[1:], os.environ))
        if note and COMPLETES not in os.environ:
            console.print(note)
        if words[:1] and words[0] in MEASURING and COMPLETES not in os.environ:
            from sojourn.cli.machine_option import ask_early  # which other commands do without

            ask_early(words)
        code = command_line(words)(args=words, standalone_mode=False)  # 130 where typer itself caught the interruption
        too_late()
        if code == Interrupted.exit_code:
            console.print(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)
    except SojournError as error:
        console.print(f"sojourn: {error}", style="red")
        sys.exit(error.exit_code)
    except OSError as error:
        console.print(f"sojourn: {error.filename or 'file'}: {error.strerror or error}; {remedy(error)}", style="red")
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        console.print(INTERRUPTED)
        sys.exit(Interrupted.exit_code)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except typer.TyperException as error:
        if not str(error):
            sys.exit(2)  # without any arguments: the help was shown
        context = getattr(error, "ctx", None)
        verb = " ".join(["sojourn", *context.command_path.partition("sojourn")[2].split()]) if context else "sojourn"
        said = error.format_message().rstrip(".")
        if said.startswith("No such command") and (other := ELSEWHERE.get(next(iter(sys.argv[1:]), ""))):
            said = f"No such command {sys.argv[1]!r}, use {other}"
        console.print(f"sojourn: {said}; {verb} --help shows how", style="red")
        sys.exit(2)


def remedy(error: OSError) -> str:
    """What helps against an error of the operating system that nobody nearer to it expected."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free space on the disk, or choose another --out"
    return "check the path and its permissions, or choose another --out"
