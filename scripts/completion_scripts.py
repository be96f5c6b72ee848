"""Completion scripts for bash, zsh and fish, generated from the command tree.

A script holds the commands, their options and the values of these as data, so that completing
them starts no process; for names of groups, topics and contexts it calls `kgroups
complete-names`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from kgroups.cli.commands.reference.explain import NAMES
from kgroups.cli.completion.ready import Shell
from kgroups.cli.meanings.group_states import GROUP_STATES
from kgroups.cli.official.options import GROUP_OPTIONS
from kgroups.cli.params import GLOBAL_OPTIONS, GROUP_TYPES, MORE_FORMATS, formats_of
from kgroups.core.offsets.group_settings import SETTINGS

# What a value is, by its metavar: `@groups` and `@topics` are asked of the cluster, `@contexts` is
# in the configuration file, `@files` is the shell's own, other texts are the words to choose from;
# the rest is free text.
SOURCES: Final = {
    "GROUP": "@groups",
    "TOPIC": "@topics",
    "CONTEXT": "@contexts",
    "FILE": "@files",
    "SETTING": " ".join(SETTINGS),
    "SETTING=VALUE": " ".join(f"{name}=" for name in SETTINGS),
    "STATE": " ".join(GROUP_STATES),
    "TYPE": " ".join(GROUP_TYPES),
    "WORD": " ".join(sorted(NAMES.values())),
    "FORMAT": " ".join(formats_of("no other")),
}
FREE: Final = "@free"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flags, its help, and where its value comes from; None takes no value."""

    flags: tuple[str, ...]
    help: str
    source: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the command tree: what can follow there.

    Args:
        path: words that lead here, `lag report`; empty for the program itself.
        commands: name and short help of each command below.
        options: those of this place; the global ones are not among them.
        argument: where its arguments come from; None if it takes none.
    """

    path: str
    commands: tuple[tuple[str, str], ...] = ()
    options: tuple[Option, ...] = ()
    argument: str | None = None
    words: tuple[tuple[str, str], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Gathers what can be typed here besides arguments."""
        flags = tuple((flag, option.help) for option in self.options for flag in option.flags)
        object.__setattr__(self, "words", (*self.commands, *flags))


def places_of(command: Any, path: str = "") -> Iterator[Place]:
    """Every place of the tree below a command, itself first."""
    common = {option.name for option in GLOBAL_OPTIONS}
    children = {
        name: child for name, child in getattr(command, "commands", {}).items() if not child.hidden
    }
    own = [p for p in command.params if p.param_type_name == "option" and p.name not in common]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    yield Place(
        path=path,
        commands=tuple((name, child.get_short_help_str(60)) for name, child in children.items()),
        options=(
            *(Option(tuple(p.opts), p.help or "", _source(p)) for p in own),
            *(_official_options() if path == "official" else ()),
            Option(("--help",), "Show help.", None),
        ),
        argument=_source(arguments[0]) if arguments else None,
    )
    for name, child in children.items():
        yield from places_of(child, f"{path} {name}".strip())


def global_options() -> tuple[Option, ...]:
    """The options that are taken everywhere."""
    return tuple(
        Option(
            option.flags,
            option.help,
            None if option.parse is None else SOURCES.get(option.metavar or "", FREE),
        )
        for option in GLOBAL_OPTIONS
    )


def _official_options() -> Iterator[Option]:
    """Those that `official` reads by rules of its own."""
    for option in GROUP_OPTIONS:
        if option.name != "help":
            takes_none = option.takes == "nothing"
            source = None if takes_none else SOURCES.get(option.value, FREE)
            yield Option((f"--{option.name}",), option.help, source)


def _source(param: Any) -> str | None:
    if getattr(param, "is_flag", False):
        return None
    choices = getattr(param.type, "choices", None)
    if choices:
        return " ".join(choices)
    return SOURCES.get((param.metavar or "").strip("[]{}."), FREE)


def script_for(shell: Shell, program: Any) -> str:
    """The completion script of a shell for the program."""
    places = list(places_of(program))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](places)


HEADER = "# kgroups completion for {shell}; `kgroups completion {shell}` wrote it.\n"

