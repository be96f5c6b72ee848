"""One scheme of names: what two documents call alike is the same thing, of the same kind."""

import re

from scripts.document_names import MEANINGS, kinds_of_names, times

# A name that stands for different things, with the reason.
SEVERAL_KINDS = {
    "commits": "a history counts them in its summary, and tells more of those of a change",
    "groups": "the summary of a history has figures of each",
    "joined": "a repeated change counts what a change lists",
    "left": "the same",
    "value": "of a trial its number, of a log line its text",
    "best": "the best assignor of a group; whether a trial is the best, and which settings it has",
    "blockers": "metrics of a plan count what the plan lists",
    "brokers": "a snapshot lists what its summary, and that of a sandbox, count",
    "cluster": "rows of lag reports hold a name, as their tables have one column for it",
    "document": "a demo holds what a command printed, `schema` the name of one",
    "id": "brokers have numbers, clusters and schemas texts",
    "leader": "of a partition a broker, of a group a member",
    "partitions": "a list where each has fields of its own",
    "rebalances": "a simulation lists what its figures count; of an event, whether it causes one",
    "records": "kinds of records to how many",
    "refused": "a summary counts what items give the reason of",
    "rounds": "metrics of a plan count what the plan lists",
    "runs": "a search lists the value of each run",
    "topics": "a snapshot lists what its summary counts",
}
SHARED = 4  # so many documents, and a name must be in the table
# Of every document or write, described once in docs/scripting.md and docs/writes.md.
ENVELOPE = {"schema", "items", "errors", "notes", "summary", "groups", "bootstrap", "port", "id"}
COUNTERS = {"done", "planned", "refused", "failed", "skipped", "unknown", "clamped"}
OTHERS = {
    "total_lag": "lag",
    "lag_total": "lag",
    "max_lag": "lag_max",
    "lag_summary": "lag",
    "read_twice": "read_again",
    "records_lost": "deleted_records",
    "remedy": "hint",
}


def test_times_are_text_and_durations_seconds() -> None:
    """`…_at` is ISO 8601, `…_seconds` a number, and nothing is in milliseconds."""
    kinds = kinds_of_names()
    assert not [name for name in kinds if re.search(r"(_ms|_us|_millis|_time)$", name)]
    assert not [n for n in kinds if n.endswith("_at") and set(kinds[n]) != {"string"}]
    assert not [n for n in times() if n != "at" and not n.endswith("_at")]
    durations = [n for n in kinds if n.endswith("_seconds")]
    assert not [n for n in durations if not set(kinds[n]) <= {"number", "array", "object"}]


def test_a_name_is_of_one_kind() -> None:
    """Wherever it stands; simulations have figures with intervals and comparisons, too."""
    several = set()
    for name, kinds in kinds_of_names().items():
        spread = {kind for kind, having in kinds.items() if having == {"simulate"}}
        if len(kinds.keys() - spread) > 1:
            several.add(name)
    assert several == set(SEVERAL_KINDS)


def test_nothing_has_a_second_name() -> None:
    """Names that were used for what has another one."""
    assert not OTHERS.keys() & kinds_of_names().keys()


def test_what_documents_share_is_in_the_table() -> None:
    """Of four documents and more, but for the envelope and the counters of writes."""
    having = {name: frozenset().union(*kinds.values()) for name, kinds in kinds_of_names().items()}
    shared = {name for name, documents in having.items() if len(documents) >= SHARED}
    assert shared - MEANINGS.keys() - ENVELOPE - COUNTERS == set()
    assert MEANINGS.keys() <= having.keys()
