"""Rows that are told in lines, an empty line between them, instead of a table."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import wrap
from typing import Final

from kgroups.cli.output.escapes import printable
from kgroups.cli.output.table import Block, terminal_width

MOST_COLORED: Final = 200
"""More are not worth the time that Rich takes."""


def show_blocks(blocks: Sequence[Block], *, no_color: bool) -> None:
    """Write blocks to stdout: as wide as a terminal; in a pipe no line is broken."""
    is_terminal = sys.stdout.isatty()
    width = terminal_width(sys.stdout) if is_terminal else sys.maxsize
    if is_terminal and len(blocks) <= MOST_COLORED:
        from kgroups.cli.output.terminal import print_blocks  # Rich is slow to import

        print_blocks([(block, lines_of(block, width)) for block in blocks], no_color=no_color)
        return
    for number, block in enumerate(blocks):
        sys.stdout.write("\n" * bool(number) + "\n".join(lines_of(block, width)) + "\n")


def lines_of(block: Block, width: int) -> Iterator[str]:
    """The lines of a block; its command is not broken, so that it can be copied."""
    fold = partial(wrap, width=width, break_long_words=False, break_on_hyphens=False)
    yield from fold(printable(f"{block.mark} {block.head}"), subsequent_indent="  ")
    for text in filter(None, block.texts):
        yield from fold(printable(text), initial_indent="  ", subsequent_indent="  ")
    yield printable(f"  next: {block.command}")
