"""Every code with its meaning: exit codes of our own grammar, errors."""

from collections.abc import Iterator, Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Kind, Meaning
from kgroups.core.errors import EXIT_CODE_BUG, EXIT_CODE_INTERRUPTED, EXIT_CODE_UNPRINTED
from kgroups.core.protocol.errors import MEANINGS

_ROWS: Final[tuple[tuple[int, str, str | None], ...]] = (
    (0, "done", None),
    (
        1,
        "an item failed in a way that has no code of its own, or items failed in several ways",
        "read the errors on stderr, or `errors` of the JSON document",
    ),
    (
        2,
        "usage: the arguments or a file are not valid; nothing was written",
        "read the hint, or `kgroups COMMAND --help`",
    ),
    (
        3,
        "the cluster is unreachable, did not answer in time, or denied access",
        "check the address, the login and the ACLs, or increase --timeout; a write that was not "
        "answered is `unknown`: look before you repeat it",
    ),
    (
        4,
        "refused: the group's state forbids it, or a guard or a saved file no longer applies",
        "stop the group's consumers (`kgroups wait GROUP --until empty`), or follow the hint",
    ),
    (
        5,
        "a group, topic, partition or member does not exist",
        "check the spelling; `kgroups list` shows the groups",
    ),
    (
        6,
        "a condition was met, or could not be determined",
        "read which; --allow-unknown of `check` lets what is not known pass",
    ),
    (7, "the deadline passed before the condition held", "use a longer --deadline"),
    (
        EXIT_CODE_BUG,
        "a bug in kgroups",
        "report it with the command and what --verbose adds",
    ),
    (
        EXIT_CODE_UNPRINTED,
        "the work is done, but its result could not be printed",
        "check where stdout goes, or the --query; an undo file holds what a reset did",
    ),
    (129, "interrupted by SIGHUP", None),
    (EXIT_CODE_INTERRUPTED, "interrupted by Ctrl-C (SIGINT), or you declined", None),
    (143, "interrupted by SIGTERM", None),
)

EXIT_CODES: Final = tuple(
    Meaning(str(code), "exit code", meaning, to_do, code) for code, meaning, to_do in _ROWS
)


_ADVICE: Final[Mapping[int | None, str | None]] = {
    code.exit_code: code.to_do for code in EXIT_CODES
}
"""Advice where an error says no more than its exit code."""

_Row = tuple[int | None, str, str | None]

