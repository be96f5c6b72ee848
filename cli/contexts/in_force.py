"""Where the configuration file is, and which contexts are in force. Imports no YAML by itself."""

import os
from pathlib import Path

from kgroups.cli.contexts.context import Context


def config_path() -> Path:
    """The configuration file: `KGROUPS_CONFIG`, else that of the XDG folder."""
    own = os.environ.get("KGROUPS_CONFIG")
    if own:
        return Path(own).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(folder).expanduser() / "kgroups" / "config.yaml"


def contexts_of(names: tuple[str, ...]) -> tuple[Context, ...]:
    """The contexts of these names; of none, the current one if there is one.

    Raises:
        UsageError: the configuration file cannot be understood, or does not have a name.
    """
    path = config_path()
    if not names and not os.path.lexists(path):
        return ()
    from kgroups.cli.contexts.context_file import read_contexts  # YAML: only where there is a file

    file = read_contexts(path)
    if not names:
        return () if file.current is None else (file.contexts[file.current],)
    return tuple(file.named(name) for name in dict.fromkeys(names))
