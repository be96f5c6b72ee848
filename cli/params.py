"""Options that every command takes, before its name and after it, and where their values come from.

Order of precedence: the flag nearest to the end of the line, the environment, the context, the
default.
"""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import typer

from kgroups.cli.contexts.context import OPTION_READERS, Context
from kgroups.cli.contexts.guards import EXPECT, REASON, UNPROTECTED
from kgroups.cli.contexts.in_force import contexts_of
from kgroups.cli.usage import option
from kgroups.core.errors import UsageError
from kgroups.core.times import parse_duration_ms

OutputFormat = Literal[
    "table", "json", "jsonl", "csv", "yaml", "plain", "openmetrics", "junit", "nagios"
]
OWN_FORMS: Final = {
    "openmetrics": "`list`, `describe`, `check` and `lag report`",
    "junit": "`kgroups check`",
    "nagios": "`kgroups check`",
}
"""Forms that only some commands have, and which."""
OUTPUT_FORMATS: Final[tuple[str, ...]] = tuple(
    name for name in get_args(OutputFormat) if name not in OWN_FORMS
)
MORE_FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "": ("plain",),
    "list": ("plain", "openmetrics"),
    "describe": ("plain", "openmetrics"),
    "check": ("openmetrics", "junit", "nagios"),
    "lag report": ("openmetrics",),
    "reset-offsets": ("plain",),
    "copy-offsets": ("plain",),
    "delete-offsets": ("plain",),
    "delete": ("plain",),
    "delete-records": ("plain",),
    "apply": ("plain",),
}
"""Forms that not every command has, by the words of those that do; "" is the program."""
CLIENTS: Final = ("auto", "librdkafka")
"""`auto` is ours, and librdkafka for logins that only it has."""

DEFAULT_TIMEOUT_MS: Final = 10_000
MAX_TIMEOUT_MS: Final = 24 * 3_600_000

