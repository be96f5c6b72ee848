"""Codes of what is said as `note:` on stderr, and in `notes` of documents."""

from collections.abc import Mapping
from typing import Final

from kgroups.cli.meanings.codes import Meaning

NOTE_CODES: Final[Mapping[str, str]] = {
    "CHANGED_AGAIN": "a commit that was written is another one by now",
    "CHECKPOINTS_READ": "how many commits were translated by MirrorMaker's checkpoints",
    "CLIENT_CHOSEN": "the cluster is asked through librdkafka, and why",
    "COLUMNS_LEFT_OUT": "a terminal is too narrow for some columns of a table",
    "COMMIT_TIMES_UNKNOWN": "it could not be read when some groups committed",
    "CONTEXT_ADDED": "a context was added to the configuration file",
    "CONTEXT_REMOVED": "contexts were removed from the configuration file",
    "COST_OF_STAYING": "what keeping the settings costs, on seeds that the search did not see",
    "CURRENT_CONTEXT": "which context is current now",
    "DRAWN_IDS": "new members were given ids, on which the assignment may depend",
    "GROUPS_LEFT_OUT": "groups are not in the answer, and why",
    "ASSUMED": "a figure of a scenario is an assumption",
    "KEEPS_RUNNING": "the cluster of the demo is there until Ctrl-C",
    "LEADER_UNKNOWN": "it could not be learned who leads a group",
    "LEFT_AS_IS": "groups are planned without the change that was asked for",
    "LINES_LEFT_OUT": "lines of the audit log are no entries",
    "MEASURED": "a figure of a scenario was measured",
    "MEMBERS_LEFT": "a group that was waited for has no members any more",
    "NOTHING_DONE": "nothing was written, as some of it cannot be",
    "NOTHING_TO_DO": "nothing had to be written",
    "NO_CONTEXTS": "the configuration file has no contexts",
    "NO_GROUP_MATCHES": "no group is as it was asked for",
    "NO_SUCH_GROUP": "a group need not exist for the answer, and does not",
    "NO_MEMBERS": "groups have no active members",
    "NO_PLAN_SAVED": "no plan was saved, as some of it cannot be done",
    "OF_A_PLAN": "what a plan depends on, or what can be done about it",
    "PING_WARNING": "a step of the way to the cluster works, but should be mended",
    "PLAN_SAVED": "the plan is in a file",
    "PROGRESS": "what is waited for has come, or gone",
    "REACHABLE_AGAIN": "the cluster answers again",
    "READERS_UNKNOWN": "it is not known which groups have not read records",
    "REBALANCING": "groups are rebalancing, so their owners may be out of date",
    "RESUMABLE": "what was not written can be written with the undo file",
    "RETENTION_UNKNOWN": "brokers do not tell how long they keep commits",
    "RETRYING": "the cluster did not answer, and is asked again",
    "ROLLED_UP": "some figures are of the ends of hours, days or months",
    "SNAPSHOT_READ": "what is in a snapshot file",
    "SNAPSHOT_SAVED": "what was written to a snapshot file",
    "STOPPED": "a signal ended the collector",
    "TOPIC_IDS_UNKNOWN": "a topic that was recreated cannot be told from what it was",
    "TRIALS_WITHOUT_VALUE": "trials of a search were refused, or did not settle",
    "UNCOMMITTED_PARTITIONS": "partitions have no commit, so no lag",
    "UNDO_FILE": "where the undo file is",
    "WAITING_FOR_MEMBERS": "a group still has members",
    "WITHOUT_EFFECT": "settings of a scenario change nothing",
}

NOTES: Final = tuple(Meaning(code, "note", text, None) for code, text in NOTE_CODES.items())
