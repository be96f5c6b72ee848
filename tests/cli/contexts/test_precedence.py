"""Flag > environment > context > default, for each option that more than one of them can say."""

import dataclasses
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from kgroups.cli.app import program
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.tree import Command

SOURCES: Final = ("flag", "environment", "context")


class Said(NamedTuple):
    """An option, and what each source says of it.

    Args:
        field: of `GlobalOptions`.
        flag, environment, context: how each source says it.
        values: what that comes to, in this order, and the default.
    """

    field: str
    flag: str
    environment: tuple[str, str]
    context: str
    values: tuple[Any, Any, Any, Any]


TABLE: Final = (
    Said(
        "bootstrap_server",
        "--bootstrap-server=flag:1",
        ("KGROUPS_BOOTSTRAP_SERVER", "env:1"),
        "bootstrap_servers: file:1",
        ("flag:1", "env:1", "file:1", None),
    ),
    Said(
        "command_config",
        "--command-config=/flag",
        ("KGROUPS_COMMAND_CONFIG", "/env"),
        "command_config: /file",
        ("/flag", "/env", "/file", None),
    ),
    Said(
        "client",
        "--client=librdkafka",
        ("KGROUPS_CLIENT", "auto"),
        "client: librdkafka",
        ("librdkafka", "auto", "librdkafka", None),
    ),
    Said(
        "output",
        "--output=csv",
        ("KGROUPS_OUTPUT", "json"),
        "output: yaml",
        ("csv", "json", "yaml", "table"),
    ),
    Said(
        "timeout_ms",
        "--timeout=1s",
        ("KGROUPS_TIMEOUT", "2s"),
        "timeout: 3s",
        (1_000, 2_000, 3_000, 10_000),
    ),
)


def in_force(words: list[str], env: dict[str, str]) -> dict[str, Any]:
    """The global options that a command sees."""
    app = program()

    def probe(ctx: typer.Context) -> None:
        options: GlobalOptions = options_of(ctx)
        names = [context.name for context in options.contexts]
        shown = dataclasses.asdict(dataclasses.replace(options, contexts=()))
        print(json.dumps({**shown, "contexts": names}, default=str))

    app.command("probe", cls=Command)(probe)
    clean = {said.environment[0]: None for said in TABLE} | {"KGROUPS_CONTEXT": None}
    result = CliRunner().invoke(app, words, env={**clean, **env})
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def cases() -> Iterator[Any]:
    """Every option, said by every set of sources."""
    for said in TABLE:
        for count in range(len(SOURCES) + 1):
            for sources in itertools.combinations(SOURCES, count):
                yield pytest.param(said, sources, id=f"{said.field}-{'-'.join(sources) or 'none'}")


@pytest.mark.parametrize("is_after", [True, False], ids=["after", "before"])
@pytest.mark.parametrize(("said", "sources"), list(cases()))
def test_precedence(tmp_path: Path, said: Said, sources: tuple[str, ...], is_after: bool) -> None:
    """The strongest source wins, wherever the flag stands; a context says what nobody else does."""
    config = tmp_path / "config.yaml"
    inside = said.context if "context" in sources else "protected: false"
    config.write_text(f"current: c\ncontexts:\n  c:\n    {inside}\n")
    env = {"KGROUPS_CONFIG": str(config)}
    if "environment" in sources:
        env |= dict([said.environment])
    flags = [said.flag] if "flag" in sources else []
    words = ["probe", *flags] if is_after else [*flags, "probe"]
    expected = next(
        (value for name, value in zip(SOURCES, said.values, strict=False) if name in sources),
        said.values[-1],
    )
    assert in_force(words, env)[said.field] == expected


TWO: Final = "contexts:\n  a: {bootstrap_servers: 'a:1'}\n  b: {bootstrap_servers: 'b:1'}\n"


@pytest.mark.parametrize(
    ("words", "named", "current", "expected"),
    [
        ("probe -c a", "b", "b", "a"),
        ("-c a probe", "b", "b", "a"),
        ("-c b probe -c a", None, None, "a"),
        ("probe", "a", "b", "a"),
        ("probe", "", "b", "b"),
        ("probe", None, "a", "a"),
        ("probe", None, None, None),
    ],
)
def test_which_context(
    tmp_path: Path, words: str, named: str | None, current: str | None, expected: str | None
) -> None:
    """The flag beats `KGROUPS_CONTEXT`, that the current one of the file; there may be none."""
    config = tmp_path / "config.yaml"
    config.write_text((f"current: {current}\n" if current else "") + TWO)
    env = {"KGROUPS_CONFIG": str(config)} | ({} if named is None else {"KGROUPS_CONTEXT": named})
    found = in_force(words.split(), env)
    assert found["contexts"] == ([expected] if expected else [])
    assert found["bootstrap_server"] == (f"{expected}:1" if expected else None)
