"""Kafka's own tests of kafka-groups.sh and the tools of share and streams groups, and ours of them.

The classes are those of Kafka's trunk in August 2026, 132 tests. A reference is one of

* a pattern of command lines of `kind_lines.py` (`*` stands for letters), after the tool,
* `module::test`: a test of this folder, or of another by its path.
"""

from collections.abc import Mapping
from typing import Final

_GROUPS = "test_all_groups::"
_SAME, _REFUSED = _GROUPS + "test_same_table", _GROUPS + "test_same_refusal"
_STATES = "test_values::test_states"
_NODES = "tests.core.test_topology_nodes::"
_SHARE, _APP = "share-groups * ", "streams-groups * "
_DELETE, _FORGET = _SHARE + "--delete *", _SHARE + "--delete-offsets *"
_RESET = _SHARE + "--reset-offsets *"
_EXPORT = (_RESET + "--export", _RESET + "--from-file *")
_FORGET_APP = _APP + "--delete-offsets --group app-x --input-topic "
_LIVE_APP = _APP + "--delete-offsets --group app-live --input-topic "
_UNKNOWN, _EMPTY = "*--list --bogus", "*--describe --group app-empty*"

KIND_CATALOGUE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "GroupsCommandTest": {
        "testOptionsNoActionFails": (_REFUSED,),
        "testOptionsListSucceeds": (_SAME,),
        "testOptionsListConsumerFilterSucceeds": (_SAME,),
        "testOptionsListShareFilterSucceeds": (_SAME,),
        "testOptionsListStreamsFilterSucceeds": (_SAME,),
        "testOptionsListProtocolFilterSucceeds": (_SAME,),
        "testOptionsListTypeFilterSucceeds": (_SAME,),
        "testOptionsListTypeStreamsFilterSucceeds": (_SAME,),
        "testOptionsListInvalidTypeFilterFails": (_REFUSED,),
        "testOptionsListProtocolAndTypeFiltersSucceeds": (_SAME,),
        "testOptionsListConsumerAndShareFilterFails": (_REFUSED,),
        "testOptionsListShareAndStreamsFilterFails": (_REFUSED,),
        "testOptionsListConsumerAndStreamsFilterFails": (_REFUSED,),
        "testOptionsListConsumerAndProtocolFilterFails": (_REFUSED,),
        "testOptionsListConsumerAndTypeFilterFails": (_REFUSED,),
        "testOptionsListShareAndProtocolFilterFails": (_REFUSED,),
        "testOptionsListShareAndTypeFilterFails": (_REFUSED,),
        "testOptionsListStreamsAndProtocolFilterFails": (_REFUSED,),
        "testOptionsListStreamsAndTypeFilterFails": (_REFUSED,),
        "testListGroupsEmpty": (_SAME,),
        "testListGroups": (_SAME,),
        "testListGroupsConsumerFilter": (_SAME,),
        "testListGroupsShareFilter": (_SAME,),
        "testListGroupsStreamsFilter": (_SAME,),
        "testListGroupsProtocolFilter": (_SAME,),
        "testListGroupsTypeFilter": (_SAME,),
        "testListGroupsProtocolAndTypeFilter": (_SAME,),
        "testListGroupsProtocolAndTypeFilterNoMatch": (_SAME,),
        "testListGroupsFailsWithException": (_GROUPS + "test_nobody_answers",),
    },
    "ShareGroupCommandTest": {
        "testListShareGroups": (_SHARE + "--list",),
        "testListShareGroupsWithStates": (_SHARE + "--list --state",),
        "testDescribeOffsetsOfExistingGroup": (_SHARE + "--describe --group share-empty",),
        "testDescribeOffsetsOfExistingGroupWithNulls": (_SHARE + "--describe --all-groups",),
        "testDescribeOffsetsOfExistingGroupWithNoOffsetInfo": (
            "test_kind_states::test_no_offset_information",
        ),
        "testDescribeOffsetsOfAllExistingGroups": (_SHARE + "--describe --all-groups --verbose",),
        "testDescribeStateOfExistingGroup": (_SHARE + "--describe *--state --verbose",),
        "testDescribeStatesOfAllExistingGroups": (_SHARE + "--describe --all-groups --state*",),
        "testDescribeMembersOfExistingGroup": (
            _SHARE + "--describe --group share-live --members*",
        ),
        "testDescribeMembersOfAllExistingGroups": (_SHARE + "--describe --all-groups --members*",),
        "testDescribeNonexistentGroup": (_SHARE + "--describe --group nobody*",),
        "testPrintEmptyGroupState": (_SHARE + "--describe --all-groups --state",),
        "testListWithUnrecognizedOption": ("share-groups --list --bogus",),
        "testGroupStatesFromString": (_STATES,),
        "testDeleteShareGroupOffsetsArgsWithoutTopic": (_SHARE + "--delete-offsets --group g",),
        "testDeleteShareGroupOffsetsArgsWithoutGroup": (_SHARE + "--delete-offsets --topic t",),
        "testDeleteShareGroupOffsets": (_FORGET + "share-x --topic kind-a",),
        "testDeleteShareGroupOffsetsMultipleGroups": (
            _SHARE + "--delete-offsets --group g --group h --topic t",
        ),
        "testDeleteShareGroupOffsetsTopLevelError": (_FORGET + "share-live *",),
        "testDeleteShareGroupOffsetsTopicLevelError": (_FORGET + "--topic nope",),
        "testDeleteShareGroupsArgs": (_SHARE + "--delete",),
        "testDeleteShareGroupsSuccess": (_DELETE + "share-x",),
        "testDeleteShareGroupsAllGroupsSuccess": (_SHARE + "--delete --all-groups",),
        "testDeleteShareGroupsAllGroupsPartialFail": (_SHARE + "--delete --all-groups",),
        "testDeleteShareGroupsDeleteFailure": (_DELETE + "nobody",),
        "testDeleteShareGroupsFailureNonShareGroup": (_DELETE + "plain *",),
        "testDeleteShareGroupsFailureNonEmptyGroup": (_DELETE + "share-live",),
        "testDeleteShareGroupsPartialFailure": (_DELETE + "share-x --group nobody",),
        "testResetOffsetsMultipleTopicsSuccess": (_RESET + "--topic kind-b --to-latest *",),
        "testResetOffsetsToLatestSuccess": (_RESET + "--all-topics --to-latest --execute",),
        "testResetOffsetsAllTopicsToDatetimeSuccess": (_RESET + "--to-datetime 2020*",),
        "testResetOffsetsToOffsetSuccess": (_RESET + "--to-offset 7 *",),
        "testResetOffsetsDryRunSuccess": (_RESET + "--to-earliest --dry-run",),
        "testResetOffsetsFailureWithoutTopic": (_SHARE + "--reset-offsets --group g --dry-run",),
        "testResetOffsetsFailureWithNonEmptyGroup": (_RESET + "share-live *",),
        "testResetOffsetsArgsFailureWithoutResetOffsetsArgs": (_RESET + "--dry-run --topic t",),
        "testResetOffsetsUnsubscribedTopicSuccess": (_RESET + "--to-current --dry-run",),
        "testResetOffsetsNonExistentGroupSuccess": ("test_kinds::test_a_group_that_is_not_yet",),
        "testResetOffsetsExportImportPlan": _EXPORT,
        "testResetOffsetsExportImportComplexPlan": _EXPORT,
    },
    "DeleteStreamsGroupOffsetTest": {
        "testDeleteOffsetsNonExistingGroup": (_APP + "--delete-offsets --group nobody *",),
        "testDeleteStreamsGroupOffsetsMultipleGroups": (_APP + "--delete-offsets *--group h *",),
        "testDeleteOffsetsOfStableStreamsGroupWithTopicPartition": (_LIVE_APP + "texts:0",),
        "testDeleteOffsetsOfStableStreamsGroupWithTopicOnly": (_LIVE_APP + "texts",),
        "testDeleteOffsetsOfStableStreamsGroupWithUnknownTopicPartition": (_LIVE_APP + "nope:0",),
        "testDeleteOffsetsOfStableStreamsGroupWithUnknownTopicOnly": (_LIVE_APP + "nope",),
        "testDeleteOffsetsOfEmptyStreamsGroupWithTopicPartition": (_FORGET_APP + "kind-a:0,9 *",),
        "testDeleteOffsetsOfEmptyStreamsGroupWithTopicOnly": (_FORGET_APP + "kind-a",),
        "testDeleteOffsetsOfEmptyStreamsGroupWithMultipleTopics": (
            _FORGET_APP + "* --input-topic kind-b",
        ),
        "testDeleteOffsetsOfEmptyStreamsGroupWithUnknownTopicPartition": (_FORGET_APP + "nope:0",),
        "testDeleteOffsetsOfEmptyStreamsGroupWithUnknownTopicOnly": (_FORGET_APP + "nope",),
        "testDeleteOffsetsOfEmptyStreamsGroupWithAllTopics": (
            _APP + "--delete-offsets *--all-input-topics",
        ),
    },
    "DeleteStreamsGroupTest": {
        "testDeleteWithUnrecognizedOption": ("streams-groups " + _UNKNOWN[1:],),
        "testDeleteWithoutGroupOption": (_APP + "--delete",),
        "testDeleteWithDeleteInternalTopicOption": (_APP + "--delete *--delete-internal-topic t",),
        "testDeleteSingleGroupWithoutDeletingInternalTopics": (_APP + "--delete --group app-x",),
        "testDeleteSingleGroupWithDeletingInternalTopics": (
            _APP + "--delete --group app-x --delete-all-internal-topics",
        ),
        "testDeleteMultipleGroupsWithoutDeletingInternalTopics": (
            _APP + "--delete --group app-x --group app-y",
        ),
        "testDeleteAllGroupsWithDeletingInternalTopics": (_APP + "--delete --all-groups",),
        "testDeleteAllGroupsAfterVersionDowngrade": (
            "tests.kafka.reads.test_streams_groups::test_brokers_that_serve_them_no_more",
        ),
    },
    "DescribeStreamsGroupTest": {
        "testDescribeWithUnrecognizedOption": ("streams-groups " + _UNKNOWN[1:],),
        "testDescribeWithoutGroupOption": (_APP + "--describe",),
        "testDescribeStreamsGroups": (_APP + "--describe --group app-live*",),
        "testDescribeNonExistingStreamsGroup": (_APP + "--describe --group nobody*",),
    },
    "ListStreamsGroupTest": {
        "testListWithUnrecognizedNewOption": ("streams-groups " + _UNKNOWN[1:],),
        "testListStreamsGroupWithoutFilters": (_APP + "--list",),
        "testListStreamsGroupWithStates": (_APP + "--list --state",),
        "testListStreamsGroupWithSpecifiedStates": (_APP + "--list --state 'STABLE, empty,'",),
        "testListStreamsGroupOutput": (_APP + "--list --state Dead",),
    },
    "ResetStreamsGroupOffsetTest": {
        "testResetWithUnrecognizedOption": ("streams-groups " + _UNKNOWN[1:],),
        "testResetOffsetsWithoutGroupOption": (_APP + "--reset-offsets --to-earliest --dry-run",),
        "testResetOffsetsWithoutDryRunOrExecuteOption": (
            _APP + "--reset-offsets --group g --to-earliest",
        ),
        "testResetOffsetsWithDeleteInternalTopicsOption": (
            _APP + "--reset-offsets --group g --dry-run --delete-*",
        ),
        "testResetOffset": (
            _APP + "--reset-offsets *--to-earliest --dry-run",
            _APP + "--reset-offsets *--to-latest --execute",
            _APP + "--reset-offsets *--to-current --execute",
            _APP + "--reset-offsets *--to-offset 5 --execute",
            _APP + "--reset-offsets *--shift-by 2 --execute",
            _APP + "--reset-offsets *--by-duration *",
            _APP + "--reset-offsets *--to-datetime *",
            _APP + "--reset-offsets *--from-file *",
        ),
        "testResetOffsetsWithDeleteSpecifiedInternalTopics": (
            _APP + "--reset-offsets *--delete-internal-topic app-x-store-changelog",
        ),
        "testResetOffsetsWithDeleteAllInternalTopics": (
            _APP + "--reset-offsets *--execute --delete-all-internal-topics",
        ),
    },
    "StreamsGroupCommandTest": {
        "testListStreamsGroups": (_APP + "--list",),
        "testListWithUnrecognizedOption": ("streams-groups " + _UNKNOWN[1:],),
        "testListStreamsGroupsWithStates": (_APP + "--list --state",),
        "testDescribeStreamsGroups": (_APP + "--describe --group app-live",),
        "testDescribeStreamsGroupsWithTopologyAvailable": (
            _APP + "--describe --group app-live --topology",
        ),
        "testDescribeStreamsGroupsWithTopologyNotStored": (
            _APP + "--describe --group app-empty --topology",
        ),
        "testDescribeStreamsGroupsGetOffsets": (_APP + "--describe --group app-live --verbose",),
        "testPrintEmptyGroupState": (_EMPTY,),
        "testGroupStatesFromString": (_STATES,),
        "testAdminRequestsForResetOffsets": (_APP + "--reset-offsets *--to-latest --execute",),
        "testRetrieveInternalTopics": ("tests.core.test_streams_tasks::test_internal_topics",),
        "testDeleteStreamsGroup": (_APP + "--delete --group app-x",),
        "testDeleteNonStreamsGroup": (_APP + "--delete --group plain *",),
        "testResetOffsetsWithPartitionNotExist": (_APP + "--reset-offsets *kind-a:9 *",),
        "testExitCodeOnInvalidOption": ("streams-groups " + _UNKNOWN[1:],),
        "testExitCodeOnIllegalArguments": (_APP + "--list --state bogus",),
        "testExitCodeOnExecutionException": (_APP + "--list --timeout 300",),
        "testExitCodeOnInterruptedException": (
            "tests.cli.endings.test_failure_documents::test_interrupted",
        ),
        "testGetCommittedOffsetsIncludesRepartitionTopics": (
            _APP + "--describe --group app-live --verbose",
        ),
        "testGetCommittedOffsetsWithMultipleSubtopologies": (
            _APP + "--describe --group app-live --verbose",
        ),
    },
    "TopologyDescriptionFormatterTest": {
        "testFormatSimpleSubtopology": (_NODES + "test_simple",),
        "testFormatGlobalStore": (_NODES + "test_global_stores",),
        "testFormatMultipleGlobalStoresAreSeparatedByBlankLine": (_NODES + "test_global_stores",),
        "testFormatMultipleSubtopologiesAreIndentedConsistently": (_NODES + "test_simple",),
        "testFormatRendersEmptySuccessorsAndPredecessorsAsNone": (_NODES + "test_lonely",),
        "testFormatEmptyTopologyHasNoTrailingSpace": (_NODES + "test_empty",),
        "testFormatSinkWithoutTopicAndMultipleSuccessors": (_NODES + "test_lonely",),
    },
}
