"""The command line's verbs, each imported when it is used."""

from __future__ import annotations

import typer

from sojourn.cli import (
    design,
    fit,
    kv_proxy,
    lab,
    load,
    measure,
    methods,
    predict,
    report,
    serve,
    serve_messages,
    simulate,
    solve,
    study,
    validate,
)

app = typer.Typer(
    name="sojourn",
    help="Measure a service under a known load, fit a queueing model, predict what nobody has run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("load")(load.load)
app.command("measure")(measure.measure)
app.command("solve")(solve.solve)
app.command("methods")(methods.methods)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("simulate")(simulate.simulate)
app.command("validate")(validate.validate)
app.command("report")(report.report)
app.command("study")(study.study)
services = typer.Typer(
    cls=kv_proxy.Services,
    help="Starts a service on loopback: kv-proxy, messages, or a testbed by its name (sojourn serve web --help).",
    no_args_is_help=True,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
services.command("kv-proxy")(kv_proxy.kv_proxy)
services.command("messages")(serve_messages.messages)
services.command("testbed", hidden=True)(serve.serve)
app.add_typer(services, name="serve")
app.add_typer(design.app, name="design")
app.add_typer(lab.app, name="lab")
