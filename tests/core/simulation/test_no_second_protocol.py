"""The simulation holds no group state and assigns nothing: all of that is the coordinator's."""

import ast
from pathlib import Path

import pytest

from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.kip848.group import Kip848Group

FOLDER = Path(__file__).parents[3] / "core" / "simulation"
FILES = sorted(FOLDER.rglob("*.py"))

# What decides: the inside of the coordinator, the assignors. A driver needs their doors only.
DOORS = {
    "kgroups.core.coordinator.admin_messages",
    "kgroups.core.coordinator.client.classic.client",
    "kgroups.core.coordinator.client.config",
    "kgroups.core.coordinator.client.default_assignors",
    "kgroups.core.coordinator.client.effects",
    "kgroups.core.coordinator.client.manual",
    "kgroups.core.coordinator.client.offsets",
    "kgroups.core.coordinator.client.ports",
    "kgroups.core.coordinator.client.classic.states",
    "kgroups.core.coordinator.config",
    "kgroups.core.coordinator.coordinator",
    "kgroups.core.coordinator.effects",
    "kgroups.core.coordinator.append_errors",
    "kgroups.core.coordinator.client.kip848.client",
    "kgroups.core.coordinator.client.kip848.member",
    "kgroups.core.coordinator.classic.messages",
    "kgroups.core.coordinator.offsets.messages",
    "kgroups.core.coordinator.log.records",
    "kgroups.core.coordinator.placement",
    "kgroups.core.coordinator.ports",
    "kgroups.core.coordinator.groups",
    "kgroups.core.coordinator.topology",
}
# Group state by the names that the coordinator's own groups have for it.
STATE = {
    "generation",
    "group_epoch",
    "target_epoch",
    "leader",
    "pending_join",
    "pending_sync",
    "assigned",
    "target",
    "assignment",
    "protocol_type",
}
# Requests of groups that only a client half may make; an OffsetCommit sets the start of a run.
REQUESTS = {
    "JoinGroupRequest",
    "SyncGroupRequest",
    "HeartbeatRequest",
    "LeaveGroupRequest",
    "ConsumerGroupHeartbeatRequest",
}


def imports_of(tree: ast.AST) -> set[str]:
    """Modules that a file imports from."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def stored_names(tree: ast.AST) -> set[str]:
    """Attributes that a file assigns, and fields that its classes declare."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr.lstrip("_"))
        elif isinstance(node, ast.ClassDef):
            fields = (line.target for line in node.body if isinstance(line, ast.AnnAssign))
            found |= {field.id for field in fields if isinstance(field, ast.Name)}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_file_leaves_groups_to_the_coordinator(path: Path) -> None:
    """Only doors are imported, no group state is stored, and no request is made that changes it.

    State is what has a name that the coordinator has for it; requests come out of client halves.
    """
    tree = ast.parse(path.read_text())
    for module in imports_of(tree):
        assert not module.startswith("kgroups.assignors"), module
        if module.startswith("kgroups.core.coordinator"):
            assert module in DOORS, module
    assert stored_names(tree) & STATE == set()
    assert {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & REQUESTS == set()


def test_the_names_are_those_of_real_groups() -> None:
    """Every name that is forbidden here is one that a group in the coordinator goes by."""
    slots = set(vars(ClassicGroup("g", 0))) | set(vars(Kip848Group("g", 0)))
    member = {"pending_join", "pending_sync", "assigned", "target", "assignment"}
    assert STATE - member <= slots | {"leader", "protocol_type"}


def test_the_check_has_teeth() -> None:
    """Code that does what is forbidden is found."""
    tree = ast.parse(
        "from kgroups.assignors.java.ranges import RangeAssignor\n"
        "class Group:\n    generation: int\n"
        "    def f(self):\n        self.leader = 1\n"
    )
    assert imports_of(tree) == {"kgroups.assignors.java.ranges"}
    assert stored_names(tree) == {"generation", "leader"}
