"""Command lines: options as data, and the two readers of them, Typer and a plain one."""
