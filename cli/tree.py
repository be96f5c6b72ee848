"""The command tree's own classes: global options everywhere, plain help, failures as exit codes."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer
from typer import TyperException
from typer.core import TyperCommand, TyperGroup, TyperOption

from kgroups.cli.exits import PLUGIN_FORM, TOLD, asked_form, end_of, usage_error, write_failure
from kgroups.cli.nouns import SECTIONS
from kgroups.cli.output.outlet import write_text
from kgroups.cli.params import (
    GLOBAL_OPTIONS,
    META,
    WRITE_OPTIONS,
    GlobalOption,
    check_texts,
    formats_of,
    parse_output,
)
from kgroups.cli.signals import be_quiet
from kgroups.cli.usage import option
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, KgroupsError, UsageError
from kgroups.core.release import VERSION

HELP_WIDTH = 80
CONTEXT_SETTINGS = {
    "help_option_names": ["--help", "-h"],
    "terminal_width": HELP_WIDTH,
    "max_content_width": HELP_WIDTH,
}

HELP_ALL = "help_all"
_EXAMPLES = "\n\nEXAMPLES"
_GLOBAL_NAMES = frozenset(option.name for option in GLOBAL_OPTIONS)


def _write_help_text(command: Any, ctx: Any, formatter: Any) -> None:
    """The help text as it was written, laid out for 80 columns; what follows EXAMPLES if asked."""
    text = (command.help or "").strip()
    if not _shows_all(ctx):
        start = text.find(_EXAMPLES)
        end = text.find("\n\n", start + len(_EXAMPLES))
        text = text if start < 0 or end < 0 else text[:end]
    formatter.write("\n")
    for line in text.splitlines():
        formatter.write(f"  {line}\n" if line else "\n")


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Arguments, the command's own options by group, then those that every command takes."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    common = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        if param.param_type_name == "argument":
            about = record[1].removesuffix("  [required]")
            sections["Arguments"].append((record[0].strip("{}"), about))
        elif param.name == "output":
            common.append((record[0], ", ".join(formats_of(ctx.command_path)) + "."))
        elif param.name == HELP_ALL or (param.name in _GLOBAL_NAMES and _shows_all(ctx)):
            common.append(record)
        elif param.name not in _GLOBAL_NAMES:
            title = getattr(param, "rich_help_panel", None) or "Options"
            sections.setdefault(title, []).append(record)
    sections["Options"] = sections.pop("Options", [])
    for title, records in (*sections.items(), ("Global options", common)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _shows_all(ctx: Any) -> bool:
    """Whether the help has everything: that of the program always does."""
    return ctx.parent is None or HELP_ALL in ctx.meta


def _help_all_param() -> Any:
    """`--help-all`, which prints the help with its details and the global options."""

    def show(ctx: typer.Context, _param: object, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            ctx.meta[HELP_ALL] = True
            write_text(f"{ctx.get_help()}\n")
            raise typer.Exit

    return TyperOption(
        param_decls=[HELP_ALL, "--help-all"],
        is_flag=True,
        is_eager=True,
        default=False,
        expose_value=False,
        help="Show details and all global options.",
        callback=show,
    )


def global_params(*, environment: bool) -> list[Any]:
    """The global options as parameters; with `environment` they read `KGROUPS_*` too.

    Each level of the command tree has its own set, so that an option is accepted before the
    command as well as after it; only the root reads the environment, so that it never beats a flag.
    """
    return [_param(option, environment=environment) for option in GLOBAL_OPTIONS]


def write_params(own: Iterable[Any]) -> list[Any]:
    """The options of all writes as parameters of a command, which read the environment.

    Args:
        own: the command's parameters: an option of the same name is another one.
    """
    names = {param.name for param in own}
    wanted = (option for option in WRITE_OPTIONS if option.name not in names)
    return [_param(option, environment=True) for option in wanted]


def _param(option: GlobalOption, *, environment: bool) -> Any:
    return TyperOption(
        param_decls=[option.name, *option.flags],
        type=None if option.parse is None else str,
        is_flag=option.parse is None,
        multiple=option.several,
        default=False if option.parse is None else None,
        metavar=option.metavar,
        envvar=option.env if environment else None,
        help=option.help,
        expose_value=False,
        callback=_remember(option),
    )


def _remember(option: GlobalOption) -> Callable[[Any, Any, Any], None]:
    """A callback that keeps the option's value for `options_of`; later ones win."""

    def keep(ctx: typer.Context, _param: object, value: Any) -> None:
        if value is None or value is False or value == () or ctx.resilient_parsing:
            return
        if option.several:
            parsed: object = tuple(value)
        elif option.name == "output":
            parsed = parse_output(value, formats_of(ctx.command_path))
        else:
            parsed = option.parse(value) if option.parse and isinstance(value, str) else value
        ctx.meta[META + option.name] = parsed

    return keep


