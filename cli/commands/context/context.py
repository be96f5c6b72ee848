"""`kgroups context`: named clusters, listed, chosen and changed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from kgroups.cli.commands.context.context_report import contexts_report
from kgroups.cli.contexts.context_edit import (
    fields_in,
    save,
    with_context,
    with_current,
    without_context,
)
from kgroups.cli.contexts.context_file import check_name, parse_contexts, read_contexts
from kgroups.cli.contexts.foreign import read_foreign
from kgroups.cli.contexts.in_force import config_path
from kgroups.cli.exits import DOCUMENTS, Note
from kgroups.cli.output.outlet import write_text
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import (
    GlobalOptions,
    given_options,
    options_of,
    parse_default_output,
    parse_timeout_ms,
    within,
)
from kgroups.cli.source import cluster
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.lag_query import EngineName

HELP = """Manage named clusters.

A context holds an address, client properties, and defaults of --output and
--timeout. `-c NAME` or KGROUPS_CONTEXT choose one for a command, and
`context use` for all that follow. They are in ~/.config/kgroups/config.yaml;
KGROUPS_CONFIG names another file. docs/contexts.md is the guide.
"""
LIST_HELP = """List the contexts.

EXAMPLES
  kgroups context list
  kgroups context list -o json
"""
SHOW_HELP = """Show a context, without its secrets.

Without CONTEXT, the one in use.

EXAMPLES
  kgroups context show
  kgroups context show prod -o json
"""
USE_HELP = """Choose the current context.

Commands use it unless --context or KGROUPS_CONTEXT names another. --none
unsets it.

EXAMPLES
  kgroups context use staging
  kgroups context use --none
"""
ADD_HELP = """Add a context.

Takes the address and the client properties from the command line. The value
of a property may refer to a secret: env:NAME, file:PATH or exec:COMMAND.
--pin asks the cluster for its id and keeps it: writes to any other cluster
are refused from then on (exit code 4).

EXAMPLES
  kgroups context add local -b localhost:9092 --use
  kgroups context add prod -b kafka:9093 --pin --protected \\
      --property security.protocol=SASL_SSL \\
      --property sasl.mechanism=SCRAM-SHA-512 \\
      --property sasl.username=ops --property sasl.password=env:PASSWORD
  kgroups context add test --command-config test.properties
"""
REMOVE_HELP = """Remove contexts.

Clusters are not touched. If the current context is removed, none is in use
until `context use` chooses another.

EXAMPLES
  kgroups context remove old-cluster
"""
IMPORT_HELP = """Import contexts from another client's configuration.

Reads Java properties and the configurations of kcl (config.toml), kaf
(~/.kaf/config), kafkactl (config.yml) and rpk (rpk.yaml). A file that holds
several clusters becomes as many contexts, all or none. Passwords are copied
as they are; replace them by env:, file: or exec: (docs/contexts.md).

EXAMPLES
  kgroups context import client.properties --name prod
  kgroups context import ~/.kaf/config
  kgroups context import ~/.config/rpk/rpk.yaml --pin
"""
CURRENT_HELP = """Show which context is in use.

--short prints only its name, for a prompt, or nothing if none is in use;
without --short, the exit code is then 5.

EXAMPLES
  kgroups context current
  PS1='$(kgroups context current --short) $ '
