# kgroups completion for fish; `kgroups completion fish` wrote it.
set -g __kgroups_steps '/list' '/describe' '/plan' '/delete' '/coordinator' '/completion' '/lag' '/snapshot' '/sandbox' 'lag/report' 'lag/history' 'lag/collect' 'lag/compact' 'snapshot/save' 'snapshot/show' 'sandbox/up'
set -g __kgroups_values 'list/--state' 'list/--type' 'list/--topic' 'list/--from' 'describe/--sort' 'describe/--top' 'describe/--uncommitted' 'describe/--isolation' 'describe/--from' 'plan/--assignor' 'plan/--add-members' 'plan/--remove-member' 'plan/--drop-host' 'plan/--set-partitions' 'plan/--add-topic' 'plan/--subscribe' 'plan/--from' 'delete/--state' 'coordinator/--partitions' 'lag report/--by' 'lag report/--assignor' 'lag report/--top' 'lag report/--sort' 'lag report/--uncommitted' 'lag report/--isolation' 'lag report/--master' 'lag report/--remote' 'lag report/--where' 'lag report/--captures' 'lag report/--over' 'lag report/--since' 'lag report/--until' 'lag report/--from' 'lag history/--by' 'lag history/--top' 'lag history/--sort' 'lag history/--where' 'lag history/--over' 'lag history/--since' 'lag history/--master' 'lag history/--remote' 'lag collect/--every' 'lag collect/--count' 'sandbox up/--brokers' 'sandbox up/--topic' 'sandbox up/--port' 'sandbox up/--host' 'sandbox up/--data-dir' 'sandbox up/--from' 'sandbox up/--as-version' 'sandbox up/--faults' 'sandbox up/--property'
set -g __kgroups_common_values '/--bootstrap-server' '/-b' '/--command-config' '/--output' '/-o' '/--timeout'
function __kgroups_path # the commands on the line so far
    set -l place
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- "$place/$word" $__kgroups_values
            or contains -- "/$word" $__kgroups_common_values
            and set skip 1
        else if contains -- "$place/$word" $__kgroups_steps
            set place (string trim -- "$place $word")
        end
    end
    echo $place
end
function __kgroups_at
    test "$(__kgroups_path)" = "$argv[1]"
end
function __kgroups_names
    set -l line (commandline -cp)
    set -l program (commandline -opc)[1]
    type -q -- $program
    or return
    command $program complete-names $argv[1] "$line" 2>/dev/null
