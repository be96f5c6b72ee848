"""`--describe --topology` of streams groups."""

from collections.abc import Sequence

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.official.streams import fail, fail_command, show
from kgroups.cli.official.tools import Tool
from kgroups.cli.official.words import exception_text
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topologies import topologies
from kgroups.core.topology_nodes import topology_text


def show_topologies(admin: ClusterAdmin, tool: Tool, names: Sequence[str] | None) -> int:
    """Print the topologies of groups; 1 if one of them is not known.

    Args:
        names: None for all groups of the tool.
    """
    if names is None:
        names = [group.group for group in admin.list_groups().groups if tool.counts(group)]
    code = 0
    answers = topologies(admin, names) if names else {}
    for group in sorted(answers, key=utf16_key):
        answer = answers[group]
        if answer is None:
            fail(f"No topology description is stored for streams group '{group}'.")
        elif isinstance(answer, ItemError):
            if answer.code == "UNKNOWN_SERVER_ERROR":
                fail(
                    "The broker failed to fetch the topology description for streams group "
                    f"'{group}'. See the broker logs for details."
                )
            else:
                fail_command(tool, exception_text(answer.code, answer.message), answer.hint)
        else:
            show(topology_text(answer) + "\n")
            continue
        code = 1
    return code
