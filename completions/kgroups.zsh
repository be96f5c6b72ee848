#compdef kgroups
# kgroups completion for zsh; `kgroups completion zsh` wrote it.
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
_kgroups_words() { # path: fills `commands` and `options` with what can be typed there
  options=(
    '--context:Named cluster from the configuration file.'
    '-c:Named cluster from the configuration file.'
    '--bootstrap-server:Broker address; several separated by commas.'
    '-b:Broker address; several separated by commas.'
    '--command-config:Client properties, Java or librdkafka spelling.'
    '--client:auto (default), or librdkafka for everything.'
    '--output:table, json, jsonl, csv, yaml, plain.'
    '-o:table, json, jsonl, csv, yaml, plain.'
    '--timeout:Overall timeout\: 500ms, 10s (default), 2m.'
    '--query:JMESPath on the JSON document.'
    '--quiet:Suppress notes and progress.'
    '-q:Suppress notes and progress.'
    '--no-input:Never prompt; writes require --yes.'
    '--csv-safe:Mark CSV text that looks like a formula.'
    '--no-color:No color on a terminal (also\: NO_COLOR).'
    '--debug:Show each request to a broker, on stderr.'
    '--verbose:Show more columns, and tracebacks of bugs.'
  )
  case "$1" in
    "")
      commands=(
        'list:List consumer groups.'
        'describe:Describe groups\: committed offsets, lag, members, state.'
        'top:Show groups live\: state, members, lag, rates, rebalances.'
        'history:Show what happened to groups, and why.'
        'peek:Show the records that a group reads next.'
        'coordinator:Show which broker coordinates a group, and why.'
        'transactions:Show open transactions that hold a group back, or abort one.'
        'snapshot:Save a cluster'\''s groups to a file, or show one.'
        'check:Fail if a condition holds for a group.'
        'wait:Wait until a condition holds for groups.'
        'doctor:Find out what is wrong with groups, and what to do.'
        'plan:Predict the next rebalance of a group.'
        'simulate:Simulate rebalances in virtual time.'
        'reset-offsets:Reset committed offsets, or undo a reset.'
        'copy-offsets:Copy committed offsets to another group or cluster.'
        'delete-offsets:Delete committed offsets.'
        'delete:Delete groups and their committed offsets.'
        'delete-records:Delete the oldest records of topics.'
        'remove-members:Remove members from a group.'
        'config:Show or change the configurations of a group.'
        'apply:Apply a saved plan\: exactly what was reviewed, or nothing.'
        'lag:Report lag across a cluster and over time, with Spark.'
        'context:Manage named clusters.'
        'ping:Test the connection to a cluster, step by step.'
        'audit:Show what was written to clusters from here.'
        'sandbox:Run an embedded Kafka cluster.'
        'demo:Tour kgroups on an embedded cluster with live clients.'
        'official:Run with the options of kafka-consumer-groups.sh.'
        'schema:Print the JSON Schema of a command'\''s document.'
        'explain:Explain a state, an error code or another word.'
        'completion:Print a shell completion script.'
      )
      options+=(
        '--version:Show the version.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "list")
      options+=(
        '--state:Only groups in these states.'
        '--type:Only groups of these types.'
        '--topic:Only groups that read one of these topics.'
        '--regex:Only groups whose whole name matches (RE2).'
        '--sort:Sort by this (figures\: highest first), then by name.'
        '--top:Show only the first N groups.'
        '--where:Only groups that meet this\: '\''lag > 1k'\''.'
        '--lag:Show lag, largest lag, lost records and members.'
        '--lag-time:Lag in seconds, from offsets by timestamp.'
        '--record-times:Lag in seconds, from the next record'\''s time.'
        '--over:Measure rates over this time\: 10s.'
        '--expiry:Show when commits expire.'
        '--idle-for:Only groups idle for this long\: 30d.'
        '--watch:Refresh at this interval\: 2 (seconds), 500ms.'
        '--fields:Show only these columns\: group,lag.'
        '--textfile:Write -o openmetrics to this file.'
        '--from:Read a snapshot instead of a cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "describe")
      options+=(
        '--all-groups:Every group of the cluster.'
        '--regex:Groups whose whole name matches (RE2).'
        '--topic:Groups that read TOPIC, and only this topic.'
        '--offsets:Show partitions (default).'
        '--members:Show members.'
        '--tasks:Show tasks of streams groups.'
        '--deliveries:Show deliveries of share groups.'
        '--state:Show the groups'\'' state.'
        '--sort:Sort by name, or by lag, highest first.'
        '--top:Show only the N rows with the highest lag.'
        '--uncommitted:Assume this position where nothing is committed.'
        '--isolation:read_committed\: lag to the last stable offset.'
        '--where:Only groups that meet this\: '\''lag > 1k'\''.'
        '--lag-time:Lag in seconds, from offsets by timestamp.'
        '--record-times:Lag in seconds, from the next record'\''s time.'
        '--over:Measure rates over this time\: 10s.'
        '--expiry:Show when commits expire.'
        '--at:What was committed then\: 2h, 03\:00.'
        '--captures:Read captures of `lag collect` too\: a folder or URI.'
        '--watch:Refresh at this interval\: 2 (seconds), 500ms.'
        '--fields:Show only these columns\: group,lag.'
        '--textfile:Write -o openmetrics to this file.'
        '--from:Read a snapshot instead of a cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "top")
      options+=(
        '--every:Time between two looks.'
        '--once:Print one frame and end.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "history")
      options+=(
        '--since:How far back\: 24h (default), 7d.'
        '--log:Read a broker'\''s log too; - for stdin.'
        '--captures:Read captures of `lag collect` too\: a folder or URI.'
        '--html:Also write an HTML page with charts.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "peek")
      options+=(
        '--topic:Topic, or partitions\: orders\:0,3-5.'
        '--stuck:Only partitions whose commit stands still.'
        '--over:How long --stuck watches.'
        '--around:Records on each side, too.'
        '--show-values:Show values, too.'
        '--value-as:text, json, hex or a decoder.'
        '--value-bytes:Most of a value as text or hex.'
        '--raw:Write the one value to a file.'
        '--isolation:Whose view of transactions.'
        '--limit:Read at most so many records.'
        '--max-bytes:Fetch at most about so many bytes.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "coordinator")
      options+=(
        '--partitions:Partitions of __consumer_offsets; contacts no cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "transactions")
      commands=(
        'list:List the open transactions of a group'\''s partitions, or of...'
        'abort:Abort one open transaction.'
      )
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "transactions list")
      options+=(
        '--topic:A topic, or partitions\: orders\:0,3-5.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "transactions abort")
      options+=(
        '--topic:A topic, or partitions\: orders\:0,3-5.'
        '--producer-id:The one of this producer.'
        '--transactional-id:The one of this id.'
        '--force:Abort it although it may end by itself.'
        '--dry-run:Show the plan and write nothing.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "snapshot")
      commands=(
        'save:Save the cluster'\''s groups to a file.'
        'show:Show a snapshot file.'
      )
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "snapshot save")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "snapshot show")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "check")
      options+=(
        '--all-groups:Every group of the cluster.'
        '--regex:Groups whose whole name matches (RE2).'
        '--fail-on:Fail if this holds\: '\''lag > 10k'\''.'
        '--warn-on:Warn if this holds, and exit with 0.'
        '--allow-unknown:Treat an unknown condition as false.'
        '--for:Fail only if it holds for this long\: 2m.'
        '--uncommitted:Assume this position where nothing is committed.'
        '--isolation:read_committed\: lag to the last stable offset.'
        '--lag-time:Lag in seconds, from offsets by timestamp.'
        '--record-times:Lag in seconds, from the next record'\''s time.'
        '--over:Measure rates over this time\: 10s.'
        '--fields:List the fields that conditions can use.'
        '--textfile:Write -o openmetrics to this file.'
        '--from:Read a snapshot instead of a cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "wait")
      options+=(
        '--until:Condition to wait for\: empty, '\''lag < 1k'\''.'
        '--stable:Hold this long without a rebalance\: 30s.'
        '--deadline:How long to wait.'
        '--uncommitted:Assume this position where nothing is committed.'
        '--isolation:read_committed\: lag to the last stable offset.'
        '--record-times:Lag in seconds, from the next record'\''s time.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "doctor")
      options+=(
        '--all-groups:Every group of the cluster.'
        '--regex:Groups whose whole name matches (RE2).'
        '--over:Measure rates over this time\: 10s.'
        '--since:History to read\: 24h (default), 7d.'
        '--log:Read a broker'\''s log too; - for stdin.'
        '--captures:Read captures of `lag collect` too\: a folder or URI.'
        '--fail-on-level:Exit with 6 from this level on.'
        '--from:Read a snapshot instead of a cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "plan")
      options+=(
        '--all-groups:Every group of the cluster.'
        '--assignor:Plan with these assignors.'
        '--as:Client library of the group'\''s leader.'
        '--leader-from-log:Read who leads from __consumer_offsets.'
        '--faithful:Reproduce faults of Java'\''s assignors.'
        '--remove-member:Remove members.'
        '--drop-host:Remove all members on hosts.'
        '--set-partitions:Add partitions to topics.'
        '--add-topic:Create topics.'
        '--add-members:Add members.'
        '--subscribe:Change the subscribed topics.'
        '--pattern:Subscribe by a pattern.'
        '--restart:Restart members.'
        '--expire:Let the sessions of members expire.'
        '--rolling-restart:Restart members one by one.'
        '--switch-client:Move to another client library.'
        '--to-protocol:Move to another protocol.'
        '--metrics:Show balance metrics.'
        '--members:Show each member'\''s assignment.'
        '--moves:Show partitions that change owner.'
        '--rounds:Show what is revoked and assigned in each round.'
        '--outcomes:Show every possible outcome.'
        '--steps:Show each step of a deploy.'
        '--blockers:Show what blocks a move to another protocol.'
        '--explain:Explain why this partition goes where it goes.'
        '--fail-on:Exit with 6 if this holds\: '\''moved > 10%'\''.'
        '--check-assignor:Test an assignor on generated groups.'
        '--report:Plan the fleet with Spark.'
        '--by:Group rows by this.'
        '--top:Show only the first N rows.'
        '--master:Spark master.'
        '--remote:Spark Connect server.'
        '--conf:A setting of Spark; repeatable.'
        '--html:Also write an HTML page with charts.'
        '--from:Read a snapshot or a scenario instead.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "simulate")
      options+=(
        '--from-group:Simulate a group as it is now.'
        '--from:Read the group from a snapshot.'
        '--over:Measure the group'\''s load for this long\: 30s.'
        '--captures:Measure the load in captures, over --over (24h).'
        '--properties:Properties of all members.'
        '--event:Add an event.'
        '--seed:Random seed. [default\: 1]'
        '--until:Length of the run. [default\: until settled]'
        '--timeline:Print the protocol step by step.'
        '--rebalances:Show each rebalance and its cause.'
        '--deploys:Show figures of deploys.'
        '--scalings:Show what autoscalers did.'
        '--members:Show figures of members.'
        '--partitions:Show figures of partitions.'
        '--requests:Show requests and errors by kind.'
        '--spread:Show percentiles and intervals of all runs.'
        '--vary:Compare these values.'
        '--repeat:Number of seeds to run.'
        '--jobs:Number of processes. [default\: cores]'
        '--master:Run on a Spark cluster.'
        '--conf:A setting of Spark; repeatable.'
        '--fail-on:Exit with 6 if this holds.'
        '--search:Search these values.'
        '--minimise:Expression to minimise.'
        '--trials:Number of settings to try.'
        '--html:Also write an HTML page with charts.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "reset-offsets")
      options+=(
        '--to:Where to\: earliest, 2h, +100.'
        '--topic:Topic, or partitions\: orders\:0,3-5.'
        '--all-groups:Every group that committed offsets.'
        '--regex:Groups whose whole name matches (RE2).'
        '--all-topics:Every partition that the group committed.'
        '--only-lagging:Only partitions with lag.'
        '--clamp:Move an offset outside the log to its edge.'
        '--where-header:With --to first\: by a header.'
        '--where-key:With --to first\: by its key.'
        '--limit:Records to look at (1m), or a time\: 30s.'
        '--isolation:View of transactions (read_committed).'
        '--delete-internal-topic:Then delete this internal topic; repeatable.'
        '--delete-all-internal-topics:Then delete all internal topics.'
        '--captures:Read captures of `lag collect` too\: a folder or URI.'
        '--undo:Restore the offsets in FILE; `last`\: the newest.'
        '--resume:Finish the reset recorded in FILE.'
        '--overwrite-moved:With --undo or --resume\: replace newer commits too.'
        '--wait-empty:First wait this long for members to leave\: 5m.'
        '--watch-after:Then watch for other commits\: 30s.'
        '--undo-dir:Folder of the undo file (~/.local/state/kgroups).'
        '--no-undo:Write no undo file.'
        '--keep-going:Continue if some cannot be changed.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "copy-offsets")
      options+=(
        '--from:Source group, or glob.'
        '--to:Target group; * as in --from.'
        '--map:Source and target; repeatable.'
        '--map-file:CSV file, each line `old,new`.'
        '--topic:Topic, or partitions\: orders\:0,3-5.'
        '--to-bootstrap-server:Target cluster.'
        '--to-command-config:Client properties of the target cluster.'
        '--to-context:Target cluster, by its context.'
        '--topic-prefix:Put before topic names in the target\: east.'
        '--match:To another cluster by time or records (time).'
        '--limit:Records to look at (1m), or a time\: 30s.'
        '--isolation:View of transactions (read_committed).'
        '--checkpoints:MirrorMaker 2'\''s topic of checkpoints.'
        '--verify:Check both groups again afterwards.'
        '--undo-dir:Folder of the undo file (~/.local/state/kgroups).'
        '--no-undo:Write no undo file.'
        '--keep-going:Continue if some cannot be changed.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "delete-offsets")
      options+=(
        '--regex:Groups whose whole name matches (RE2).'
        '--topic:Topic, or partitions\: orders\:0,3-5.'
        '--all-topics:Every partition that the group committed.'
        '--undo-dir:Folder of the undo file (~/.local/state/kgroups).'
        '--no-undo:Write no undo file.'
        '--keep-going:Continue if some cannot be changed.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "delete")
      options+=(
        '--all-groups:Every group of the cluster.'
        '--regex:Groups whose whole name matches (RE2).'
        '--state:Every group in one of these states.'
        '--idle-for:Only groups idle for this long\: 30d.'
        '--delete-internal-topic:Then delete this internal topic; repeatable.'
        '--delete-all-internal-topics:Then delete all internal topics.'
        '--keep-going:Continue if some cannot be deleted.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "delete-records")
      options+=(
        '--before:What to keep, see above.'
        '--keep-going:Continue if some cannot be changed.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "remove-members")
      options+=(
        '--member:Member id, or the beginning of one.'
        '--instance:Instance id of a static member.'
        '--all:Every member of the group.'
        '--reason:For the logs of broker and audit.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "config")
      options+=(
        '--set:Set a configuration on the group.'
        '--unset:Remove what the group itself has.'
        '--undo:Restore the values in FILE; `last`\: the newest.'
        '--all:Show configurations of other types of groups too.'
        '--undo-dir:Folder of the undo file (~/.local/state/kgroups).'
        '--no-undo:Write no undo file.'
        '--dry-run:Show the plan and write nothing.'
        '--plan:With --dry-run\: save the plan for `kgroups apply`.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "apply")
      options+=(
        '--drift:If something changed since\: refuse, accept, skip.'
        '--undo-dir:Folder of the undo file (~/.local/state/kgroups).'
        '--no-undo:Write no undo file.'
        '--keep-going:Continue if some cannot be changed.'
        '--dry-run:Show the plan and write nothing.'
        '--yes:Do not ask for confirmation.'
        '-y:Do not ask for confirmation.'
        '--execute:Do not ask for confirmation.'
        '--expect-cluster-id:Refuse to write to any other cluster.'
        '--unprotected:Write although this context is protected.'
        '--reason:Why, for the audit log (`kgroups audit`).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "lag")
      commands=(
        'report:Report lag by group, topic or member.'
        'history:Report lag from commits in __consumer_offsets.'
        'collect:Append a capture of all groups to a folder.'
        'compact:Merge the small files of past days.'
      )
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "lag report")
      options+=(
        '--by:Group rows by this.'
        '--assignor:Also plan with these assignors.'
        '--top:Show only the first N rows.'
        '--sort:Sort by this column, highest first.'
        '--sql:Show only rows for which this is true.'
        '--fail-on:Exit with 6 if a row meets this.'
        '--uncommitted:Assume this position where nothing is committed.'
        '--isolation:read_committed\: lag to the last stable offset.'
        '--captures:Report on captures of `lag collect`, in a folder or at a URI.'
        '--over:Length of the window\: 24h (default), 7d.'
        '--since:Start of the window.'
        '--until:End of the window (default\: now).'
        '--compare:Also report the window this long before\: 7d.'
        '--strict:Fail if a capture cannot be read.'
        '--record-times:Fetch the next record of each lagging partition.'
        '--html:Also write an HTML page with charts.'
        '--parquet:Also write the rows as Parquet, to a file or URI.'
        '--engine:Who computes a report on captures (default\: spark).'
        '--master:Spark master.'
        '--remote:Spark Connect server.'
        '--conf:A setting of Spark; repeatable.'
        '--fields:Show only these columns\: group,lag.'
        '--textfile:Write -o openmetrics to this file.'
        '--from:Read a snapshot instead of a cluster.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "lag history")
      options+=(
        '--by:Group rows by this.'
        '--top:Show only the first N rows.'
        '--sort:Sort by this column, highest first.'
        '--sql:Show only rows for which this is true.'
        '--over:Length of the window\: 24h (default), 7d.'
        '--since:Start of the window.'
        '--until:End of the window (default\: now).'
        '--ends:Number of points at which log ends are read.'
        '--record-times:Fetch the next record of each lagging partition.'
        '--html:Also write an HTML page with charts.'
        '--parquet:Also write the rows as Parquet, to a file or URI.'
        '--master:Spark master.'
        '--remote:Spark Connect server.'
        '--conf:A setting of Spark; repeatable.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "lag collect")
      options+=(
        '--every:Repeat at this interval until stopped\: 60s.'
        '--count:Number of captures, with --every.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "lag compact")
      options+=(
        '--today:Include today.'
        '--keep-raw:Roll up captures that are older\: 14d.'
        '--keep-hours:Keep hourly roll-ups this long\: 90d (default).'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context")
      commands=(
        'list:List the contexts.'
        'show:Show a context, without its secrets.'
        'use:Choose the current context.'
        'add:Add a context.'
        'remove:Remove contexts.'
        'current:Show which context is in use.'
        'import:Import contexts from another client'\''s configuration.'
      )
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context list")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context show")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context use")
      options+=(
        '--none:Unset the current context.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context add")
      options+=(
        '--property:Client property; repeatable.'
        '--cluster-id:The only cluster that may be changed.'
        '--pin:Ask the cluster for that id.'
        '--protected:Refuse writes unless --unprotected names it.'
        '--default-output:Default --output.'
        '--default-timeout:Default --timeout.'
        '--default-engine:Default --engine of `lag report`.'
        '--never-values:Forbid `peek --show-values`.'
        '--use:Make it the current context.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context remove")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context current")
      options+=(
        '--short:Only the name, for a prompt.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "context import")
      options+=(
        '--format:Format, if it cannot be inferred.'
        '--name:Name of the only context.'
        '--pin:Ask each cluster for its id.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "ping")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "audit")
      options+=(
        '--since:Only writes since then\: 7d, 2026-11-21T06\:00Z.'
        '--last:Only the last N writes.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "sandbox")
      commands=(
        'up:Run an embedded Kafka cluster until Ctrl-C.'
      )
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "sandbox up")
      options+=(
        '--brokers:Number of brokers.'
        '--topic:Create a topic with N partitions.'
        '--port:Port of the first broker, others follow; 0\: any.'
        '--host:Address to listen on.'
        '--data-dir:Persist topics, records and offsets here.'
        '--from:Start with a snapshot'\''s topics and groups.'
        '--as-version:Act as this Kafka, 2.4 to 4.4 (default\: 4.4).'
        '--faults:Inject faults by these rules.'
        '--auto-create-topics:Create topics that clients ask for.'
        '--property:Broker property for groups or limits.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "demo")
      options+=(
        '--spark:Include the lag report (needs Java 17).'
        '--keep:Keep cluster and members running until Ctrl-C.'
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "official")
      options+=(
        '--list:List the groups.'
        '--describe:Describe groups\: offsets, members or state.'
        '--delete:Delete groups with their offsets.'
        '--delete-offsets:Delete a group'\''s offsets of topics.'
        '--reset-offsets:Reset a group'\''s offsets; writes nothing without --execute.'
        '--validate-regex:Check a regular expression as brokers do.'
        '--group:A group; may be repeated.'
        '--all-groups:Every group.'
        '--topic:A topic, or some of its partitions\: t or t\:0,1; may be repeated.'
        '--all-topics:Every topic that the group committed.'
        '--offsets:View\: partitions, offsets, lag (default).'
        '--members:View\: the members.'
        '--state:View\: state; with --list a filter, several by commas.'
        '--type:Show types, or only these\: classic, consumer.'
        '--verbose:More columns.'
        '--to-earliest:Reset to the start of the log.'
        '--to-latest:Reset to the end of the log.'
        '--to-current:Reset to what is committed, or the end.'
        '--to-offset:Reset to this offset.'
        '--shift-by:Shift by this many records; negative goes back.'
        '--by-duration:Reset to this long ago\: PT1H30M.'
        '--to-datetime:Reset to a time\: 2026-01-31T12\:00\:00.000.'
        '--from-file:Reset to the offsets of a CSV file.'
        '--dry-run:Show the plan and write nothing.'
        '--execute:Write the changes.'
        '--export:Print the plan as CSV.'
        '--timeout:Longest wait in milliseconds (30000).'
        '--bootstrap-server:Broker address; several separated by commas.'
        '--command-config:Client properties, Java'\''s or librdkafka'\''s.'
        '--version:Show the version.'
        '--help:Show help.'
      )
      ;;
    "schema")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "explain")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
    "completion")
      options+=(
        '--help-all:Show details and all global options.'
        '--help:Show help.'
      )
      ;;
  esac
}
_kgroups() {
  local line="${(j: :)words[1,CURRENT-1]} ${words[CURRENT]}" typed="${words[CURRENT]}"
  local place="" value="" from="" word
  local -a commands options names
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ -n $value ]]; then
      value=""
    elif [[ $word == -* ]]; then
      value="$(_kgroups_value "$place" "$word")" || value=""
    elif _kgroups_step "$place" "$word"; then
      place="${place:+$place }$word"
    fi
  done
  if [[ -z $value && $typed == --*=* ]]; then
    value="$(_kgroups_value "$place" "${typed%%=*}")" || return 1
    compset -P '*='
  fi
  if [[ -n $value ]]; then
    from="$value"
  elif [[ $typed != -* ]]; then
    from="$(_kgroups_argument "$place")" && [[ $from != @free ]] || from=""
  fi
  case "$from" in
    "")
      _kgroups_words "$place"
      if (( ${#commands} )) && [[ $typed != -* ]]; then
        _describe 'command' commands
      else
        _describe -o 'option' options
      fi
      ;;
    @free) return 1 ;;
    @files) _files ;;
    @*)
      names=("${(@f)$("${words[1]}" complete-names "${from#@}" "$line" 2> /dev/null)}")
      names=("${(@)names:#}")
      (( ${#names} )) && compadd -a names
      ;;
    *) compadd -- ${=from} ;;
  esac
}
if [[ ${funcstack[1]} == _kgroups ]]; then
  _kgroups "$@"
else
  compdef _kgroups kgroups
fi
