"""The one thing that two tools may print differently: the order of what has none.

Kafka's tool prints rows, and names in a sentence, in the order of a hash table.
"""

import re

HEADERS = ("GROUP ", "TOPIC ")


def normal(stdout: str) -> str:
    """The same text with the rows of each table, and the names in a sentence, in order.

    No column, width, blank or empty line is touched: a table is what stands between empty lines,
    its header stays first, and sorting is by whole lines.
    """
    return "\n\n".join(_sorted_block(block) for block in stdout.split("\n\n"))


def _sorted_block(block: str) -> str:
    lines = block.split("\n")
    # Empty lines at either end belong to what stands around the table.
    first = 1 if lines[0] == "" else 0
    last = len(lines) - 1 if len(lines) > 1 and lines[-1] == "" else len(lines)
    head, rows, tail = lines[:first], lines[first:last], lines[last:]
    if rows and rows[0].startswith(HEADERS):
        head.append(rows.pop(0))
    return "\n".join([*head, *sorted(_sorted_names(row) for row in rows), *tail])


def _sorted_names(line: str) -> str:
    """A list of quoted names, `('b', 'a')`, in order."""
    return re.sub(
        r"'[^']*'(?:, '[^']*')+",
        lambda names: ", ".join(sorted(names.group().split(", "))),
        line,
    )


def words(line: str) -> list[str]:
    """The words of a message in order, for those that list options as a hash table does."""
    return sorted(re.findall(r"\[[^\s,\[\]]*\]|[^\s,\[\]]+", line))
