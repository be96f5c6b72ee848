"""A context as the configuration file has it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kgroups.core.errors import UsageError

if TYPE_CHECKING:
    from kgroups.core.input_files.document import Cursor

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
NAME_HINT: Final = "a name has letters, digits, `.`, `_` and `-`, and begins with a letter or digit"

OPTION_READERS: Final[dict[str, Callable[[str], Any]]] = {}
"""How texts of defaults are read, by key; `cli/params.py`, which knows, puts it here."""


@dataclass(frozen=True, slots=True)
class Context:
    """A cluster under a name.

    Args:
        bootstrap_servers: `host:port[,host:port]`; None leaves it to the properties.
        properties: inline client properties as the file has them, so that a secret may still be
            `env:`, `file:` or `exec:`; each with its place in the file.
        command_config: a properties file instead.
        client: default of `--client`, by its name.
        cluster_id: of the only cluster that may be written to; None for any.
        protected: whether writes need `--unprotected`.
        output: default of `--output`, by its name.
        timeout_ms: default of `--timeout`.
        engine: default of `--engine`, of reports on captures: `lag_query.EngineName`.
        values: `never` where values of records must not be shown.
    """

    name: str
    bootstrap_servers: str | None = None
    properties: Mapping[str, "Cursor"] = field(default_factory=dict, repr=False)
    command_config: Path | None = None
    client: str | None = None
    cluster_id: str | None = None
    protected: bool = False
    output: Any = None
    timeout_ms: int | None = None
    engine: Any = None
    values: str | None = None


@dataclass(frozen=True, slots=True)
class ContextFile:
    """The configuration file.

    Args:
        current: the context that is in force where none is named.
    """

    path: Path
    contexts: Mapping[str, Context] = field(default_factory=dict)
    current: str | None = None
    text: str | None = None

    def named(self, name: str) -> Context:
        """The context of this name.

        Raises:
            UsageError: there is none.
        """
        context = self.contexts.get(name)
        if context is None:
            names = ", ".join(f"`{context}`" for context in self.contexts)
            raise UsageError(
                f"no context `{name}` in `{self.path}`",
                hint=f"it has {names}" if names else "`kgroups context add` makes one",
            )
        return context
