"""Every word that a document holds for a judgement: verdicts, confidence, statuses, results."""

from collections.abc import Iterator, Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Kind, Meaning
from kgroups.core.planning.confidence import DEFINITIONS

Rows = Mapping[str, tuple[str, str | None]]

OF_CHECK: Final[Rows] = {
    "ok": ("no condition holds", None),
    "warning": ("a condition of --warn-on holds", "read which, in `conditions`"),
    "unknown": (
        "a condition depends on a value that is not known, which counts as failed",
        "`kgroups describe GROUP` shows why; --allow-unknown lets it pass",
    ),
    "failed": ("a condition of --fail-on holds", "read which, in `conditions`"),
}
OF_LAG: Final[Rows] = {
    "OK": ("the reader keeps up, or makes progress", None),
    "WARN": (
        "lag did not fall in the whole window, though commits advance",
        "add consumers (`kgroups plan GROUP --add-members N`) or make them faster",
    ),
    "STOP": (
        "commits have stopped while there is lag, and the partition has no known owner",
        "start the consumer; `kgroups describe GROUP --members` shows who is there",
    ),
    "STALL": (
        "the committed offset stands still while there is lag, though somebody commits or owns it",
        "look at the consumer's log: it may be stuck on a record",
    ),
    "REWIND": (
        "the committed offset went back and has not caught up with where it was",
        "find out who reset it; records are read again",
    ),
    "BEYOND_END": (
        "the committed offset is beyond the log end: the topic was recreated or truncated",
        "`kgroups reset-offsets GROUP --to latest` (or earliest)",
    ),
}
RULES: Final[Rows] = {
    "lag_unknown": ("the lag is not known, so no verdict is given", "commit once, or read the log"),
    "no_lag": ("there is no lag: OK", None),
    "was_at_head": ("the reader was at the end of the log within the window: OK", None),
    "progresses": ("offsets advance and lag falls now and then: OK", None),
    "too_few_captures": (
        "fewer than three captures with a commit, so no verdict is given",
        "collect more captures, or use a longer --over",
    ),
    "lag_never_falls": ("offsets advance, but lag fell in no step of the window: WARN", None),
    "commits_stopped": (
        "no commit for longer than the commits before took, by no known owner: STOP",
        None,
    ),
    "nobody_reads": (
        "records wait in a partition without owner and commit: STOP",
        "`kgroups plan GROUP` shows who would get it; consumers see new partitions within"
        " metadata.max.age.ms",
    ),
    "offset_stands_still": (
        "the commit stands still, or no new one comes, though somebody owns the partition: STALL",
        None,
    ),
    "offset_went_back": ("an offset is lower than one before it: REWIND", None),
    "beyond_log_end": ("the committed offset is beyond the log end: BEYOND_END", None),
}
OF_LAG_SECONDS: Final[Rows] = {
    "high": ("read from a record, bisected, or interpolated between captures", None),
    "low": (
        "a lower bound, as the record is older than the captures",
        "use a longer --over, or --record-times",
    ),
}
METHODS: Final[Rows] = {
    "at_head": ("nothing is unread, so the age is 0", None),
    "record": ("the time of the next unread record itself", None),
    "bisected": (
        "found through offsets by timestamp, to within one per cent or ten milliseconds",
        "use --record-times for the record itself, which requires READ",
    ),
    "interpolated": ("when the log's end passed the commit, between two captures", None),
    "at_least": (
        "the record was unread in every capture of the window, so it is this old or older",
        "use a longer --over, or --record-times",
    ),
}
TRENDS: Final[Rows] = {
    "growing": ("lag grew over the window", "add consumers, or make them faster"),
    "steady": ("lag changed little beside what was produced", None),
    "draining": ("lag fell over the window", None),
}
STATUSES: Final[Rows] = {
    "ok": ("lag is log end minus committed offset", None),
    "no_commit": (
        "nothing is committed, so lag is not known",
        "--uncommitted start|end assumes a position",
    ),
    "below_log_start": (
        "records expired before they were read; `lost` counts them",
        "increase the topic's retention, or make the consumers faster",
    ),
    "beyond_end": (
        "the committed offset is beyond the log end: the topic was recreated or truncated",
        "`kgroups reset-offsets GROUP --to latest` (or earliest)",
    ),
    "topic_missing": (
        "the topic or partition does not exist",
        "`kgroups delete-offsets GROUP --topic TOPIC` removes what is left of it",
    ),
    "leaderless": (
        "the partition has no leader, so nobody can say where its log ends",
        "check that the brokers with its replicas are running",
    ),
    "unknown": ("the commit or the log could not be read", "read `error` of the row"),
    "stalled": (
        "with --over: the commit stands still while records wait, and a member owns the partition",
        "look at the owner's log: it may be stuck on a record",
    ),
    "held": (
        "an open transaction, not the consumer, holds the partition: a read_committed consumer "
        "gets no record from the last stable offset on, where the commit stands",
        "`kgroups transactions GROUP` shows which",
    ),
}
RESULTS: Final[Rows] = {
    "planned": ("it would be done: --dry-run shows the plan only", "run it without --dry-run"),
    "done": ("it was done, and reading back shows it", None),
    "refused": ("the group's state forbids it", "read `error`; stop the group's consumers"),
    "failed": ("it was tried and failed", "read `error`"),
    "skipped": (
        "it was left out, as others could not be done or nothing had to change",
        "--keep-going does what can be done",
    ),
    "unknown": (
        "no answer came, so it may have been done",
        "look before you repeat it; `reset-offsets --resume` finishes a reset",
    ),
}
EXPIRIES: Final[Rows] = {
    "expires": (
        "nobody reads the partition in this group, so brokers delete the commit",
        "start the group's consumers, or commit again (`kgroups reset-offsets`)",
    ),
    "in_use": ("the group reads the topic, so brokers keep the commit", None),
    "unknown": (
        "it is not known when the commit was made, or how long brokers keep it",
        "read the notes on stderr; it requires READ on `__consumer_offsets`",
    ),
}
EXACTNESS: Final[Rows] = {
    "exact": ("the commit at that time; without an offset, nothing was committed", None),
    "at_the_latest": (
        "so it stood at `known_at`, and commits between that and the time asked for may be missing",
        "captures of `lag collect` taken more often tell more",
    ),
    "unknown": (
        "compaction has removed the records that would tell it, and no capture does",
        "--captures DIR reads captures of `lag collect`",
    ),
}
CAUSES: Final[Rows] = {
    "compaction": ("compaction has removed the records in between", None),
    "between_captures": ("between two captures, and no record of it is left", None),
    "unfinished": (
        "rebalances that ended before their leader had assigned: a member joined or left meanwhile",
        "make members poll more often, or join at once (`group.initial.rebalance.delay.ms`)",
    ),
    "protocol_changed": ("the group moved between the classic and the consumer protocol", None),
    "static_return": (
        "a static member came back under another member id, without a rebalance",
        None,
    ),
    "created": ("the group's first rebalance", None),
    "poll_timeout": (
        "a member left after `max.poll.interval.ms` without a poll, and came back",
        "process fewer records a poll (`max.poll.records`), or allow more time",
    ),
    "deploy": (
        "every member was replaced, in turn or at once",
        "static members (`group.instance.id`) restart without rebalances",
    ),
    "session_timeout": (
        "a member was silent for its session timeout: it crashed, paused, or lost its network",
        "look at its log at that time; increase `session.timeout.ms` if it only pauses",
    ),
    "rebalance_timeout": (
        "a member did not follow a rebalance in its time, and was removed",
        "look at what it did then; `max.poll.interval.ms` is the time it has",
    ),
    "removed_by_admin": ("somebody removed the member", None),
    "member_closed": ("a consumer was closed, or unsubscribed", None),
    "restart": ("a client left and came back under another member id", None),
    "member_left": ("a member left, or was removed", None),
    "member_returned": ("a client that had left shortly before came back", None),
    "member_joined": ("a member joined", None),
    "subscription_changed": ("a member subscribed to other topics", None),
    "topics_changed": ("subscribed topics were created, deleted, or have more partitions", None),
    "second_round": ("a cooperative group assigned what it had revoked just before", None),
    "member_rejoined": (
        "a member asked for a rebalance, and nothing changed: a leader that came back, or metadata",
        None,
    ),
}
_OF_PLANS: Final[Mapping[str, str | None]] = {
    "exact": None,
    "outcomes": "--outcomes shows all of them with their shares",
    "likely": "read the notes; --as and --leader-from-log name the leader's client",
    "counts": "rely on the sizes of the shares, such as the largest, not on who gets which",
}

WORDS_OF: Final[Mapping[Kind, Rows]] = {
    "verdict of check": OF_CHECK,
    "verdict of lag": OF_LAG,
    "verdict rule": RULES,
    "confidence of a plan": {
        word: (definition.partition(";")[0], _OF_PLANS[word])
        for word, definition in DEFINITIONS.items()
    },
    "confidence of lag_seconds": OF_LAG_SECONDS,
    "lag_seconds_method": METHODS,
    "trend": TRENDS,
    "lag_status": STATUSES,
    "result": RESULTS,
    "expiry": EXPIRIES,
    "exactness": EXACTNESS,
    "cause of a change": CAUSES,
}
"""Every word by the field that holds it."""


def _rows() -> Iterator[Meaning]:
    for kind, rows in WORDS_OF.items():
        for word, (meaning, to_do) in rows.items():
            yield Meaning(word, kind, meaning, to_do)


WORDS: Final = tuple(_rows())
