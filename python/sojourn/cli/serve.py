"""`sojourn serve`: services on this host, until Ctrl-C; ours, and those of the cases that are installed."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from sojourn.cases import commands, imported
from sojourn.errors import InputError

SERVICES = {"kv": "sojourn.cli.serve_kv:kv"}


class _ServeGroup(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            names = ", ".join(sorted(self.commands))
            more = "" if len(self.commands) > len(SERVICES) else "; packages of cases add more services"
            raise InputError(repr(args[0]), "serve", f"use one of {names}{more}")
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_ServeGroup, help="Starts a service on loopback, until Ctrl-C.", no_args_is_help=True)
for _name, _place in sorted(commands("serve", SERVICES).items()):
    app.command(_name)(imported(_place))
