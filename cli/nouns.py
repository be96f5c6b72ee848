"""Every command: its section in `kgroups --help` and its module.

Only the module of the command on the line is imported: importing all of them would cost more than
many a command itself.
"""

from typing import Final

SECTIONS: Final = {
    "Inspect": {
        "list": "commands.list",
        "describe": "commands.describe.describe",
        "top": "commands.top.top",
        "history": "commands.history.history",
        "peek": "commands.peek.peek",
        "coordinator": "commands.coordinator",
        "transactions": "commands.transactions.transactions",
        "snapshot": "commands.snapshot",
    },
    "Check": {
        "check": "commands.gates.check",
        "wait": "commands.gates.wait",
        "doctor": "commands.doctor.doctor",
    },
    "Plan": {"plan": "commands.plan.plan", "simulate": "commands.simulate.simulate"},
    "Change": {
        "reset-offsets": "commands.writes.reset_offsets",
        "copy-offsets": "commands.writes.copy_offsets",
        "delete-offsets": "commands.writes.delete_offsets",
        "delete": "commands.writes.delete",
        "delete-records": "commands.writes.delete_records",
        "remove-members": "commands.writes.remove_members",
        "config": "commands.writes.group_config",
        "apply": "commands.writes.apply",
    },
    "Lag": {"lag": "commands.lag.lag"},
    "Clusters": {
        "context": "commands.context.context",
        "ping": "commands.ping",
        "audit": "commands.audit",
    },
    "Tools": {
        "sandbox": "commands.sandbox",
        "demo": "commands.demo",
        "official": "commands.official",
        "schema": "commands.reference.schema",
        "explain": "commands.reference.explain",
        "completion": "commands.completion",
    },
}
"""Headings of `kgroups --help`, and the commands below each."""
NOUNS: Final = {
    **{name: module for commands in SECTIONS.values() for name, module in commands.items()},
    "complete-names": "completion.live_names",
}
"""Every first word, the hidden ones included, and its module below `kgroups.cli`."""