META: Final = "kgroups.global."
"""The prefix of global options' names in the context of a command."""


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Values of the options common to all commands.

    Args:
        bootstrap_server: `host:port[,host:port]`; None if neither flag nor environment names it.
        command_config: properties file of the client; None if none is named.
        client: one of `CLIENTS`; None if neither flag nor environment names it.
        timeout_ms: for the whole command's talk with the cluster.
        query: JMESPath over the JSON document, as it was written.
        quiet: no notes and no progress on stderr, only warnings and errors.
        no_input: never ask for anything.
        csv_safe: in CSV, a quotation mark before text that a spreadsheet would calculate.
        no_color: plain text even on a terminal.
        debug: a line on stderr for each request to a broker.
        verbose: tracebacks of bugs, more columns where a command has them.
        contexts: in force; more than one only for commands that take several.
        expect_cluster_id: of the only cluster that may be written to.
        unprotected: name of the protected context that may be written to.
        reason: for the audit log.
    """

    bootstrap_server: str | None = None
    command_config: Path | None = None
    client: str | None = None
    output: OutputFormat = "table"
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    query: str | None = None
    formats: tuple[str, ...] = OUTPUT_FORMATS
    quiet: bool = False
    no_input: bool = False
    csv_safe: bool = False
    no_color: bool = False
    debug: bool = False
    verbose: bool = False
    contexts: tuple[Context, ...] = ()
    expect_cluster_id: str | None = None
    unprotected: str | None = None
    reason: str | None = None

    @property
    def context(self) -> Context | None:
        """The context in force; None without one."""
        return self.contexts[0] if self.contexts else None


def parse_timeout_ms(text: str) -> int:
    """Milliseconds of a duration from a millisecond to a day.

    Raises:
        UsageError: not such a text.
    """
    return round(parse_duration_ms(text, least_ms=1, most_ms=MAX_TIMEOUT_MS))


def formats_of(path: str) -> tuple[str, ...]:
    """The output formats of a command, by its words; `kgroups` may stand before them."""
    usual = (name for name in OUTPUT_FORMATS if name != "plain")
    return (*usual, *MORE_FORMATS.get(path.removeprefix("kgroups").strip(), ()))


def one_of(formats: Iterable[str]) -> str:
    """The hint that names them."""
    return "one of " + ", ".join(formats)


def parse_output(text: str, formats: Iterable[str] = OUTPUT_FORMATS) -> OutputFormat:
    """The output format of this name.

    Args:
        formats: those of the command.
    Raises:
        UsageError: there is none.
    """
    for name in get_args(OutputFormat):
        if text.lower() == name:
            output: OutputFormat = name
            return output
    raise UsageError(f"`{text}` is not an output format", hint=one_of(formats))


def parse_default_output(text: str) -> OutputFormat:
    """The output format of this name, if every command has it.

    Raises:
        UsageError: not every command has it, or none.
    """
    output = parse_output(text)
    if output in OWN_FORMS:
        raise UsageError(f"`{text}` cannot be a default", hint=one_of(OUTPUT_FORMATS))
    return output


def parse_client(text: str) -> str:
    """The client of this name.

    Raises:
        UsageError: there is none.
    """
    if text.lower() not in CLIENTS:
        raise UsageError(f"`{text}` is not a client", hint="one of " + ", ".join(CLIENTS))
    return text.lower()


OPTION_READERS.update(client=parse_client, output=parse_default_output, timeout=parse_timeout_ms)


class GlobalOption(NamedTuple):
    """One global option: how it is written, what it means, how its text is read."""

    name: str
    flags: tuple[str, ...]
    help: str
    metavar: str | None = None
    env: str | None = None
    parse: Callable[[str], object] | None = None  # None: a flag without a value
    values: tuple[str, ...] = ()
    several: bool = False  # may be given several times: a tuple


GLOBAL_OPTIONS: Final = (
    GlobalOption(
        "contexts",
        ("--context", "-c"),
        "Named cluster from the configuration file.",
        "CONTEXT",
        "KGROUPS_CONTEXT",
        str,
        several=True,
    ),
    GlobalOption(
        "bootstrap_server",
        ("--bootstrap-server", "-b"),
        "Broker address; several separated by commas.",
        "HOST:PORT",
        "KGROUPS_BOOTSTRAP_SERVER",
        str,
    ),
    GlobalOption(
        "command_config",
        ("--command-config",),
        "Client properties, Java or librdkafka spelling.",
        "FILE",
        "KGROUPS_COMMAND_CONFIG",
        lambda text: Path(text).expanduser(),
    ),
    GlobalOption(
        "client",
        ("--client",),
        "auto (default), or librdkafka for everything.",
        "CLIENT",
        "KGROUPS_CLIENT",
        parse_client,
        CLIENTS,
    ),
    GlobalOption(
        "output",
        ("--output", "-o"),
        "table, json, jsonl, csv, yaml, plain.",
        "FORMAT",
        "KGROUPS_OUTPUT",
        parse_output,
        OUTPUT_FORMATS,
    ),
    GlobalOption(
        "timeout_ms",
        ("--timeout",),
        "Overall timeout: 500ms, 10s (default), 2m.",
        "TIME",
        "KGROUPS_TIMEOUT",
        parse_timeout_ms,
    ),
    GlobalOption("query", ("--query",), "JMESPath on the JSON document.", "EXPR", None, str),
    GlobalOption("quiet", ("--quiet", "-q"), "Suppress notes and progress."),
    GlobalOption("no_input", ("--no-input",), "Never prompt; writes require --yes."),
    GlobalOption("csv_safe", ("--csv-safe",), "Mark CSV text that looks like a formula."),
    GlobalOption("no_color", ("--no-color",), "No color on a terminal (also: NO_COLOR)."),
    GlobalOption("debug", ("--debug",), "Show each request to a broker, on stderr."),
    GlobalOption("verbose", ("--verbose",), "Show more columns, and tracebacks of bugs."),
)


WRITE_OPTIONS: Final = (
    GlobalOption(
        "expect_cluster_id",
        ("--expect-cluster-id",),
        "Refuse to write to any other cluster.",
        "ID",
        EXPECT,
        str,
    ),
    GlobalOption(
        "unprotected",
        ("--unprotected",),
        "Write although this context is protected.",
        "CONTEXT",
        UNPROTECTED,
        str,
    ),
    GlobalOption(
        "reason", ("--reason",), "Why, for the audit log (`kgroups audit`).", "TEXT", REASON, str
    ),
)
"""Options that every command takes which changes a cluster."""


def options_of(ctx: typer.Context, *, several: bool = False) -> GlobalOptions:
    """The global options in force for the command of this context.

    Args:
        several: whether the command takes several contexts.
    Raises:
        UsageError: a context is not known, or there are several and the command takes one.
    """
    given = given_options(ctx)
    contexts = contexts_of(given.pop("contexts", ()))
    if len(contexts) > 1:
        if not several:
            raise UsageError(
                "several contexts are given, and this command takes one",
                hint="`list`, `describe` and `check` take several",
            )
        return GlobalOptions(**given, contexts=contexts)
    return (
        within(GlobalOptions(**given), given, contexts[0]) if contexts else GlobalOptions(**given)
    )


def given_options(ctx: typer.Context) -> dict[str, Any]:
    """Values of flags and environment, by the names of options; contexts by their names."""
    given = {
        option.name: ctx.meta[META + option.name]
        for option in (*GLOBAL_OPTIONS, *WRITE_OPTIONS)
        if META + option.name in ctx.meta
    }
    return {**given, "formats": formats_of(ctx.command_path)}


def within(options: GlobalOptions, given: Container[str], context: Context) -> GlobalOptions:
    """The options with those of a context where nothing else is given.

    Args:
        given: names of the options that flags or environment say.
    """
    flags = {
        "bootstrap_server": context.bootstrap_servers,
        "command_config": context.command_config,
        "client": context.client,
        "output": context.output,
        "timeout_ms": context.timeout_ms,
    }
    own = {name: value for name, value in flags.items() if value is not None and name not in given}
    return replace(options, contexts=(context,), **own)


def check_texts(values: Iterable[object]) -> None:
    """See that arguments are UTF-8, as every name in Kafka is; paths may be anything.

    Args:
        values: what arguments and options came to: texts, sequences of texts, others.
    Raises:
        UsageError: one is not.
    """
    for value in values:
        if isinstance(value, list | tuple):
            check_texts(value)
        elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            raise UsageError(f"`{value}` is not UTF-8", hint="names in Kafka are UTF-8")


def split_names(values: list[str] | None) -> tuple[str, ...]:
    """Values of an option that may be repeated and may hold commas: trimmed, no empty ones."""
    return tuple(
        part.strip() for value in values or () for part in value.split(",") if part.strip()
    )


def assignor_names(values: list[str] | None) -> tuple[str, ...]:
    """Names of assignors; Kafka's classes may be named, too."""
    from kgroups.assignors.registry import CLASSES  # 20 ms

    return tuple(CLASSES.get(name, name) for name in split_names(values))