_OWN: Final[Mapping[str, _Row]] = {
    "FAILED": (1, "something failed that has no code of its own", None),
    "MIXED_FAILURES": (1, "items failed in several ways", None),
    "USAGE": (2, "the arguments, or a file named by them, are not valid", None),
    "CLUSTER": (3, "the cluster is unreachable, did not answer in time, or denied access", None),
    "REFUSED": (4, "the state of a group forbids what was asked", None),
    "READ_ONLY": (
        4,
        "KGROUPS_READ_ONLY is set, so nothing is written",
        "unset it, or use --dry-run to see the plan",
    ),
    "COMMIT_UNKNOWN": (4, "it is not known what was committed then", "--captures may tell it"),
    "PROTECTED_CONTEXT": (
        4,
        "the context is protected from writes",
        "name it with --unprotected if you mean it (docs/contexts.md)",
    ),
    "TOO_FEW_RECORDS": (
        4,
        "the log has fewer records that can be read than --to next asks for",
        "`kgroups peek` shows what is there",
    ),
    "VALUES_FORBIDDEN": (
        4,
        "the context forbids showing values of records (`values: never`)",
        "leave out --show-values and --raw",
    ),
    "OTHER_CLUSTER": (
        4,
        "the cluster is not the one that --expect-cluster-id or the context names",
        "check the address; nothing was written",
    ),
    "NOT_FOUND": (5, "what was named does not exist", None),
    "CHECK_FAILED": (
        6,
        "a condition that you gave is met",
        "the message names the condition and the figures",
    ),
    "CHECK_UNDETERMINED": (
        6,
        "a condition depends on a value that is not known, which counts as met",
        "find out why (`kgroups describe GROUP`), or use --allow-unknown of `check`",
    ),
    "DEADLINE_PASSED": (7, "what was waited for did not come in time", None),
    "BUG": (EXIT_CODE_BUG, "something failed that kgroups does not expect to", None),
    "DECLINED": (EXIT_CODE_INTERRUPTED, "you answered no", None),
    "INTERRUPTED": (EXIT_CODE_INTERRUPTED, "a signal came before the command was done", None),
    "UNPRINTED": (74, "the work is done, but its result could not be printed", None),
    "ASSIGNOR_FAILED": (
        1,
        "an assignor raised an error, or broke a rule such as giving a partition to two members",
        "fix your assignor (`kgroups plan --check-assignor`); of Kafka's own the message names "
        "what a Java leader would do",
    ),
    "BROKEN_CAPTURE": (
        1,
        "a capture is truncated, has lost rows, or was not written by kgroups",
        "delete it, or report without it (leave out --strict)",
    ),
    "BROKEN_TABLE": (
        1,
        "the log of a Delta table of captures cannot be read",
        "remove the commit that is named, or restore the table from a copy",
    ),
    "CAPTURES_CHANGED": (
        1,
        "files of captures were removed while a report read them",
        "run the report again",
    ),
    "CAPTURES_LOCKED": (
        1,
        "another process has been writing to the folder of captures for a long time",
        "find out what it waits for",
    ),
    "CAPTURES_NOT_SEEN": (
        1,
        "the workers of Spark do not find the captures",
        "put them where every worker sees them under the same path",
    ),
    "COMMAND_FAILED": (1, "a command of `kgroups demo` failed", "run it by hand with --verbose"),
    "TRANSACTION_MAY_END": (
        4,
        "the transaction may end by itself, so it is not aborted",
        "wait, or use --force",
    ),
    "TRANSACTION_NOT_FOUND": (
        5,
        "the transaction is not open any more, or not there",
        "`kgroups transactions list` shows those that are",
    ),
    "CLUSTER_MISMATCH": (
        4,
        "the cluster is not the one that was expected",
        "check which cluster -b names",
    ),
    "CORRUPT_RECORD": (
        1,
        "a record of __consumer_offsets cannot be read; the others are reported",
        "inspect the partition and offset with `kafka-dump-log.sh`",
    ),
    "CONTROLLER_ID_NOT_REGISTERED": (3, "no controller with this id is registered", None),
    "DUCKDB_FAILED": (1, "DuckDB failed", "see the message: it has DuckDB's own words"),
    "GROUP_DELETION_FAILED": (
        1,
        "the broker could not delete what it keeps beside the group, such as a streams topology",
        "the message has the broker's own words; try again, or read its log",
    ),
    "INCONSISTENT_GROUP_PROTOCOL": (
        2,
        "no assignor is supported by every member of the group",
        "restart all members with both assignors, then again with the new one alone",
    ),
    "INCONSISTENT_TOPIC_ID": (
        4,
        "the topic was recreated since the file or plan was written: its offsets mean nothing now",
        "reset the group to where it should be in the new topic",
    ),
    "INVALID_CONFIG": (2, "a broker or a client would not start with these properties", None),
    "INVALID_GROUP_TYPE": (
        4,
        "the command is not for groups of this type",
        "`kgroups list` shows the types",
    ),
    "INVALID_REQUEST": (3, "librdkafka or the broker rejects the request as malformed", None),
    "JAVA_MISSING": (1, "Spark requires Java, and none was found", "install a JDK 17 or newer"),
    "JAVA_TOO_OLD": (1, "Spark requires a newer Java", "install a JDK 17 or set JAVA_HOME"),
    "LISTENER_NOT_FOUND": (
        3,
        "the partition's leader does not listen where this client comes from",
        "check `advertised.listeners` of every broker",
    ),
    "MISSING_EXTRA": (
        2,
        "the command needs libraries that are not installed",
        "run the command of the hint, which installs them",
    ),
    "DEPLOY_FAILED": (
        6,
        "a simulated deploy made no progress until its deadline",
        "--deploys shows its figures, --timeline what happened",
    ),
    "NOT_SETTLED": (
        6,
        "the simulated groups had not settled at the end",
        "increase --until; --timeline shows what happened",
    ),
    "NOT_BY_PARTITION": (
        4,
        "the offsets of a share group are deleted by topic, not by partition",
        "name the topic: --topic orders",
    ),
    "NOT_VERIFIED": (
        1,
        "the write was acknowledged, but reading back does not show it",
        "look again; something else may have written at the same time",
    ),
    "NOT_WRITTEN": (
        1,
        "a capture could not be written; no partial file is left",
        "free some space, or choose another folder",
    ),
    "DECODER_FAILED": (
        1,
        "a decoder of yours could not read a record's value",
        "`--value-as hex` shows the bytes",
    ),
    "NO_CHECKPOINT": (
        5,
        "MirrorMaker 2 has written no checkpoint of what the group committed",
        "wait until it has; see that it mirrors the topic and the group",
    ),
    "NO_COMMITTED_OFFSET": (
        5,
        "the group has no committed offset to start from",
        "use an offset, earliest or latest",
    ),
    "NO_VALUE": (5, "the record has no value: it is a tombstone", None),
    "NO_RECORD": (
        5,
        "the log has no record to take the time from",
        "use `kgroups reset-offsets` in the other cluster",
    ),
    "NO_SAME_RECORD": (5, "the record is not in the other cluster", "wait until it is there"),
    "SOURCE_MOVED": (
        1,
        "the source group committed after its offsets were copied",
        "stop the source group, then copy again",
    ),
    "OFFSET_MOVED": (
        4,
        "something else is there now than when the undo file or plan was written",
        "look at it; --overwrite-moved, or --drift accept, writes all the same",
    ),
    "SETTING_CHANGED": (
        4,
        "a configuration was changed since the undo file or plan was written",
        "look at it with `kgroups config`; --set, or --drift accept, changes it all the same",
    ),
    "OFFSET_OUT_OF_RANGE": (
        4,
        "the offset is outside the log: its records have expired or the log was truncated",
        "use earliest or latest, or --clamp for the edge of the log",
    ),
    "PLAN_FAILED": (1, "a group of the fleet could not be planned; the others were", None),
    "POLICY_VIOLATION": (3, "a policy of the brokers forbids it", "ask who runs the cluster"),
    "PROMISE_BROKEN": (
        6,
        "an assignor breaks a property that it promises, such as giving out every partition",
        "fix it, or name the property in its `waives`",
    ),
    "SPARK_FAILED": (1, "Spark did not start, or failed", "run with --verbose for its own words"),
    "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED": (
        1,
        "the broker could not store the description of a streams topology",
        "read the broker's log: the plugin that stores them failed",
    ),
    "STORE_FAILED": (
        1,
        "an object store refused a request for another reason than those that have a code",
        "see the message: it has the store's own words",
    ),
    "CONCURRENT_TRANSACTIONS": (1, "somebody else was ending the transaction; try again", None),
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": (3, "no right to this transactional id", None),
    "UNKNOWN_ASSIGNOR": (
        2,
        "there is no assignor of this name on this side (client or broker)",
        "the hint lists those there are",
    ),
    "UNKNOWN_HOST": (5, "no member of the group is on this host", "the hint lists the hosts"),
    "UNKNOWN_SERVER_ERROR": (
        1,
        "the broker failed without telling why",
        "read the broker's log",
    ),
    "UNSUPPORTED_GROUP_TYPE": (
        4,
        "groups of this type assign no partitions, or are not planned beside consumer groups",
        None,
    ),
    "UNSUPPORTED_PROTOCOL": (
        3,
        "the broker and kgroups have no TLS version in common",
        "`ssl.enabled.protocols` of the broker must include TLSv1.2 or TLSv1.3",
    ),
}