# bash and zsh: which commands lead on from a path, and what the value of an option is.
_TABLES = """\
_kgroups_step() {{ # path, word: is the word a command there?
  case "$1/$2" in
    {steps}) return 0 ;;
  esac
  return 1
}}
_kgroups_value() {{ # path, flag: where does its value come from? fails if it takes none
  case "$1/$2" in
{values}
    *) return 1 ;;
  esac
}}
_kgroups_argument() {{ # path: where do its arguments come from?
  case "$1" in
{arguments}
    *) return 1 ;;
  esac
}}
"""


def _tables(places: list[Place]) -> str:
    steps = [f'"{place.path}/{name}"' for place in places for name, _ in place.commands]
    values = [
        f"""    "{path}/--output" | "{path}/-o") echo '{" ".join(formats_of(path))}' ;;"""
        for path in MORE_FORMATS
    ]
    for option in global_options():
        if option.source is not None:
            patterns = " | ".join(f"*/{flag}" for flag in option.flags)
            values.append(f"    {patterns}) echo '{option.source}' ;;")
    for place in places:
        for option in place.options:
            if option.source is not None:
                patterns = " | ".join(f'"{place.path}/{flag}"' for flag in option.flags)
                values.append(f"    {patterns}) echo '{option.source}' ;;")
    arguments = [
        f"""    "{place.path}") echo '{place.argument}' ;;""" for place in places if place.argument
    ]
    return _TABLES.format(
        steps=" | ".join(steps), values="\n".join(values), arguments="\n".join(arguments)
    )


_BASH = """\
_kgroups_words() {{ # path: what can be typed there
  local common="{common}"
  case "$1" in
{words}
  esac
}}
_kgroups() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" path="" value="" typed="" source="" cut name word
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] || {{
    typed="${{words[-1]}}"
    unset 'words[-1]'
  }}
  for word in "${{words[@]:1}}"; do
    if [[ -n $value ]]; then
      value=""
    elif [[ $word == -* ]]; then
      if value="$(_kgroups_value "$path" "$word")"; then :; else value=""; fi
    elif _kgroups_step "$path" "$word"; then
      path="${{path:+$path }}$word"
    fi
  done
  if [[ -z $value && $typed == --*=* ]]; then
    value="$(_kgroups_value "$path" "${{typed%%=*}}")" || return
    typed="${{typed#*=}}"
  fi
  if [[ -n $value ]]; then
    source="$value"
  elif [[ $typed == -* ]]; then
    source="$(_kgroups_words "$path")"
  else
    source="$(_kgroups_argument "$path")" && [[ $source != @free ]] ||
      source="$(_kgroups_words "$path")"
  fi
  COMPREPLY=()
  cut="${{typed%"${{typed##*[:=]}}"}}" # bash takes : and = for the end of a word
  case "$source" in
    @free) ;;
    @files)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$typed")
      ;;
    @*)
      while IFS= read -r name; do
        printf -v name '%q' "$name"
        COMPREPLY+=("${{name#"$cut"}}")
      done < <("${{COMP_WORDS[0]}}" complete-names "${{source#@}}" "$line" 2> /dev/null)
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$source" -- "$typed") ;;
  esac
}}
complete -F _kgroups kgroups
"""


def _bash(places: list[Place]) -> str:
    common = " ".join(flag for option in global_options() for flag in option.flags)
    words = "\n".join(
        f"""    "{place.path}") echo "{" ".join(word for word, _ in place.words)} $common" ;;"""
        for place in places
    )
    body = _BASH.format(common=common, words=words)
    return HEADER.format(shell="bash") + _tables(places) + body


