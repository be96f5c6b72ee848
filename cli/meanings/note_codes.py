"""Codes of what is said as `note:` on stderr, and in `notes` of documents."""

from collections.abc import Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Meaning

NOTE_CODES: Final[Mapping[str, str]] = {
    "CHANGED_AGAIN": "a commit changed again after it was written",
    "CHECKPOINTS_READ": "how many commits were translated by MirrorMaker's checkpoints",
    "CLIENT_CHOSEN": "librdkafka is used for this cluster, and why",
    "COLUMNS_LEFT_OUT": "the terminal is too narrow for some columns",
    "COMMIT_TIMES_UNKNOWN": "it is not known when some groups last committed",
    "CONTEXT_ADDED": "a context was added to the configuration file",
    "CONTEXT_REMOVED": "contexts were removed from the configuration file",
    "COST_OF_STAYING": "what keeping the current settings costs, on unseen seeds",
    "CURRENT_CONTEXT": "the current context changed",
    "DRAWN_IDS": "ids were assumed for new members; the assignment may depend on them",
    "GROUPS_LEFT_OUT": "groups were left out, and why",
    "ASSUMED": "a figure of the scenario is an assumption",
    "HISTORY_COMPACTED": "compaction may have removed part of a group's history",
    "KEEPS_RUNNING": "the demo cluster keeps running until Ctrl-C",
    "LEADER_UNKNOWN": "the leader of a group is not known",
    "LEFT_AS_IS": "groups were planned without the requested change",
    "LINES_LEFT_OUT": "lines of the audit log could not be read",
    "MEASURED": "a figure of the scenario was measured",
    "MEMBERS_LEFT": "the group no longer has members",
    "NOTHING_DONE": "nothing was written, because some items cannot be",
    "NOTHING_HAPPENED": "the group has no change in the time asked for",
    "NOTHING_TO_DO": "there was nothing to write",
    "NO_CONTEXTS": "the configuration file has no contexts",
    "NO_GROUP_MATCHES": "no group matches",
    "NO_SUCH_GROUP": "the group does not exist; the answer holds for its name",
    "NO_MEMBERS": "groups have no active members",
    "NO_PLAN_SAVED": "no plan was saved, because some items cannot be changed",
    "OF_A_PLAN": "what the plan depends on",
    "PING_WARNING": "a connectivity check passed with a warning",
    "PLAN_SAVED": "where the plan was saved",
    "PROGRESS": "the state of a group that is waited for",
    "REACHABLE_AGAIN": "the cluster is reachable again",
    "READERS_UNKNOWN": "it is not known which groups have yet to read the records",
    "REBALANCING": "groups are rebalancing; owners may be out of date",
    "RECORDS_LEFT_OUT": "records of a group could not be read",
    "RESUMABLE": "the undo file can finish the rest",
    "RETENTION_UNKNOWN": "brokers do not tell how long they keep commits",
    "RETRYING": "the cluster did not answer; retrying",
    "ROLLED_UP": "some figures are accurate to the hour, day or month only",
    "SNAPSHOT_READ": "what the snapshot file holds",
    "SNAPSHOT_SAVED": "where the snapshot was saved",
    "STOPPED": "the collector was stopped by a signal",
    "TOPIC_IDS_UNKNOWN": "recreated topics cannot be detected without topic ids",
    "TRIALS_WITHOUT_VALUE": "trials were refused, or did not settle",
    "UNCOMMITTED_PARTITIONS": "partitions have no commit, so their lag is not known",
    "UNDO_FILE": "where the undo file is",
    "WAITING_FOR_MEMBERS": "waiting for members to leave",
    "WITHOUT_EFFECT": "settings of the scenario have no effect",
}

NOTES: Final = tuple(Meaning(code, "note", text, None) for code, text in NOTE_CODES.items())
