"""Global options: their texts, and which of flag, environment and default wins."""

from pathlib import Path

import pytest

from kgroups.cli.completion.live_names import read_line
from kgroups.cli.params import GlobalOptions, parse_choice, parse_timeout_ms
from kgroups.core.errors import UsageError
from tests.support.cli.runner import run


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("500ms", 500),
        ("10s", 10_000),
        ("10", 10_000),
        ("1.5s", 1_500),
        ("2 m", 120_000),
        ("1h30m", 5_400_000),
    ],
)
def test_durations(text: str, duration_ms: int) -> None:
    """A number and its unit, seconds where there is none."""
    assert parse_timeout_ms(text) == duration_ms


@pytest.mark.parametrize("text", ["", "0s", "-1s", "25h", "ten", "1e3s", "99999999m", "٣s"])
def test_no_durations(text: str) -> None:
    """Anything else is a usage error that says how to write it."""
    with pytest.raises(UsageError, match=r"is not a duration|is out of range"):
        parse_timeout_ms(text)


def test_choices_in_any_case_and_by_commas() -> None:
    """Values come back in Kafka's spelling, each once."""
    assert parse_choice(["empty, STABLE", "Empty,"], ("Stable", "Empty"), "state") == (
        "Empty",
        "Stable",
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("args", "env", "first"),
    [
        ("list --from shop.json", {"KGROUPS_OUTPUT": "csv"}, "group,"),
        ("list --from shop.json -o jsonl", {"KGROUPS_OUTPUT": "csv"}, '{"group"'),
        ("-o jsonl list --from shop.json", {"KGROUPS_OUTPUT": "csv"}, '{"group"'),
        ("-o jsonl snapshot -o csv show shop.json -o yaml", {}, "schema:"),
        ("-o jsonl snapshot -o csv show shop.json", {}, "group,"),
        ("list --from shop.json", {}, "GROUP"),
    ],
)
def test_precedence(args: str, env: dict[str, str], first: str) -> None:
    """The last flag beats the ones before, any flag the environment, that the default."""
    assert run(*args.split(), env=env).stdout.startswith(first)


def test_a_bad_environment_is_a_usage_error() -> None:
    """A value of the environment is held to the same rules."""
    outcome = run("list", env={"KGROUPS_TIMEOUT": "soon"})
    assert outcome.exit_code == 2
    assert "`soon` is not a duration" in outcome.stderr


@pytest.mark.parametrize(
    ("line", "server", "prefix"),
    [
        ("kgroups -b a:1 describe or", "a:1", "or"),
        ("kgroups -b a:1 describe --bootstrap-server=b:2 ", "b:2", ""),
        ("kgroups describe my\\ gr", "env:9", "my gr"),
        ("kgroups describe 'my gr", "env:9", "gr"),
        ("kgroups describe -b ", "env:9", ""),
    ],
)
def test_read_half_a_line(line: str, server: str, prefix: str) -> None:
    """Completion asks the cluster that the line names, for names that go on from its last word."""
    options, found = read_line(line, GlobalOptions(bootstrap_server="env:9"))
    assert (options.bootstrap_server, found) == (server, prefix)


def test_read_half_a_line_with_settings() -> None:
    """The client settings that the line names are used."""
    options, _ = read_line("kgroups --command-config c.properties describe ", GlobalOptions())
    assert options.command_config == Path("c.properties")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("describe g --topic", "see `kgroups describe --help`"),
        ("lag report --by", "see `kgroups lag report --help`"),
        ("-b 127.0.0.1:1 delete-records orders --before soon", "use --before 7d, --before 1500"),
    ],
)
def test_hints_are_of_the_command(line: str, hint: str) -> None:
    """An option without its value, and a target that is none."""
    outcome = run(*line.split())
    assert outcome.exit_code == 2
    assert f"hint: {hint}" in outcome.stderr
