"""The program `kgroups`."""

import typer

app = typer.Typer(name="kgroups", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Consumer groups of Apache Kafka: list, describe, change, and predict."""


def main() -> None:
    """Runs the command line."""
    app()