class Command(TyperCommand):
    """A command that takes the global options after its name too."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **kwargs: Any) -> None:
        common = (_help_all_param(), *global_params(environment=False))
        super().__init__(*args, params=[*(params or []), *common], **kwargs)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the line; a failure knows the command, an option without its value too."""
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command on arguments that are text.

        Raises:
            UsageError: one is not.
        """
        check_texts((*ctx.params.values(), *ctx.meta.values()))
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Names of arguments as their metavar writes them, without more brackets."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_help_text(self, ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Own options and global ones apart."""
        _write_options(self, ctx, formatter)


class WriteCommand(Command):
    """A command that changes a cluster: it takes the options of the guards, too."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, params=[*(params or []), *write_params(params or [])], **kwargs)


class Noun(TyperGroup):
    """A group of commands (`lag report`) that takes the global options in its place too."""

    environment = False

    def __init__(self, *args: Any, params: list[Any] | None = None, **kwargs: Any) -> None:
        common = (_help_all_param(), *global_params(environment=self.environment))
        super().__init__(*args, params=[*(params or []), *common], **kwargs)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_help_text(self, ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands first: they are what one looks for."""
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)


class Root(Noun):
    """The program: every failure of a command becomes a message and an exit code here."""

    environment = True

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Commands by section, each with the whole of its short help."""
        for title, names in SECTIONS.items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            rows = [(name, c.get_short_help_str(HELP_WIDTH)) for name, c in commands if c]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=20)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a `KgroupsError` ends it with the error's own code."""
        return self._mapped(lambda: super(Root, self).invoke(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the global options; a bad value ends with its own code."""
        return self._mapped(lambda: super(Root, self).make_context(*args, **kwargs))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command; `help` and `version` stand for the options of these names, as in git."""
        match args:
            case ["help"]:
                write_text(f"{ctx.get_help()}\n")
                raise typer.Exit
            case ["help", *rest]:
                return super().resolve_command(ctx, [*rest, "--help"])
            case ["version"]:
                _show_version(wanted=True)
        return super().resolve_command(ctx, args)

    def _mapped(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except KeyboardInterrupt as interrupt:
            be_quiet()
            write_failure(interrupt)
            raise
        except KgroupsError as error:
            raise typer.Exit(end_of(error)) from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *_: Any,
        **extra: Any,
    ) -> Any:
        """Run the program and leave with its exit code.

        Raises:
            SystemExit: always, with the code.
        """
        extra.pop("standalone_mode", None)
        words = sys.argv[1:] if args is None else args
        TOLD.begin(asked_form(words))
        try:
            code = super().main(words, prog_name, standalone_mode=False, **extra)
        except TyperException as error:
            if type(error).__name__ == "NoArgsIsHelpError" and TOLD.form != PLUGIN_FORM:
                sys.stderr.write(error.format_message() + "\n")
                write_failure(UsageError("no command given", hint="see `kgroups --help`"))
                code = error.exit_code
            else:
                code = end_of(usage_error(error, words))
        except typer.Abort as abort:
            write_failure(abort)
            code = EXIT_CODE_INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _show_version(wanted: bool) -> None:
    if wanted:
        write_text(f"kgroups {VERSION}\n")
        raise typer.Exit


def root(
    _version: Annotated[
        bool, option("--version", "Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Only holds the options that stand before a command."""