_BLOCKERS: Final[Mapping[str, tuple[str, str]]] = {
    "MIGRATION_POLICY": (
        "the brokers' `group.consumer.migration.policy` does not allow this direction",
        "set it on every broker, or stop all members: an empty group needs no policy",
    ),
    "GROUP_MAX_SIZE": (
        "the group has more members than the brokers allow in a group of the new protocol",
        "increase the limit on every broker, or stop members first",
    ),
    "ASSIGNMENT_USER_DATA": (
        "the leader's user data is part of assignments, and brokers do not convert such a group",
        "switch the members to range or roundrobin first, in a separate rolling restart",
    ),
    "SUBSCRIPTION_USER_DATA": (
        "members send user data to the assignor, which no server-side assignor reads",
        "what depends on them is lost: check the application",
    ),
    "ASSIGNOR": (
        "no server-side assignor is equivalent to the group's",
        "the coordinator will assign, by uniform or range; see `kgroups plan --assignor`",
    ),
    "CLIENT_LIBRARY": (
        "the member's client library does not speak KIP-848",
        "switch it to a library that does: the hint names them with their versions",
    ),
    "CLIENT_TOO_OLD": (
        "the member's client library is too old for KIP-848",
        "upgrade it in the same rolling restart",
    ),
    "REGULAR_EXPRESSION": (
        "a subscription pattern means something else to the brokers, which use RE2",
        "write it for RE2, which matches whole names",
    ),
}

_FAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "DOUBLED_TOPIC": (
        "a subscription names a topic twice, which a Java leader counts twice",
        "name it once in the client",
    ),
    "EMPTY_SUBSCRIPTION": (
        "a member subscribes to nothing, which makes a Java leader treat subscriptions as unequal",
        "stop the member, or subscribe it",
    ),
    "UNSUBSCRIBED_OWNER": (
        "a member claims a partition of a topic that it no longer reads; a Java leader may assign "
        "it anyway, or fail",
        "restart the member",
    ),
    "PHANTOM_PARTITION": (
        "a member claims a partition that does not exist; a Java leader may then fail or assign "
        "other partitions twice",
        "restart the members after a topic was recreated",
    ),
    "FOREIGN_PARTITION": (
        "a kafkajs leader assigns a topic to a member that does not subscribe to it, which then "
        "does not read it",
        "subscribe all members of the group to the same topics",
    ),
    "LEADER_FAILS": (
        "a Java leader never finishes this rebalance: partitions move in a cycle",
        "use cooperative-sticky, or give all members the same subscription",
    ),
}


def _rows() -> Iterator[Meaning]:
    for code, broker in MEANINGS.items():
        to_do = broker.hint or _ADVICE.get(broker.exit_code)
        yield Meaning(code, "error", broker.message, to_do, broker.exit_code)
    for code, (exit_code, meaning, to_do) in _OWN.items():
        if code not in MEANINGS:
            yield Meaning(code, "error", meaning, to_do or _ADVICE.get(exit_code), exit_code)
    tables: tuple[tuple[Kind, Mapping[str, tuple[str, str]]], ...] = (
        ("blocker", _BLOCKERS),
        ("assignor fault", _FAULTS),
    )
    for kind, table in tables:
        for code, (meaning, to_do) in table.items():
            yield Meaning(code, kind, meaning, to_do)


ERROR_CODES: Final = tuple(_rows())