def parse_choice(
    values: list[str] | None,
    choices: tuple[str, ...],
    what: str,
    hint_of: Callable[[str], str | None] = lambda _: None,
) -> tuple[str, ...]:
    """The named choices in their own spelling, without regard to case, hyphens and underscores.

    Args:
        what: one of them is, for messages.
        hint_of: what to say of a word that is none of them, if it is known otherwise.

    Raises:
        UsageError: a value that is none of them.
    """
    spelling = {plain(choice): choice for choice in choices}
    chosen: dict[str, None] = {}
    for name in split_names(values):
        if plain(name) not in spelling:
            hint = hint_of(name) or "one of " + ", ".join(choices)
            raise UsageError(f"`{name}` is not a {what}", hint=hint)
        chosen[spelling[plain(name)]] = None
    return tuple(chosen)


def plain(text: str) -> str:
    """A word without regard to case, hyphens and underscores."""
    return text.strip().replace("-", "").replace("_", "").casefold()


GROUP_TYPES: Final = ("classic", "consumer", "share", "streams")

Yes = Annotated[bool, option("--yes -y", "Do not ask for confirmation.")]
HtmlFile = Annotated[Path | None, option("--html FILE", "Also write an HTML page with charts.")]
FromFile = Annotated[Path | None, option("--from FILE", "Read a snapshot instead of a cluster.")]
