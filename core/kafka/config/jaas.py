"""Java's `sasl.jaas.config`: one login module and its options."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.input_files.properties import Property

_HINT = (
    'expected `org.apache.kafka.common.security.scram.ScramLoginModule required username="…" '
    'password="…";`'
)
_OPTION = (
    r"""(?s)\s*(?P<name>[\w.$-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s";]+))"""
)


class Login(NamedTuple):
    """A login module and what it was given.

    Args:
        module: the name of its class, without the package.
        options: by name; some are secrets.
    """

    module: str
    options: Mapping[str, str]

    @property
    def username(self) -> str | None:
        """For PLAIN and SCRAM."""
        return self.options.get("username")

    @property
    def password(self) -> str | None:
        """For PLAIN and SCRAM."""
        return self.options.get("password")


NO_LOGIN: Final = Login("", MappingProxyType({}))


def parse_jaas(config: Property) -> Login:
    """Login module and options of a `sasl.jaas.config` value.

    Args:
        config: the property; its value is not repeated in messages because it holds secrets.
    Raises:
        UsageError: the text is not one login module with options, ended by a semicolon.
    """
    text = config.value.strip()
    head = re.match(r"([\w.$]+)\s+(required|requisite|sufficient|optional)\b", text, re.IGNORECASE)
    if head is None:
        raise UsageError(f"{config.place}: `sasl.jaas.config` has no login module", hint=_HINT)
    options: dict[str, str] = {}
    position = head.end()
    option = re.compile(_OPTION)
    while match := option.match(text, position):
        quoted = match["quoted"]
        value = match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[match["name"]] = value
        position = match.end()
    if text[position:].strip() != ";":
        what = "does not end with `;`" if not text[position:].strip() else "has a malformed option"
        raise UsageError(f"{config.place}: `sasl.jaas.config` {what}", hint=_HINT)
    module = head[1].rpartition(".")[2]
    return Login(module, options)
