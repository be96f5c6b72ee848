"""Documents as YAML."""

import sys
from typing import Any, Final

import yaml

from kgroups.cli.output.escapes import visible

_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TEXT: Final = "tag:yaml.org,2002:str"


class _Dumper(_BASE):  # type: ignore[misc]
    """libyaml's writer, for any text."""


def _represent(dumper: Any, text: str) -> Any:
    """A text; in quotes, where escapes mean what they say, if a terminal gets some of them."""
    if text.isprintable():
        return dumper.represent_scalar(_TEXT, text)
    whole = text.encode(errors="backslashreplace").decode()  # libyaml takes no half surrogate
    return dumper.represent_scalar(_TEXT, whole, style='"' if sys.stdout.isatty() else None)


_Dumper.add_representer(str, _represent)


def yaml_text(value: object) -> str:
    """The document as it may stand on stdout, in lines."""
    return visible(
        yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    )
