"""`kgroups completion`: scripts for the shell."""

from typing import Annotated

from kgroups.cli.completion.ready import Shell, completion_script
from kgroups.cli.output.outlet import write_text
from kgroups.cli.usage import argument

HELP = """Print a shell completion script.

The script holds commands, options and their values. Group and topic names are
read from the cluster that the command line or KGROUPS_BOOTSTRAP_SERVER names,
and left out if it does not answer within half a second.

INSTALLATION
  bash  ~/.local/share/bash-completion/completions/kgroups
  zsh   _kgroups, in a folder of $fpath
  fish  ~/.config/fish/completions/kgroups.fish

EXAMPLES
  source <(kgroups completion bash)
  kgroups completion fish > ~/.config/fish/completions/kgroups.fish
"""


def completion(
    shell: Annotated[Shell, argument("bash|zsh|fish", "Shell.")],
) -> None:
    write_text(completion_script(shell))