"""

Name = Annotated[str, argument("CONTEXT", "Name of a context.")]


def _options(ctx: typer.Context) -> GlobalOptions:
    """The options as they are given: a context that is broken can be mended."""
    given = given_options(ctx)
    given.pop("contexts", None)
    return GlobalOptions(**given)


def list_contexts(ctx: typer.Context) -> None:
    printer = Printer(_options(ctx))
    file = _read()
    notes = []
    if not file.contexts:
        text = f"no contexts in `{file.path}`; `kgroups context add` makes one"
        notes.append(Note("NO_CONTEXTS", text, str(file.path)))
    report = contexts_report(file, file.contexts.values(), file.current)
    printer.show(replace(report, notes=notes))


def show(
    ctx: typer.Context,
    name: Annotated[Text, argument("[CONTEXT]", "Name of a context.")] = None,
) -> None:
    file = _read()
    in_force = options_of(ctx).context if name is None else file.named(name)
    if in_force is None:
        raise UsageError("no context is in use", hint="name one, or run `kgroups context use`")
    Printer(_options(ctx)).show(contexts_report(file, [in_force], file.current, in_full=True))


def use(
    ctx: typer.Context,
    name: Annotated[Text, argument("[CONTEXT]", "Name of a context.")] = None,
    none: Annotated[bool, option("--none", "Unset the current context.")] = False,
) -> None:
    if none == (name is not None):
        raise UsageError("give either a context or --none", hint="see `kgroups context list`")
    file = _read()
    if name is not None:
        file.named(name)
    save(file, with_current(file.text or "", name), fields_in(file), name)
    now = "no context is current" if name is None else f"the current context is `{name}`"
    printer = Printer(_options(ctx))
    printer.note("CURRENT_CONTEXT", now, name)
    _show_written(printer, [] if name is None else [name])


def add(
    ctx: typer.Context,
    name: Name,
    properties: Annotated[
        Texts, option("--property KEY=VALUE", "Client property; repeatable.")
    ] = None,
    cluster_id: Annotated[
        Text, option("--cluster-id ID", "The only cluster that may be changed.")
    ] = None,
    pin: Annotated[bool, option("--pin", "Ask the cluster for that id.")] = False,
    protected: Annotated[
        bool, option("--protected", "Refuse writes unless --unprotected names it.")
    ] = False,
    default_output: Annotated[Text, option("--default-output FORMAT", "Default --output.")] = None,
    default_timeout: Annotated[Text, option("--default-timeout TIME", "Default --timeout.")] = None,
    default_engine: Annotated[
        EngineName | None, option("--default-engine", "Default --engine of `lag report`.")
    ] = None,
    never_values: Annotated[bool, option("--never-values", "Forbid `peek --show-values`.")] = False,
    use_it: Annotated[bool, option("--use", "Make it the current context.")] = False,
) -> None:
    options = _options(ctx)
    if cluster_id is not None and pin:
        raise UsageError("--cluster-id and --pin cannot be used together")
    if options.bootstrap_server is None and options.command_config is None and not properties:
        raise UsageError("no address given", hint="use --bootstrap-server or --command-config")
    if default_output is not None:
        parse_default_output(default_output)
    if default_timeout is not None:
        parse_timeout_ms(default_timeout)
    given = {
        "bootstrap_servers": options.bootstrap_server,
        "command_config": options.command_config and str(options.command_config.absolute()),
        "properties": _property_map(properties or ()) or None,
        "client": options.client,
        "cluster_id": cluster_id,
        "protected": protected or None,
        "output": default_output,
        "timeout": default_timeout,
        "engine": default_engine,
        "values": "never" if never_values else None,
    }
    fields = {key: value for key, value in given.items() if value is not None}
    store(Printer(options), {name: fields}, pin=pin, current=name if use_it else None)


def store(
    printer: Printer,
    added: Mapping[str, Mapping[str, Any]],
    *,
    pin: bool = False,
    current: str | None = None,
) -> None:
    """Put contexts into the configuration file, all or none.

    Args:
        pin: ask each cluster for its id first.
        current: the one to make current; None leaves that as it is.
    Raises:
        UsageError: a name is taken or cannot be one, a field is wrong, the file cannot be written.
        ClusterError: a cluster that is to be pinned cannot be asked.
    """
    file = before = _read()
    expected = fields_in(before)
    for name, fields in added.items():
        check_name(name)
        if name in before.contexts:
            raise UsageError(
                f"context `{name}` exists in `{before.path}`",
                hint=f"choose another name, or `kgroups context remove {name}` first",
            )
        text = with_context(file, name, fields)
        if pin:
            new = parse_contexts(text, file.path).contexts[name]
            fields = {**fields, "cluster_id": _cluster_id(printer, new)}
            text = with_context(file, name, fields)
        expected[name] = dict(fields)
        parse_contexts(text, file.path)
        file = replace(file, text=text)
    if current is not None:
        file = replace(file, text=with_current(file.text or "", current), current=current)
    save(before, file.text or "", expected, file.current)
    for name in added:
        pinned = expected[name].get("cluster_id") if pin else None
        end = "" if pinned is None else f", pinned to cluster `{pinned}`"
        printer.note("CONTEXT_ADDED", f"context `{name}` added to `{before.path}`{end}", name)
    _show_written(printer, added)


def remove(
    ctx: typer.Context,
    names: Annotated[list[str], argument("CONTEXT...", "Names of contexts.")],
) -> None:
    file = before = _read()
    for name in dict.fromkeys(names):
        before.named(name)
        text = without_context(file, name)
        file = replace(file, text=text, current=None if file.current == name else file.current)
    left = {name: fields for name, fields in fields_in(before).items() if name not in names}
    save(before, file.text or "", left, file.current)
    gone = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    printer = Printer(_options(ctx))
    printer.note("CONTEXT_REMOVED", f"removed {gone} from `{before.path}`")
    _show_written(printer, [])


def current(
    ctx: typer.Context,
    short: Annotated[bool, option("--short", "Only the name, for a prompt.")] = False,
) -> None:
    options = options_of(ctx, several=True)
    if short:
        write_text("".join(f"{context.name}\n" for context in options.contexts))
        return
    if not options.contexts:
        raise NotFoundError(
            "no context is in use",
            hint="use -c, KGROUPS_CONTEXT or `kgroups context use`",
        )
    file = _read()
    Printer(_options(ctx)).show(contexts_report(file, options.contexts, file.current))


def import_contexts(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "The other configuration.")],
    kind: Annotated[
        Literal["java", "kcl", "kaf", "kafkactl", "rpk"] | None,
        option("--format", "Format, if it cannot be inferred."),
    ] = None,
    name: Annotated[Text, option("--name NAME", "Name of the only context.")] = None,
    pin: Annotated[bool, option("--pin", "Ask each cluster for its id.")] = False,
) -> None:
    printer = Printer(_options(ctx))
    store(printer, read_foreign(file.expanduser(), kind, name), pin=pin)


def _show_written(printer: Printer, names: Iterable[str]) -> None:
    """Print the document of what the file says now; tables are of those who ask."""
    if printer.options.output in DOCUMENTS:
        file = _read()
        printer.show(contexts_report(file, [file.contexts[name] for name in names], file.current))


def _read() -> Any:
    return read_contexts(config_path())


def _property_map(texts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Properties by name.

    Raises:
        UsageError: a text is none.
    """
    properties: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"`{text.split('=')[0]}` is not a property", hint="write KEY=VALUE")
        properties[name] = value
    return properties


def _cluster_id(printer: Printer, context: Any) -> str:
    """The id that the cluster of a context says it has.

    Raises:
        ClusterError: it cannot be asked.
        UsageError: it has none.
    """
    with cluster(within(GlobalOptions(), (), context)) as admin:
        own_id = admin.cluster_id()
    printer.wipe()
    if own_id is None:
        raise UsageError(f"the cluster of `{context.name}` does not report an id")
    return own_id


COMMANDS: Final = {
    "list": (LIST_HELP, list_contexts),
    "show": (SHOW_HELP, show),
    "use": (USE_HELP, use),
    "add": (ADD_HELP, add),
    "remove": (REMOVE_HELP, remove),
    "current": (CURRENT_HELP, current),
    "import": (IMPORT_HELP, import_contexts),
}