end
complete -c kgroups -f
complete -c kgroups -l bootstrap-server -s b -x -d 'Address of a broker; several by commas.'
complete -c kgroups -l command-config -r -F -d 'Client settings, librdkafka or Java spelling.'
complete -c kgroups -l output -s o -x -a 'table json jsonl csv yaml' -d 'table (default), json, jsonl, csv, yaml.'
complete -c kgroups -l timeout -x -d 'Longest wait: 500ms, 10s (default), 2m.'
complete -c kgroups -l no-color -d 'No colour on a terminal (also: NO_COLOR).'
complete -c kgroups -l verbose -d 'More columns; the traceback of a bug.'
complete -c kgroups -n '__kgroups_at ""' -a list -d 'List the groups of a cluster.'
complete -c kgroups -n '__kgroups_at ""' -a describe -d 'Describe groups: what they read and how far behind they are.'
complete -c kgroups -n '__kgroups_at ""' -a plan -d 'Show what the next rebalance of a group would do, before...'
complete -c kgroups -n '__kgroups_at ""' -a delete -d 'Delete groups with their committed offsets.'
complete -c kgroups -n '__kgroups_at ""' -a coordinator -d 'Show which broker coordinates groups, and why that one.'
complete -c kgroups -n '__kgroups_at ""' -a completion -d 'Print the completion script of a shell.'
complete -c kgroups -n '__kgroups_at ""' -a lag -d 'Report the lag of a whole cluster, with Apache Spark.'
complete -c kgroups -n '__kgroups_at ""' -a snapshot -d 'Keep a cluster\'s groups in a file.'
complete -c kgroups -n '__kgroups_at ""' -a sandbox -d 'An embedded Kafka cluster for learning and tests.'
complete -c kgroups -n '__kgroups_at ""' -l version -d 'Show the version.'
complete -c kgroups -n '__kgroups_at ""' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "list"' -l state -x -a 'PreparingRebalance CompletingRebalance Stable Dead Empty Assigning Reconciling' -d 'Only in these states.'
complete -c kgroups -n '__kgroups_at "list"' -l type -x -a 'classic consumer share streams' -d 'Only of these types.'
complete -c kgroups -n '__kgroups_at "list"' -l topic -x -a '(__kgroups_names topics)' -d 'Only groups that read one of these topics.'
complete -c kgroups -n '__kgroups_at "list"' -l from -r -F -d 'Read a snapshot instead of asking a cluster.'
complete -c kgroups -n '__kgroups_at "list"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "describe"' -l all-groups -d 'Every group of the cluster.'
complete -c kgroups -n '__kgroups_at "describe"' -l offsets -d 'Show partitions (default).'
complete -c kgroups -n '__kgroups_at "describe"' -l members -d 'Show members.'
complete -c kgroups -n '__kgroups_at "describe"' -l state -d 'Show the groups\' state.'
complete -c kgroups -n '__kgroups_at "describe"' -l sort -x -a 'name lag' -d 'By name, or most lag first.'
complete -c kgroups -n '__kgroups_at "describe"' -l top -x -d 'Only the N rows with most lag.'
complete -c kgroups -n '__kgroups_at "describe"' -l uncommitted -x -a 'start end' -d 'Where a partition without a commit stands.'
complete -c kgroups -n '__kgroups_at "describe"' -l isolation -x -a 'read_uncommitted read_committed' -d 'read_committed: lag to the last stable offset.'
complete -c kgroups -n '__kgroups_at "describe"' -l from -r -F -d 'Read a snapshot instead of asking a cluster.'
complete -c kgroups -n '__kgroups_at "describe"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "describe"' -a '(__kgroups_names groups)'
complete -c kgroups -n '__kgroups_at "plan"' -l all-groups -d 'Every group of the cluster.'
complete -c kgroups -n '__kgroups_at "plan"' -l assignor -x -d 'Plan with these assignors.'
complete -c kgroups -n '__kgroups_at "plan"' -l add-members -x -d 'Members that join.'
complete -c kgroups -n '__kgroups_at "plan"' -l remove-member -x -d 'Members that leave.'
complete -c kgroups -n '__kgroups_at "plan"' -l drop-host -x -d 'Hosts whose members leave.'
complete -c kgroups -n '__kgroups_at "plan"' -l set-partitions -x -d 'Topics that grow.'
complete -c kgroups -n '__kgroups_at "plan"' -l add-topic -x -d 'Topics that are created.'
complete -c kgroups -n '__kgroups_at "plan"' -l subscribe -x -d 'What members read.'
complete -c kgroups -n '__kgroups_at "plan"' -l metrics -d 'Show figures of balance.'
complete -c kgroups -n '__kgroups_at "plan"' -l members -d 'Show who gets what.'
complete -c kgroups -n '__kgroups_at "plan"' -l moves -d 'Show what changes hands.'
complete -c kgroups -n '__kgroups_at "plan"' -l from -r -F -d 'Read a snapshot instead of asking a cluster.'
complete -c kgroups -n '__kgroups_at "plan"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "plan"' -a '(__kgroups_names groups)'
complete -c kgroups -n '__kgroups_at "delete"' -l all-groups -d 'Every group of the cluster.'
complete -c kgroups -n '__kgroups_at "delete"' -l state -x -a 'PreparingRebalance CompletingRebalance Stable Dead Empty Assigning Reconciling' -d 'Every group in one of these states.'
complete -c kgroups -n '__kgroups_at "delete"' -l keep-going -d 'Delete what can be, whatever the others.'
complete -c kgroups -n '__kgroups_at "delete"' -l dry-run -d 'Only show the plan.'
complete -c kgroups -n '__kgroups_at "delete"' -l yes -s y -d 'Do it without asking.'
complete -c kgroups -n '__kgroups_at "delete"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "delete"' -a '(__kgroups_names groups)'
complete -c kgroups -n '__kgroups_at "coordinator"' -l partitions -x -d 'Partitions of __consumer_offsets; asks no cluster.'
complete -c kgroups -n '__kgroups_at "coordinator"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "coordinator"' -a '(__kgroups_names groups)'
complete -c kgroups -n '__kgroups_at "completion"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "completion"' -a 'bash zsh fish'
complete -c kgroups -n '__kgroups_at "lag"' -a report -d 'Report lag by group, topic or member, now and under...'
complete -c kgroups -n '__kgroups_at "lag"' -a history -d 'Report what groups committed and when, out of...'
complete -c kgroups -n '__kgroups_at "lag"' -a collect -d 'Append a capture of the cluster\'s groups to a folder of...'
complete -c kgroups -n '__kgroups_at "lag"' -a compact -d 'Merge the small files of each day that is over into one.'
complete -c kgroups -n '__kgroups_at "lag"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "lag report"' -l by -x -a 'group topic partition member client host assignor' -d 'What a row stands for.'
complete -c kgroups -n '__kgroups_at "lag report"' -l assignor -x -d 'Plan with these assignors too.'
complete -c kgroups -n '__kgroups_at "lag report"' -l top -x -d 'Only the first N rows.'
complete -c kgroups -n '__kgroups_at "lag report"' -l sort -x -d 'Most of this column first.'
complete -c kgroups -n '__kgroups_at "lag report"' -l uncommitted -x -a 'start end' -d 'Where a partition without a commit stands.'
complete -c kgroups -n '__kgroups_at "lag report"' -l isolation -x -a 'read_uncommitted read_committed' -d 'read_committed: lag to the last stable offset.'
complete -c kgroups -n '__kgroups_at "lag report"' -l master -x -d 'Spark master.'
complete -c kgroups -n '__kgroups_at "lag report"' -l remote -x -d 'Spark Connect server.'
complete -c kgroups -n '__kgroups_at "lag report"' -l where -x -d 'Only rows for which this is true.'
complete -c kgroups -n '__kgroups_at "lag report"' -l captures -x -d 'Report over what `lag collect` left.'
complete -c kgroups -n '__kgroups_at "lag report"' -l over -x -d 'Length of the window: 24h (default), 7d.'
complete -c kgroups -n '__kgroups_at "lag report"' -l since -x -d 'Start of the window.'
complete -c kgroups -n '__kgroups_at "lag report"' -l until -x -d 'End of the window: now.'
complete -c kgroups -n '__kgroups_at "lag report"' -l strict -d 'A capture that cannot be read is a failure.'
complete -c kgroups -n '__kgroups_at "lag report"' -l from -r -F -d 'Read a snapshot instead of asking a cluster.'
complete -c kgroups -n '__kgroups_at "lag report"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "lag history"' -l by -x -a 'group topic partition member client host' -d 'What a row stands for.'
complete -c kgroups -n '__kgroups_at "lag history"' -l top -x -d 'Only the first N rows.'
complete -c kgroups -n '__kgroups_at "lag history"' -l sort -x -d 'Most of this column first.'
complete -c kgroups -n '__kgroups_at "lag history"' -l where -x -d 'Only rows for which this is true.'
complete -c kgroups -n '__kgroups_at "lag history"' -l over -x -d 'Length of the window: 24h (default), 7d.'
complete -c kgroups -n '__kgroups_at "lag history"' -l since -x -d 'Start of the window.'
complete -c kgroups -n '__kgroups_at "lag history"' -l master -x -d 'Spark master.'
complete -c kgroups -n '__kgroups_at "lag history"' -l remote -x -d 'Spark Connect server.'
complete -c kgroups -n '__kgroups_at "lag history"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "lag collect"' -l every -x -d 'Time between captures: 60s.'
complete -c kgroups -n '__kgroups_at "lag collect"' -l count -x -d 'Number of captures.'
complete -c kgroups -n '__kgroups_at "lag collect"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "lag compact"' -l today -d 'Also the day that is not over.'
complete -c kgroups -n '__kgroups_at "lag compact"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "snapshot"' -a save -d 'Save the cluster\'s groups to a file.'
complete -c kgroups -n '__kgroups_at "snapshot"' -a show -d 'Show what a snapshot file holds.'
complete -c kgroups -n '__kgroups_at "snapshot"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "snapshot save"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "snapshot save"' -F
complete -c kgroups -n '__kgroups_at "snapshot show"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "snapshot show"' -F
complete -c kgroups -n '__kgroups_at "sandbox"' -a up -d 'Run an embedded Kafka cluster until Ctrl-C.'
complete -c kgroups -n '__kgroups_at "sandbox"' -l help -d 'Show help.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l brokers -x -d 'How many brokers.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l topic -x -d 'Make a topic with N partitions.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l port -x -d 'Of the first broker, others follow; 0 for any.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l host -x -d 'Listen here instead of loopback.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l data-dir -x -d 'Keep topics, records and offsets here.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l from -r -F -d 'Begin with a snapshot\'s topics and groups.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l as-version -x -d 'Offer what Kafka 2.4 to 4.3 offers.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l faults -r -F -d 'Misbehave by these rules.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l auto-create-topics -d 'Make topics that clients ask for.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l property -x -d 'A broker\'s setting about groups.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l quiet -s q -d 'Do not tell what happens.'
complete -c kgroups -n '__kgroups_at "sandbox up"' -l help -d 'Show help.'
