# kgroups completion for bash; `kgroups completion bash` wrote it.
_kgroups_step() { # path, word: is the word a command there?
  case "$1/$2" in
    "/list" | "/describe" | "/top" | "/history" | "/peek" | "/coordinator" | "/transactions" | "/snapshot" | "/check" | "/wait" | "/doctor" | "/plan" | "/simulate" | "/reset-offsets" | "/copy-offsets" | "/delete-offsets" | "/delete" | "/delete-records" | "/remove-members" | "/config" | "/apply" | "/lag" | "/context" | "/ping" | "/audit" | "/sandbox" | "/demo" | "/official" | "/schema" | "/explain" | "/completion" | "transactions/list" | "transactions/abort" | "snapshot/save" | "snapshot/show" | "lag/report" | "lag/history" | "lag/collect" | "lag/compact" | "context/list" | "context/show" | "context/use" | "context/add" | "context/remove" | "context/current" | "context/import" | "sandbox/up") return 0 ;;
  esac
  return 1
}
_kgroups_value() { # path, flag: where does its value come from? fails if it takes none
  case "$1/$2" in
    "/--output" | "/-o") echo 'table json jsonl csv yaml plain' ;;
    "list/--output" | "list/-o") echo 'table json jsonl csv yaml plain openmetrics' ;;
    "describe/--output" | "describe/-o") echo 'table json jsonl csv yaml plain openmetrics' ;;
    "check/--output" | "check/-o") echo 'table json jsonl csv yaml openmetrics junit nagios' ;;
    "lag report/--output" | "lag report/-o") echo 'table json jsonl csv yaml openmetrics' ;;
    "reset-offsets/--output" | "reset-offsets/-o") echo 'table json jsonl csv yaml plain' ;;
    "copy-offsets/--output" | "copy-offsets/-o") echo 'table json jsonl csv yaml plain' ;;
    "delete-offsets/--output" | "delete-offsets/-o") echo 'table json jsonl csv yaml plain' ;;
    "delete/--output" | "delete/-o") echo 'table json jsonl csv yaml plain' ;;
    "delete-records/--output" | "delete-records/-o") echo 'table json jsonl csv yaml plain' ;;
    "apply/--output" | "apply/-o") echo 'table json jsonl csv yaml plain' ;;
    */--context | */-c) echo '@contexts' ;;
    */--bootstrap-server | */-b) echo '@free' ;;
    */--command-config) echo '@files' ;;
    */--client) echo '@free' ;;
    */--output | */-o) echo 'table json jsonl csv yaml' ;;
    */--timeout) echo '@free' ;;
    */--query) echo '@free' ;;
    "list/--state") echo 'Empty PreparingRebalance CompletingRebalance Stable Dead Assigning Reconciling NotReady' ;;
    "list/--type") echo 'classic consumer share streams' ;;
    "list/--topic") echo '@topics' ;;
    "list/--regex") echo '@free' ;;
    "list/--sort") echo 'name state type coordinator lag lag-max lost member-count' ;;
    "list/--top") echo '@free' ;;
    "list/--where") echo '@free' ;;
    "list/--over") echo '@free' ;;
    "list/--idle-for") echo '@free' ;;
    "list/--watch") echo '@free' ;;
    "list/--fields") echo '@free' ;;
    "list/--textfile") echo '@files' ;;
    "list/--from") echo '@files' ;;
    "describe/--regex") echo '@free' ;;
    "describe/--topic") echo '@topics' ;;
    "describe/--sort") echo 'name lag' ;;
    "describe/--top") echo '@free' ;;
    "describe/--uncommitted") echo 'start end' ;;
    "describe/--isolation") echo 'read_uncommitted read_committed' ;;
    "describe/--where") echo '@free' ;;
    "describe/--over") echo '@free' ;;
    "describe/--at") echo '@free' ;;
    "describe/--captures") echo '@free' ;;
    "describe/--watch") echo '@free' ;;
    "describe/--fields") echo '@free' ;;
    "describe/--textfile") echo '@files' ;;
    "describe/--from") echo '@files' ;;
    "top/--every") echo '@free' ;;
    "history/--since") echo '@free' ;;
    "history/--log") echo '@files' ;;
    "history/--captures") echo '@free' ;;
    "history/--html") echo '@files' ;;
    "peek/--topic") echo '@topics' ;;
    "peek/--over") echo '@free' ;;
    "peek/--around") echo '@free' ;;
    "peek/--value-as") echo '@free' ;;
    "peek/--value-bytes") echo '@free' ;;
    "peek/--raw") echo '@files' ;;
    "peek/--isolation") echo 'read_uncommitted read_committed' ;;
    "peek/--limit") echo '@free' ;;
    "peek/--max-bytes") echo '@free' ;;
    "coordinator/--partitions") echo '@free' ;;
    "transactions list/--topic") echo '@topics' ;;
    "transactions abort/--topic") echo '@topics' ;;
    "transactions abort/--producer-id") echo '@free' ;;
    "transactions abort/--transactional-id") echo '@free' ;;
    "transactions abort/--expect-cluster-id") echo '@free' ;;
    "transactions abort/--unprotected") echo '@contexts' ;;
    "transactions abort/--reason") echo '@free' ;;
    "check/--regex") echo '@free' ;;
    "check/--fail-on") echo '@free' ;;
    "check/--warn-on") echo '@free' ;;
    "check/--for") echo '@free' ;;
    "check/--uncommitted") echo 'start end' ;;
    "check/--isolation") echo 'read_uncommitted read_committed' ;;
    "check/--over") echo '@free' ;;
    "check/--textfile") echo '@files' ;;
    "check/--from") echo '@files' ;;
    "wait/--until") echo '@free' ;;
    "wait/--stable") echo '@free' ;;
    "wait/--deadline") echo '@free' ;;
    "wait/--uncommitted") echo 'start end' ;;
    "wait/--isolation") echo 'read_uncommitted read_committed' ;;
    "doctor/--regex") echo '@free' ;;
    "doctor/--over") echo '@free' ;;
    "doctor/--since") echo '@free' ;;
    "doctor/--log") echo '@files' ;;
    "doctor/--captures") echo '@free' ;;
    "doctor/--fail-on-level") echo 'info warning error' ;;
    "doctor/--from") echo '@files' ;;
    "plan/--assignor") echo '@free' ;;
    "plan/--as") echo '@free' ;;
    "plan/--remove-member") echo '@free' ;;
    "plan/--drop-host") echo '@free' ;;
    "plan/--set-partitions") echo '@free' ;;
    "plan/--add-topic") echo '@free' ;;
    "plan/--add-members") echo '@free' ;;
    "plan/--subscribe") echo '@free' ;;
    "plan/--pattern") echo '@free' ;;
    "plan/--restart") echo '@free' ;;
    "plan/--expire") echo '@free' ;;
    "plan/--rolling-restart") echo '@free' ;;
    "plan/--switch-client") echo '@free' ;;
    "plan/--to-protocol") echo '@free' ;;
    "plan/--explain") echo '@free' ;;
    "plan/--fail-on") echo '@free' ;;
    "plan/--check-assignor") echo '@free' ;;
    "plan/--by") echo 'member group client host assignor' ;;
    "plan/--top") echo '@free' ;;
    "plan/--master") echo '@free' ;;
    "plan/--remote") echo '@free' ;;
    "plan/--conf") echo '@free' ;;
    "plan/--html") echo '@files' ;;
    "plan/--from") echo '@files' ;;
    "simulate/--from-group") echo '@groups' ;;
    "simulate/--from") echo '@files' ;;
    "simulate/--over") echo '@free' ;;
    "simulate/--captures") echo '@free' ;;
    "simulate/--properties") echo '@files' ;;
    "simulate/--event") echo '@free' ;;
    "simulate/--seed") echo '@free' ;;
    "simulate/--until") echo '@free' ;;
    "simulate/--vary") echo '@free' ;;
    "simulate/--repeat") echo '@free' ;;
    "simulate/--jobs") echo '@free' ;;
    "simulate/--master") echo '@free' ;;
    "simulate/--conf") echo '@free' ;;
    "simulate/--fail-on") echo '@free' ;;
    "simulate/--search") echo '@free' ;;
    "simulate/--minimise") echo '@free' ;;
    "simulate/--trials") echo '@free' ;;
    "simulate/--html") echo '@files' ;;
    "reset-offsets/--to") echo '@free' ;;
    "reset-offsets/--topic") echo '@topics' ;;
    "reset-offsets/--regex") echo '@free' ;;
    "reset-offsets/--where-header") echo '@free' ;;
    "reset-offsets/--where-key") echo '@free' ;;
    "reset-offsets/--limit") echo '@free' ;;
    "reset-offsets/--isolation") echo 'read_uncommitted read_committed' ;;
    "reset-offsets/--delete-internal-topic") echo '@topics' ;;
    "reset-offsets/--captures") echo '@free' ;;
    "reset-offsets/--undo") echo '@files' ;;
    "reset-offsets/--resume") echo '@files' ;;
    "reset-offsets/--wait-empty") echo '@free' ;;
    "reset-offsets/--watch-after") echo '@free' ;;
    "reset-offsets/--undo-dir") echo '@free' ;;
    "reset-offsets/--plan") echo '@files' ;;
    "reset-offsets/--expect-cluster-id") echo '@free' ;;
    "reset-offsets/--unprotected") echo '@contexts' ;;
    "reset-offsets/--reason") echo '@free' ;;
    "copy-offsets/--from") echo '@groups' ;;
    "copy-offsets/--to") echo '@groups' ;;
    "copy-offsets/--map") echo '@free' ;;
    "copy-offsets/--map-file") echo '@files' ;;
    "copy-offsets/--topic") echo '@topics' ;;
    "copy-offsets/--to-bootstrap-server") echo '@free' ;;
    "copy-offsets/--to-command-config") echo '@files' ;;
    "copy-offsets/--to-context") echo '@contexts' ;;
    "copy-offsets/--topic-prefix") echo '@free' ;;
    "copy-offsets/--match") echo 'time records' ;;
    "copy-offsets/--limit") echo '@free' ;;
    "copy-offsets/--isolation") echo 'read_uncommitted read_committed' ;;
    "copy-offsets/--checkpoints") echo '@topics' ;;
    "copy-offsets/--undo-dir") echo '@free' ;;
    "copy-offsets/--plan") echo '@files' ;;
    "copy-offsets/--expect-cluster-id") echo '@free' ;;
    "copy-offsets/--unprotected") echo '@contexts' ;;
    "copy-offsets/--reason") echo '@free' ;;
    "delete-offsets/--regex") echo '@free' ;;
    "delete-offsets/--topic") echo '@topics' ;;
    "delete-offsets/--undo-dir") echo '@free' ;;
    "delete-offsets/--plan") echo '@files' ;;
    "delete-offsets/--expect-cluster-id") echo '@free' ;;
    "delete-offsets/--unprotected") echo '@contexts' ;;
    "delete-offsets/--reason") echo '@free' ;;
    "delete/--regex") echo '@free' ;;
    "delete/--state") echo 'Empty PreparingRebalance CompletingRebalance Stable Dead Assigning Reconciling NotReady' ;;
    "delete/--idle-for") echo '@free' ;;
    "delete/--delete-internal-topic") echo '@topics' ;;
    "delete/--plan") echo '@files' ;;
    "delete/--expect-cluster-id") echo '@free' ;;
    "delete/--unprotected") echo '@contexts' ;;
    "delete/--reason") echo '@free' ;;
    "delete-records/--before") echo '@free' ;;
    "delete-records/--plan") echo '@files' ;;
    "delete-records/--expect-cluster-id") echo '@free' ;;
    "delete-records/--unprotected") echo '@contexts' ;;
    "delete-records/--reason") echo '@free' ;;
    "remove-members/--member") echo '@free' ;;
    "remove-members/--instance") echo '@free' ;;
    "remove-members/--reason") echo '@free' ;;
    "remove-members/--plan") echo '@files' ;;
    "remove-members/--expect-cluster-id") echo '@free' ;;
    "remove-members/--unprotected") echo '@contexts' ;;
    "config/--set") echo 'consumer.assignment.interval.ms= consumer.heartbeat.interval.ms= consumer.session.timeout.ms= errors.deadletterqueue.copy.record.enable= errors.deadletterqueue.topic.name= share.assignment.interval.ms= share.auto.offset.reset= share.delivery.count.limit= share.heartbeat.interval.ms= share.isolation.level= share.partition.max.record.locks= share.record.lock.duration.ms= share.renew.acknowledge.enable= share.session.timeout.ms= streams.assignment.interval.ms= streams.assignor.name= streams.heartbeat.interval.ms= streams.initial.rebalance.delay.ms= streams.num.standby.replicas= streams.rack.aware.assignment.tags= streams.session.timeout.ms=' ;;
    "config/--unset") echo 'consumer.assignment.interval.ms consumer.heartbeat.interval.ms consumer.session.timeout.ms errors.deadletterqueue.copy.record.enable errors.deadletterqueue.topic.name share.assignment.interval.ms share.auto.offset.reset share.delivery.count.limit share.heartbeat.interval.ms share.isolation.level share.partition.max.record.locks share.record.lock.duration.ms share.renew.acknowledge.enable share.session.timeout.ms streams.assignment.interval.ms streams.assignor.name streams.heartbeat.interval.ms streams.initial.rebalance.delay.ms streams.num.standby.replicas streams.rack.aware.assignment.tags streams.session.timeout.ms' ;;
    "config/--undo") echo '@files' ;;
    "config/--undo-dir") echo '@free' ;;
    "config/--plan") echo '@files' ;;
    "config/--expect-cluster-id") echo '@free' ;;
    "config/--unprotected") echo '@contexts' ;;
    "config/--reason") echo '@free' ;;
    "apply/--drift") echo '@free' ;;
    "apply/--undo-dir") echo '@free' ;;
    "apply/--expect-cluster-id") echo '@free' ;;
    "apply/--unprotected") echo '@contexts' ;;
    "apply/--reason") echo '@free' ;;
    "lag report/--by") echo 'group topic partition member client host assignor' ;;
    "lag report/--assignor") echo '@free' ;;
    "lag report/--top") echo '@free' ;;
    "lag report/--sort") echo '@free' ;;
    "lag report/--sql") echo '@free' ;;
    "lag report/--fail-on") echo '@free' ;;
    "lag report/--uncommitted") echo 'start end' ;;
    "lag report/--isolation") echo 'read_uncommitted read_committed' ;;
    "lag report/--captures") echo '@free' ;;
    "lag report/--over") echo '@free' ;;
    "lag report/--since") echo '@free' ;;
    "lag report/--until") echo '@free' ;;
    "lag report/--compare") echo '@free' ;;
    "lag report/--html") echo '@files' ;;
    "lag report/--parquet") echo '@files' ;;
    "lag report/--engine") echo 'spark duckdb' ;;
    "lag report/--master") echo '@free' ;;
    "lag report/--remote") echo '@free' ;;
    "lag report/--conf") echo '@free' ;;
    "lag report/--fields") echo '@free' ;;
    "lag report/--textfile") echo '@files' ;;
    "lag report/--from") echo '@files' ;;
    "lag history/--by") echo 'group topic partition member client host assignor' ;;
    "lag history/--top") echo '@free' ;;
    "lag history/--sort") echo '@free' ;;
    "lag history/--sql") echo '@free' ;;
    "lag history/--over") echo '@free' ;;
    "lag history/--since") echo '@free' ;;
    "lag history/--until") echo '@free' ;;
    "lag history/--ends") echo '@free' ;;
    "lag history/--html") echo '@files' ;;
    "lag history/--parquet") echo '@files' ;;
    "lag history/--master") echo '@free' ;;
    "lag history/--remote") echo '@free' ;;
    "lag history/--conf") echo '@free' ;;
    "lag collect/--every") echo '@free' ;;
    "lag collect/--count") echo '@free' ;;
    "lag compact/--keep-raw") echo '@free' ;;
    "lag compact/--keep-hours") echo '@free' ;;
    "context add/--property") echo '@free' ;;
    "context add/--cluster-id") echo '@free' ;;
    "context add/--default-output") echo 'table json jsonl csv yaml' ;;
    "context add/--default-timeout") echo '@free' ;;
    "context add/--default-engine") echo 'spark duckdb' ;;
    "context import/--format") echo 'java kcl kaf kafkactl rpk' ;;
    "context import/--name") echo '@free' ;;
    "audit/--since") echo '@free' ;;
    "audit/--last") echo '@free' ;;
    "sandbox up/--brokers") echo '@free' ;;
    "sandbox up/--topic") echo '@free' ;;
    "sandbox up/--port") echo '@free' ;;
    "sandbox up/--host") echo '@free' ;;
    "sandbox up/--data-dir") echo '@free' ;;
    "sandbox up/--from") echo '@files' ;;
    "sandbox up/--as-version") echo '@free' ;;
    "sandbox up/--faults") echo '@files' ;;
    "sandbox up/--property") echo '@free' ;;
    "official/--validate-regex") echo '@free' ;;
    "official/--group") echo '@groups' ;;
    "official/--topic") echo '@topics' ;;
    "official/--state") echo 'Empty PreparingRebalance CompletingRebalance Stable Dead Assigning Reconciling NotReady' ;;
    "official/--type") echo 'classic consumer share streams' ;;
    "official/--to-offset") echo '@free' ;;
    "official/--shift-by") echo '@free' ;;
    "official/--by-duration") echo '@free' ;;
    "official/--to-datetime") echo '@free' ;;
    "official/--from-file") echo '@files' ;;
    "official/--timeout") echo '@free' ;;
    "official/--bootstrap-server") echo '@free' ;;
    "official/--command-config") echo '@files' ;;
    *) return 1 ;;
  esac
}
_kgroups_argument() { # path: where do its arguments come from?
  case "$1" in
    "list") echo '@free' ;;
    "describe") echo '@groups' ;;
    "top") echo '@free' ;;
    "history") echo '@groups' ;;
    "peek") echo '@groups' ;;
    "coordinator") echo '@groups' ;;
    "transactions list") echo '@groups' ;;
    "transactions abort") echo '@groups' ;;
    "snapshot save") echo '@files' ;;
    "snapshot show") echo '@files' ;;
    "check") echo '@groups' ;;
    "wait") echo '@groups' ;;
    "doctor") echo '@groups' ;;
    "plan") echo '@groups' ;;
    "simulate") echo '@free' ;;
    "reset-offsets") echo '@groups' ;;
    "delete-offsets") echo '@groups' ;;
    "delete") echo '@groups' ;;
    "delete-records") echo '@topics' ;;
    "remove-members") echo '@groups' ;;
    "config") echo '@groups' ;;
    "apply") echo '@free' ;;
    "lag report") echo '@groups' ;;
    "lag history") echo '@groups' ;;
    "lag collect") echo '@free' ;;
    "lag compact") echo '@free' ;;
    "context show") echo '@contexts' ;;
    "context use") echo '@contexts' ;;
    "context add") echo '@contexts' ;;
    "context remove") echo '@contexts' ;;
    "context import") echo '@files' ;;
    "official") echo '@free' ;;
    "schema") echo '@free' ;;
    "explain") echo '0 1 129 130 143 2 3 4 5 6 7 70 74 ACKNOWLEDGEMENTS_LOST ACKNOWLEDGING ASSIGNMENT_USER_DATA ASSIGNOR ASSIGNOR_CONFLICT ASSIGNOR_FAILED ASSUMED AS_OF Assigning AwaitingSync BEYOND_END BROKEN_CAPTURE BROKEN_TABLE BROKER_NOT_AVAILABLE BUG CAPTURES_CHANGED CAPTURES_LOCKED CAPTURES_NOT_SEEN CHANGED_AGAIN CHECKPOINTS_READ CHECK_FAILED CHECK_UNDETERMINED CLIENT_CHOSEN CLIENT_LIBRARY CLIENT_TOO_OLD CLUSTER CLUSTER_AUTHORIZATION_FAILED CLUSTER_MISMATCH COLUMNS_LEFT_OUT COMMAND_FAILED COMMIT_BACKWARDS COMMIT_TIMES_UNKNOWN COMMIT_UNKNOWN COMPACTED CONCURRENT_TRANSACTIONS CONTEXT_ADDED CONTEXT_REMOVED CONTROLLER_ID_NOT_REGISTERED COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE COORDINATOR_UNSTABLE CORRUPT_MESSAGE CORRUPT_RECORD COST_OF_STAYING CURRENT_CONTEXT CompletingRebalance ConsumerGroupHeartbeat DATA_LOST DEADLINE_PASSED DECLINED DECODER_FAILED DELIVERIES_UNKNOWN DEPLOY_FAILED DOUBLED_TOPIC DRAWN_IDS DUCKDB_FAILED Dead DeleteGroups EMPTY_SUBSCRIPTION Empty FAILED FALLING_BEHIND FATAL FENCED FENCED_INSTANCE_ID FENCED_LEADER_EPOCH FENCED_MEMBER_EPOCH FOREIGN_PARTITION FindCoordinator GROUPS_LEFT_OUT GROUP_AUTHORIZATION_FAILED GROUP_DELETION_FAILED GROUP_ID_NOT_FOUND GROUP_MAX_SIZE GROUP_NEAR_LIMIT GROUP_SUBSCRIBED_TO_TOPIC HANGING_TRANSACTION HANGING_TRANSACTIONS HELD_BY_TRANSACTION HISTORY_COMPACTED HOT_PARTITION IDLE_MEMBERS ILLEGAL_GENERATION ILLEGAL_SASL_STATE INCONSISTENT_GROUP_PROTOCOL INCONSISTENT_TOPIC_ID INSTANCE_ID_CONFLICT INTERNAL_TOPICS INTERRUPTED INVALID_CONFIG INVALID_GROUP_ID INVALID_GROUP_TYPE INVALID_REQUEST INVALID_TOPIC_EXCEPTION JAVA_MISSING JAVA_TOO_OLD JOINING JoinGroup KAFKA_STORAGE_ERROR KEEPS_RUNNING LEADER_FAILS LEADER_NOT_AVAILABLE LEADER_UNKNOWN LEAVING LEFT_AS_IS LIMIT_REACHED LINES_LEFT_OUT LISTENER_NOT_FOUND LOCKS_EXHAUSTED LOCKS_UNKNOWN LOG_READ LOG_UNMATCHED LOG_UNREAD LeaveGroup MEASURED MEMBERS_LEFT MIGRATION_POLICY MISSING_EXTRA MIXED_APPLICATIONS MIXED_FAILURES NETWORK_EXCEPTION NEW_PARTITIONS_SKIPPED NON_EMPTY_GROUP NOTHING_DONE NOTHING_HAPPENED NOTHING_STUCK NOTHING_TO_DO NOT_BY_PARTITION NOT_COORDINATOR NOT_EXAMINED NOT_FOUND NOT_KAFKA NOT_LEADER_OR_FOLLOWER NOT_SETTLED NOT_USED NOT_VERIFIED NOT_WRITTEN NO_CAPTURES NO_CHECKPOINT NO_COMMITTED_OFFSET NO_COMMIT_THEN NO_CONSUMER NO_CONTEXTS NO_DEAD_LETTERS NO_DELIVERIES NO_FINDINGS NO_GROUP_MATCHES NO_MEMBERS NO_PLAN_SAVED NO_RECORD NO_SAME_RECORD NO_SUCH_GROUP NO_TASKS NO_TRANSACTIONS NO_VALUE NotReady OFFSETS_EXPIRING OFFSETS_PENDING OFFSET_MOVED OFFSET_NOT_AVAILABLE OFFSET_OUT_OF_RANGE OF_A_PLAN ORPHAN_CONFIG OTHER_CLUSTER OffsetCommit OffsetDelete OffsetFetch PARTITIONS_UNAVAILABLE PHANTOM_LAG PHANTOM_PARTITION PING_WARNING PLAN_FAILED PLAN_SAVED POLICY_VIOLATION PREPARE_LEAVING PROGRESS PROMISE_BROKEN PROTECTED_CONTEXT PreparingRebalance REACHABLE_AGAIN READERS_UNKNOWN READ_ONLY REBALANCE_IN_PROGRESS REBALANCE_STORM REBALANCE_STUCK REBALANCING RECORDS_ARCHIVED RECORDS_LEFT_OUT RECORDS_UNREAD REFUSED REGULAR_EXPRESSION REPLICA_NOT_AVAILABLE REQUEST_TIMED_OUT RESPONSE_TOO_LARGE RESUMABLE RETENTION_UNKNOWN RETRYING REWIND ROLLED_UP Reconciling RoundRobinAssigner SASL_AUTHENTICATION_FAILED SETTING_CHANGED SLOW_REVOCATION SNAPSHOT_READ SNAPSHOT_SAVED SOURCE_MOVED SPARK_FAILED SSL_HANDSHAKE_FAILED STALE STALE_COMMITS STALE_MEMBER_EPOCH STALL STALLED_PARTITION STOP STOPPED STORE_FAILED STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED SUBSCRIPTION_USER_DATA ShareGroupHeartbeat Stable StreamsGroupHeartbeat SyncGroup THROTTLED TICKET_NOT_AVAILABLE TOKEN_NOT_AVAILABLE TOO_FEW_RECORDS TOPIC_AUTHORIZATION_FAILED TOPIC_IDS_UNKNOWN TOPIC_KEPT TOPOLOGY_UNKNOWN TRANSACTIONAL_ID_AUTHORIZATION_FAILED TRANSACTIONS_UNTOLD TRANSACTION_MAY_END TRANSACTION_NOT_FOUND TRIALS_WITHOUT_VALUE UNCOMMITTED_PARTITIONS UNDOES UNDO_FILE UNJOINED UNKNOWN_ASSIGNOR UNKNOWN_HOST UNKNOWN_LEADER_EPOCH UNKNOWN_MEMBER_ID UNKNOWN_SERVER_ERROR UNKNOWN_TOPIC_ID UNKNOWN_TOPIC_OR_PARTITION UNPRINTED UNRELEASED_PARTITIONS UNREVOKED_PARTITIONS UNSTABLE_OFFSET_COMMIT UNSUBSCRIBED UNSUBSCRIBED_OWNER UNSUPPORTED_GROUP_TYPE UNSUPPORTED_PROTOCOL UNSUPPORTED_SASL_MECHANISM UNSUPPORTED_VERSION USAGE VALUES_FORBIDDEN VALUES_HIDDEN VALUE_SAVED WAITING_FOR_MEMBERS WARN WITHOUT_EFFECT allow.auto.create.topics at_head at_least at_the_latest auto.commit.interval.ms auto.offset.reset below_log_start between_captures beyond_log_end bisected broadcast classic client.id client.rack commits_stopped committed-offset compaction connections.max.idle.ms consumer consumer.id cooperative cooperative-sticky coordinator counts created default.api.timeout.ms deploy done draining dynamic-member eager enable.auto.commit epoch exact exclude.internal.topics expires fetch.max.bytes fetch.max.wait.ms fetch.min.bytes follower generation group-epoch group.id group.instance.id group.protocol group.remote.assignor growing heartbeat heartbeat.interval.ms held high high-watermark in_use instance-id internal.leave.group.on.close interpolated isolation.level lag lag-sticky lag_never_falls lag_unknown last-stable-offset leader leaderless likely log-start lost low max.partition.fetch.bytes max.poll.interval.ms max.poll.records member-epoch member-id member_closed member_joined member_left member_rejoined member_returned metadata.max.age.ms metadata.recovery.strategy no_commit no_lag nobody_reads offset_stands_still offset_went_back ok outcomes partition.assignment.strategy planned poll_timeout progresses protocol_changed random range rebalance rebalance.backoff.ms rebalance.max.retries rebalance.timeout.ms rebalance_timeout reconnect.backoff.max.ms reconnect.backoff.ms record removed_by_admin request.timeout.ms restart retry.backoff.max.ms retry.backoff.ms revoked roundrobin second_round session session.timeout.ms session_timeout share simple skipped socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms stalled static-member static_return steady sticky streams subscription subscription_changed target-assignment target-epoch tombstone too_few_captures topic_missing topics_changed unfinished uniform unknown warning was_at_head zookeeper zookeeper.connect zookeeper.session.timeout.ms zookeeper.sync.time.ms' ;;
    "completion") echo 'bash zsh fish' ;;
    *) return 1 ;;
  esac
}
_kgroups_words() { # path: what can be typed there
  local common="--context -c --bootstrap-server -b --command-config --client --output -o --timeout --query --quiet -q --no-input --csv-safe --no-color --debug --verbose"
  case "$1" in
    "") echo "list describe top history peek coordinator transactions snapshot check wait doctor plan simulate reset-offsets copy-offsets delete-offsets delete delete-records remove-members config apply lag context ping audit sandbox demo official schema explain completion --version --help-all --help $common" ;;
    "list") echo "--state --type --topic --regex --sort --top --where --lag --lag-time --record-times --over --expiry --idle-for --watch --fields --textfile --from --help-all --help $common" ;;
    "describe") echo "--all-groups --regex --topic --offsets --members --tasks --deliveries --state --sort --top --uncommitted --isolation --where --lag-time --record-times --over --expiry --at --captures --watch --fields --textfile --from --help-all --help $common" ;;
    "top") echo "--every --once --help-all --help $common" ;;
    "history") echo "--since --log --captures --html --help-all --help $common" ;;
    "peek") echo "--topic --stuck --over --around --show-values --value-as --value-bytes --raw --isolation --limit --max-bytes --help-all --help $common" ;;
    "coordinator") echo "--partitions --help-all --help $common" ;;
    "transactions") echo "list abort --help-all --help $common" ;;
    "transactions list") echo "--topic --help-all --help $common" ;;
    "transactions abort") echo "--topic --producer-id --transactional-id --force --dry-run --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "snapshot") echo "save show --help-all --help $common" ;;
    "snapshot save") echo "--help-all --help $common" ;;
    "snapshot show") echo "--help-all --help $common" ;;
    "check") echo "--all-groups --regex --fail-on --warn-on --allow-unknown --for --uncommitted --isolation --lag-time --record-times --over --fields --textfile --from --help-all --help $common" ;;
    "wait") echo "--until --stable --deadline --uncommitted --isolation --record-times --help-all --help $common" ;;
    "doctor") echo "--all-groups --regex --over --since --log --captures --fail-on-level --from --help-all --help $common" ;;
    "plan") echo "--all-groups --assignor --as --leader-from-log --faithful --remove-member --drop-host --set-partitions --add-topic --add-members --subscribe --pattern --restart --expire --rolling-restart --switch-client --to-protocol --metrics --members --moves --rounds --outcomes --steps --blockers --explain --fail-on --check-assignor --report --by --top --master --remote --conf --html --from --help-all --help $common" ;;
    "simulate") echo "--from-group --from --over --captures --properties --event --seed --until --timeline --rebalances --deploys --scalings --members --partitions --requests --spread --vary --repeat --jobs --master --conf --fail-on --search --minimise --trials --html --help-all --help $common" ;;
    "reset-offsets") echo "--to --topic --all-groups --regex --all-topics --only-lagging --clamp --where-header --where-key --limit --isolation --delete-internal-topic --delete-all-internal-topics --captures --undo --resume --overwrite-moved --wait-empty --watch-after --undo-dir --no-undo --keep-going --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "copy-offsets") echo "--from --to --map --map-file --topic --to-bootstrap-server --to-command-config --to-context --topic-prefix --match --limit --isolation --checkpoints --verify --undo-dir --no-undo --keep-going --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "delete-offsets") echo "--regex --topic --all-topics --undo-dir --no-undo --keep-going --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "delete") echo "--all-groups --regex --state --idle-for --delete-internal-topic --delete-all-internal-topics --keep-going --dry-run --plan --yes -y --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "delete-records") echo "--before --keep-going --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "remove-members") echo "--member --instance --all --reason --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --help-all --help $common" ;;
    "config") echo "--set --unset --undo --all --undo-dir --no-undo --dry-run --plan --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "apply") echo "--drift --undo-dir --no-undo --keep-going --dry-run --yes -y --execute --expect-cluster-id --unprotected --reason --help-all --help $common" ;;
    "lag") echo "report history collect compact --help-all --help $common" ;;
    "lag report") echo "--by --assignor --top --sort --sql --fail-on --uncommitted --isolation --captures --over --since --until --compare --strict --record-times --html --parquet --engine --master --remote --conf --fields --textfile --from --help-all --help $common" ;;
    "lag history") echo "--by --top --sort --sql --over --since --until --ends --record-times --html --parquet --master --remote --conf --help-all --help $common" ;;
    "lag collect") echo "--every --count --help-all --help $common" ;;
    "lag compact") echo "--today --keep-raw --keep-hours --help-all --help $common" ;;
    "context") echo "list show use add remove current import --help-all --help $common" ;;
    "context list") echo "--help-all --help $common" ;;
    "context show") echo "--help-all --help $common" ;;
    "context use") echo "--none --help-all --help $common" ;;
    "context add") echo "--property --cluster-id --pin --protected --default-output --default-timeout --default-engine --never-values --use --help-all --help $common" ;;
    "context remove") echo "--help-all --help $common" ;;
    "context current") echo "--short --help-all --help $common" ;;
    "context import") echo "--format --name --pin --help-all --help $common" ;;
    "ping") echo "--help-all --help $common" ;;
    "audit") echo "--since --last --help-all --help $common" ;;
    "sandbox") echo "up --help-all --help $common" ;;
    "sandbox up") echo "--brokers --topic --port --host --data-dir --from --as-version --faults --auto-create-topics --property --help-all --help $common" ;;
    "demo") echo "--spark --keep --help-all --help $common" ;;
    "official") echo "--list --describe --delete --delete-offsets --reset-offsets --validate-regex --group --all-groups --topic --all-topics --offsets --members --state --type --verbose --to-earliest --to-latest --to-current --to-offset --shift-by --by-duration --to-datetime --from-file --dry-run --execute --export --timeout --bootstrap-server --command-config --version --help $common" ;;
    "schema") echo "--help-all --help $common" ;;
    "explain") echo "--help-all --help $common" ;;
    "completion") echo "--help-all --help $common" ;;
  esac
}
_kgroups() {
  local line="${COMP_LINE:0:COMP_POINT}" path="" value="" typed="" source="" cut name word
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] || {
    typed="${words[-1]}"
    unset 'words[-1]'
  }
  for word in "${words[@]:1}"; do
    if [[ -n $value ]]; then
      value=""
    elif [[ $word == -* ]]; then
      if value="$(_kgroups_value "$path" "$word")"; then :; else value=""; fi
    elif _kgroups_step "$path" "$word"; then
      path="${path:+$path }$word"
    fi
  done
  if [[ -z $value && $typed == --*=* ]]; then
    value="$(_kgroups_value "$path" "${typed%%=*}")" || return
    typed="${typed#*=}"
  fi
  if [[ -n $value ]]; then
    source="$value"
  elif [[ $typed == -* ]]; then
    source="$(_kgroups_words "$path")"
  else
    source="$(_kgroups_argument "$path")" && [[ $source != @free ]] ||
      source="$(_kgroups_words "$path")"
  fi
  COMPREPLY=()
  cut="${typed%"${typed##*[:=]}"}" # bash takes : and = for the end of a word
  case "$source" in
    @free) ;;
    @files)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$typed")
      ;;
    @*)
      while IFS= read -r name; do
        printf -v name '%q' "$name"
        COMPREPLY+=("${name#"$cut"}")
      done < <("${COMP_WORDS[0]}" complete-names "${source#@}" "$line" 2> /dev/null)
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$source" -- "$typed") ;;
  esac
}
complete -F _kgroups kgroups
