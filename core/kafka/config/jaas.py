"""Java's `sasl.jaas.config`: one login module, its options, a user name and a password in them."""

import re
from typing import NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.input_files.properties import Property

_HINT = (
    'expected `org.apache.kafka.common.security.scram.ScramLoginModule required username="…" '
    'password="…";`'
)
_OPTION = re.compile(
    r"""\s*(?P<name>[\w.$-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s";]+))""",
    re.DOTALL,
)


class Login(NamedTuple):
    """What a login module was given; None where it was not."""

    module: str
    username: str | None
    password: str | None


def parse_jaas(config: Property) -> Login:
    """Login module, user name and password of a `sasl.jaas.config` value.

    Args:
        config: the property; its value is not repeated in messages because it holds a password.
    Raises:
        UsageError: the text is not one login module with options, ended by a semicolon.
    """
    text = config.value.strip()
    head = re.match(r"([\w.$]+)\s+(required|requisite|sufficient|optional)\b", text, re.IGNORECASE)
    if head is None:
        raise UsageError(f"{config.place}: `sasl.jaas.config` has no login module", hint=_HINT)
    options: dict[str, str] = {}
    position = head.end()
    while match := _OPTION.match(text, position):
        quoted = match["quoted"]
        value = match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[match["name"]] = value
        position = match.end()
    if text[position:].strip() != ";":
        what = "does not end with `;`" if not text[position:].strip() else "has a malformed option"
        raise UsageError(f"{config.place}: `sasl.jaas.config` {what}", hint=_HINT)
    module = head[1].rpartition(".")[2]
    return Login(module, options.get("username"), options.get("password"))