_ZSH = """\
_kgroups_words() {{ # path: fills `commands` and `options` with what can be typed there
  options=(
{common}
  )
  case "$1" in
{words}
  esac
}}
_kgroups() {{
  local line="${{(j: :)words[1,CURRENT-1]}} ${{words[CURRENT]}}" typed="${{words[CURRENT]}}"
  local place="" value="" from="" word
  local -a commands options names
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    if [[ -n $value ]]; then
      value=""
    elif [[ $word == -* ]]; then
      value="$(_kgroups_value "$place" "$word")" || value=""
    elif _kgroups_step "$place" "$word"; then
      place="${{place:+$place }}$word"
    fi
  done
  if [[ -z $value && $typed == --*=* ]]; then
    value="$(_kgroups_value "$place" "${{typed%%=*}}")" || return 1
    compset -P '*='
  fi
  if [[ -n $value ]]; then
    from="$value"
  elif [[ $typed != -* ]]; then
    from="$(_kgroups_argument "$place")" && [[ $from != @free ]] || from=""
  fi
  case "$from" in
    "")
      _kgroups_words "$place"
      if (( ${{#commands}} )) && [[ $typed != -* ]]; then
        _describe 'command' commands
      else
        _describe -o 'option' options
      fi
      ;;
    @free) return 1 ;;
    @files) _files ;;
    @*)
      names=("${{(@f)$("${{words[1]}}" complete-names "${{from#@}}" "$line" 2> /dev/null)}}")
      names=("${{(@)names:#}}")
      (( ${{#names}} )) && compadd -a names
      ;;
    *) compadd -- ${{=from}} ;;
  esac
}}
if [[ ${{funcstack[1]}} == _kgroups ]]; then
  _kgroups "$@"
else
  compdef _kgroups kgroups
fi
"""


def _zsh(places: list[Place]) -> str:
    def item(word: str, help_: str) -> str:
        escaped = help_.replace("'", "'\\''").replace(":", "\\:")
        return f"'{word}:{escaped}'"

    common = "\n".join(
        f"    {item(flag, option.help)}" for option in global_options() for flag in option.flags
    )

    def items(name: str, words: Iterable[tuple[str, str]]) -> str:
        return (
            f"      {name}(\n" + "".join(f"        {item(*word)}\n" for word in words) + "      )\n"
        )

    words = "\n".join(
        f'    "{place.path}")\n'
        + (items("commands=", place.commands) if place.commands else "")
        + items("options+=", place.words[len(place.commands) :])
        + "      ;;"
        for place in places
    )
    body = _ZSH.format(common=common, words=words)
    return "#compdef kgroups\n" + HEADER.format(shell="zsh") + _tables(places) + body


_FISH = """\
function __kgroups_path # the commands on the line so far
    set -l place
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- "$place/$word" $__kgroups_values
            or contains -- "/$word" $__kgroups_common_values
            and set skip 1
        else if contains -- "$place/$word" $__kgroups_steps
            set place (string trim -- "$place $word")
        end
    end
    echo $place
end
function __kgroups_at
    test "$(__kgroups_path)" = "$argv[1]"
end
function __kgroups_names
    set -l line (commandline -cp)
    set -l program (commandline -opc)[1]
    type -q -- $program
    or return
    command $program complete-names $argv[1] "$line" 2>/dev/null
end
complete -c kgroups -f
"""


def _fish(places: list[Place]) -> str:
    steps = [f"'{place.path}/{name}'" for place in places for name, _ in place.commands]
    values = [
        f"'{place.path}/{flag}'"
        for place in places
        for option in place.options
        if option.source is not None
        for flag in option.flags
    ]
    common = [
        f"'/{flag}'"
        for option in global_options()
        if option.source is not None
        for flag in option.flags
    ]
    lines = [
        HEADER.format(shell="fish").rstrip("\n"),
        f"set -g __kgroups_steps {' '.join(steps)}",
        f"set -g __kgroups_values {' '.join(values)}",
        f"set -g __kgroups_common_values {' '.join(common)}",
        _FISH.format().rstrip("\n"),
    ]
    lines += [f"complete -c kgroups {_fish_option(option)}" for option in global_options()]
    for place in places:
        here = f"complete -c kgroups -n '__kgroups_at \"{place.path}\"'"
        lines += [f"{here} -a {name} -d {_quoted(text)}" for name, text in place.commands]
        lines += [f"{here} {_fish_option(option)}" for option in place.options]
        if place.path in MORE_FORMATS:
            lines.append(f"{here} -l output -s o -x -a '{' '.join(MORE_FORMATS[place.path])}'")
        if place.argument not in (None, FREE):
            lines.append(f"{here} {_fish_values(place.argument or '')}")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    flags = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    )
    value = ""
    if option.source is not None:
        value = (" -r " if option.source == "@files" else " -x ") + _fish_values(option.source)
    return f"{flags}{value.rstrip()} -d {_quoted(option.help)}"


def _fish_values(source: str) -> str:
    if source == "@files":
        return "-F"
    if source == FREE:
        return ""
    if source.startswith("@"):
        return f"-a '(__kgroups_names {source[1:]})'"
    return f"-a '{source}'"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
