"""The configuration file, read strictly.

current: eu
contexts:
  eu:
    bootstrap_servers: kafka-eu:9093
    cluster_id: Yx1a…
    protected: true
    properties:
      security.protocol: SASL_SSL
      sasl.password: env:KAFKA_PASSWORD
"""

import os
from pathlib import Path
from typing import Any, Final, get_args

from kgroups.cli.contexts.context import NAME, NAME_HINT, OPTION_READERS, Context, ContextFile
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, parse_document
from kgroups.core.input_files.files import MIB, lies_at, read_text
from kgroups.core.kafka.config.settings import parse_addresses
from kgroups.core.lag.lag_query import EngineName

MAX_BYTES: Final = MIB
KEYS: Final = (
    "bootstrap_servers",
    "command_config",
    "properties",
    "client",
    "cluster_id",
    "protected",
    "output",
    "timeout",
    "engine",
    "values",
)
_EXPECTED: Final = "contexts of kgroups in YAML"


def read_contexts(path: Path) -> ContextFile:
    """The contexts of the file; none if there is no file.

    Raises:
        UsageError: it cannot be read or understood; names file, line and accepted keys.
    """
    if lies_at(path) is None and not os.path.lexists(path):
        return ContextFile(path)
    return parse_contexts(read_text(path, MAX_BYTES, _EXPECTED), path)


def parse_contexts(text: str, path: Path) -> ContextFile:
    """The contexts of the file's text.

    Raises:
        UsageError: it cannot be understood.
    """
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return ContextFile(path, text=text)
    root = parse_document(text, str(path), "yaml").root
    fields = root.fields((), ("current", "contexts"))
    contexts: dict[str, Context] = {}
    if fields.values.get("contexts") is not None:
        for name, cursor in fields["contexts"].entries():
            check_name(name, cursor)
            contexts[name] = _context(name, cursor, path.parent)
    current = fields.optional("current", Cursor.text)
    if current is not None and current not in contexts:
        names = ", ".join(f"`{name}`" for name in contexts) or "no contexts"
        fields["current"].fail(f"no context `{current}`", hint=f"it has {names}")
    return ContextFile(path, contexts, current, text)


def check_name(name: str, cursor: Cursor | None = None) -> None:
    """See that a context can have this name.

    Raises:
        UsageError: it cannot.
    """
    if NAME.fullmatch(name):
        return
    if cursor is None:
        raise UsageError(f"`{name}` cannot be the name of a context", hint=NAME_HINT)
    cursor.fail(f"`{name}` cannot be the name of a context", hint=NAME_HINT, key=True)


def _context(name: str, cursor: Cursor, folder: Path) -> Context:
    if cursor.value is None:
        return Context(name)
    fields = cursor.fields((), KEYS)
    properties = fields.optional("properties", _properties) or {}
    config = fields.optional("command_config", Cursor.text)
    if config is not None and properties:
        fields["properties"].fail(
            "`command_config` and `properties` cannot be used together", key=True
        )
    return Context(
        name,
        bootstrap_servers=fields.optional("bootstrap_servers", _addresses),
        properties=properties,
        command_config=None if config is None else folder / Path(config).expanduser(),
        client=fields.optional("client", lambda at: _as_option(at, "client")),
        cluster_id=fields.optional("cluster_id", _some_text),
        protected=fields.optional("protected", Cursor.flag) or False,
        output=fields.optional("output", lambda at: _as_option(at, "output")),
        timeout_ms=fields.optional("timeout", lambda at: _as_option(at, "timeout")),
        engine=fields.optional("engine", lambda at: at.text(get_args(EngineName))),
        values=fields.optional("values", lambda at: at.text(("never",))),
    )


def _addresses(cursor: Cursor) -> str:
    text = cursor.text()
    try:
        parse_addresses(text)
    except UsageError as error:
        cursor.fail(error.message, hint=error.hint)
    return text


def _some_text(cursor: Cursor) -> str:
    text = cursor.text()
    if not text:
        cursor.fail("expected text, found nothing")
    return text


def _as_option(cursor: Cursor, name: str) -> Any:
    text = cursor.text()
    try:
        return OPTION_READERS[name](text)
    except UsageError as error:
        cursor.fail(error.message, hint=error.hint)


def _properties(cursor: Cursor) -> dict[str, Cursor]:
    properties: dict[str, Cursor] = {}
    for name, at in cursor.entries():
        if at.value is None or isinstance(at.value, dict | list):
            at.text()  # says what it is
        properties[name] = at
    return properties


def property_text(cursor: Cursor) -> str:
    """An inline property as it would stand in a file of properties."""
    if isinstance(cursor.value, bool):
        return str(cursor.value).lower()
    return str(cursor.value)
