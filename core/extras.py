"""Extras of the package: which are installed, and the command that adds one."""

import os
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

from kgroups.core.errors import UsageError

Extra = Literal["spark", "duckdb", "collect", "html", "search", "aws", "kerberos"]
EXTRAS: Final[tuple[Extra, ...]] = get_args(Extra)
MODULES: Final[Mapping[Extra, tuple[str, ...]]] = MappingProxyType(
    {
        "spark": ("pyspark", "pyarrow", "pandas", "sqlglot", "deltalake"),
        "duckdb": ("duckdb", "pyarrow", "sqlglot", "deltalake"),
        "collect": ("pyarrow", "deltalake"),
        "html": ("altair", "vl_convert"),
        "search": ("optuna",),
        "aws": ("aws_msk_iam_sasl_signer",),
        "kerberos": ("gssapi",),
    }
)
"""The module that each of them brings."""


class MissingExtraError(UsageError):
    """Something was asked for that needs an extra of the package which is not installed."""

    default_code = "MISSING_EXTRA"


def require_extra(extra: Extra, what: str) -> None:
    """See that an extra is installed, before any work that would be lost without it.

    Args:
        what: the command or option that needs it, in backticks.
    Raises:
        MissingExtraError: it is not.
    """
    if not has_extra(extra):
        raise missing_extra(extra, what)


def has_extra(extra: Extra) -> bool:
    """Whether everything that an extra brings can be imported."""
    return all(module in sys.modules or find_spec(module) for module in MODULES[extra])


def missing_extra(extra: Extra, what: str) -> MissingExtraError:
    """The failure of what needs an extra that is not installed."""
    hint = install_hint(extra)
    if extra == "kerberos":
        hint += (
            "; it takes a C compiler and Kerberos's headers, so it is not part of `kgroups[all]`"
        )
    return MissingExtraError(
        f"{what} requires the extra `{extra}` of kgroups, which is not installed", hint=hint
    )


def install_hint(extra: Extra) -> str:
    """How to add an extra, in the words of what kgroups was installed with."""
    if "PEX" in os.environ:
        return (
            f"a single file has no extras; install the package: {_command('pip install', [extra])}"
        )
    prefix = Path(sys.prefix)
    # These two make the environment anew: what is there already has to be named too.
    everything = [option for option in EXTRAS if option == extra or has_extra(option)]
    if (prefix / "pipx_metadata.json").exists():
        return _command("pipx install --force", everything)
    if (prefix / "uv-receipt.toml").exists():
        return _command("uv tool install", everything)
    return _command("uv pip install" if _is_of_uv(prefix) else "pip install", [extra])


def _command(words: str, extras: Iterable[Extra]) -> str:
    return f"`{words} 'kgroups[{','.join(extras)}]'`"


def _is_of_uv(prefix: Path) -> bool:
    """Whether uv made the environment, which then has no pip."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)
