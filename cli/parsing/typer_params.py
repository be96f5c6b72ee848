"""Options that are data as Typer's, and the global options as parameters of each level."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperOption

from kgroups.cli.params import GLOBAL_OPTIONS, META, WRITE_OPTIONS, GlobalOption
from kgroups.cli.parsing.option import Argument, Option


class Commands(typer.Typer):
    """Commands whose options are data or Typer's."""

    def command(self, *args: Any, **kwargs: Any) -> Any:
        """As Typer's; the function itself stays as it is."""
        add = super().command(*args, **kwargs)
        return lambda function: add(with_typer_options(function))


def with_typer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with Typer's options in its signature."""
    signature = inspect.signature(function)
    parameters = [
        each.replace(annotation=_as_typers(each.annotation))
        for each in signature.parameters.values()
    ]

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _as_typers(annotation: Any) -> Any:
    if annotation == "typer.Context":  # where Typer is imported for type checkers only
        return typer.Context
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, what, *_ = get_args(annotation)
    if isinstance(what, Option):
        found = typer.Option(*what.flags, help=what.help, metavar=what.metavar, min=what.min)
        return Annotated[kind, found]
    if isinstance(what, Argument):
        return Annotated[kind, typer.Argument(metavar=what.metavar, help=what.help)]
    return annotation


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
        else:
            parsed = option.parse(value) if option.parse and isinstance(value, str) else value
        ctx.meta[META + option.name] = parsed

    return keep
