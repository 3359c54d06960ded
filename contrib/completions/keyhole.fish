# SPDX-License-Identifier: Apache-2.0
#
# fish completion of keyhole. tests/lint/options.sh holds it against the programs' own help.

set -l formats folded pprof html svg speedscope firefox otlp otlp-json
set -l events cycles cpu-clock task-clock instructions cache-references cache-misses branches branch-misses page-faults minor-faults major-faults context-switches cpu-migrations

complete -c keyhole -f
complete -c keyhole -n __fish_use_subcommand -a record -d 'Profile, write a file'
complete -c keyhole -n __fish_use_subcommand -a top -d 'What uses the CPUs, live'
complete -c keyhole -n __fish_use_subcommand -a why -d 'Where names and stacks come from'
complete -c keyhole -n __fish_use_subcommand -a report -d 'Show, compare, convert profiles'
complete -c keyhole -n __fish_use_subcommand -a symbolize -d 'Add names and lines to a profile'
complete -c keyhole -n __fish_use_subcommand -a check -d 'What is there, how it is confined'
complete -c keyhole -n __fish_use_subcommand -a check-config -d 'What the policy file says'
complete -c keyhole -n __fish_use_subcommand -a help -d 'A summary'
complete -c keyhole -n __fish_use_subcommand -l help -d 'A summary'
complete -c keyhole -n __fish_use_subcommand -l version -d 'The version'

complete -c keyhole -n '__fish_seen_subcommand_from help' -a 'record top why report symbolize check check-config'

set -l sampled '__fish_seen_subcommand_from record top'
complete -c keyhole -n $sampled -s a -l all -d 'The whole machine'
complete -c keyhole -n $sampled -s p -l pid -x -a '(__fish_complete_pids)' -d 'A process'
complete -c keyhole -n $sampled -l cgroup -x -a '(__fish_complete_directories)' -d 'Of a cgroup'
complete -c keyhole -n $sampled -s e -l event -x -a "$events" -d 'What makes samples'
complete -c keyhole -n $sampled -s F -l frequency -x -a '99 499 999' -d 'Samples per second and CPU'
complete -c keyhole -n $sampled -s d -l duration -x -d 'Seconds, then stop'
complete -c keyhole -n $sampled -l comm -x -d 'Where the name matches'
complete -c keyhole -n $sampled -l uid -x -a '(__fish_complete_users)' -d 'Of these users'
complete -c keyhole -n $sampled -l exclude-pid -x -a '(__fish_complete_pids)' -d 'Not of these'
complete -c keyhole -n $sampled -l exclude-cgroup -x -a '(__fish_complete_directories)' \
	-d 'Not of these'
complete -c keyhole -n $sampled -l kernel -d 'With kernel stacks'
complete -c keyhole -n $sampled -l no-kernel -d 'Without kernel stacks'
complete -c keyhole -n $sampled -l user -d 'With user stacks'
complete -c keyhole -n $sampled -l no-user -d 'In the kernel alone'
complete -c keyhole -n $sampled -l inline -d 'With inlined functions and lines'
complete -c keyhole -n $sampled -l no-inline -d 'Without them: ends sooner'
complete -c keyhole -n $sampled -l by-thread -d 'Keep threads apart'
complete -c keyhole -n $sampled -l debug-dir -x -a '(__fish_complete_directories)' -d 'Debug files'
complete -c keyhole -n $sampled -l policy -r -F -d 'Who is never sampled'
complete -c keyhole -n $sampled -l audit -r -F -d 'Append what was done'
complete -c keyhole -n $sampled -l require -x -a 'namespaces pid root landlock userns' \
	-d 'Do not start without'
complete -c keyhole -n $sampled -s v -l verbose -d 'Say more'

set -l record '__fish_seen_subcommand_from record'
complete -c keyhole -n $record -l every -x -d 'A profile each so many seconds'
complete -c keyhole -n $record -s o -l output -r -F -d 'Write here'
complete -c keyhole -n $record -s f -l format -x -a "$formats" -d 'Of the file'
complete -c keyhole -n $record -l force -d 'Replace the file'
complete -c keyhole -n $record -s q -l quiet -d 'Nothing but errors'
complete -c keyhole -n $record -s h -l help -d 'A summary'

set -l top '__fish_seen_subcommand_from top'
complete -c keyhole -n $top -s n -l updates -x -d 'End after so many'
complete -c keyhole -n $top -s w -l window -x -a '1 5 15 60' -d 'Sum of so many seconds'
complete -c keyhole -n $top -l batch -d 'Text for scripts'
complete -c keyhole -n $top -s h -l help -d 'A summary'

set -l why '__fish_seen_subcommand_from why'
complete -c keyhole -n $why -a '(__fish_complete_pids)'
complete -c keyhole -n $why -s F -l frequency -x -a '99 499 999' -d 'Samples per second and CPU'
complete -c keyhole -n $why -s d -l duration -x -d 'Seconds'
complete -c keyhole -n $why -l debug-dir -x -a '(__fish_complete_directories)' -d 'Debug files'
complete -c keyhole -n $why -l policy -r -F -d 'Who is never sampled'
complete -c keyhole -n $why -l audit -r -F -d 'Append what was done'
complete -c keyhole -n $why -l require -x -a 'namespaces pid root landlock userns' \
	-d 'Do not start without'
complete -c keyhole -n $why -s v -l verbose -d 'Say more'
complete -c keyhole -n $why -s h -l help -d 'A summary'

set -l report '__fish_seen_subcommand_from report'
complete -c keyhole -n $report -F
complete -c keyhole -n $report -l by -x -a 'function object process thread reason cgroup' -d 'Lines'
complete -c keyhole -n $report -l sort -x -a 'self total' -d 'By which time'
complete -c keyhole -n $report -l callers -x -d 'Who calls functions that match'
complete -c keyhole -n $report -l callees -x -d 'What they call'
complete -c keyhole -n $report -l tree -d 'Calls from the root on'
complete -c keyhole -n $report -l min -x -d 'Least percent in the tree'
complete -c keyhole -n $report -l diff -d 'What changed, OLD and NEW'
complete -c keyhole -n $report -l per -x -a 'total time' -d 'Of a difference'
complete -c keyhole -n $report -s n -l lines -x -d 'So many lines'
complete -c keyhole -n $report -l json -d 'For programs'
complete -c keyhole -n $report -l comm -x -d 'Of processes with such a name'
complete -c keyhole -n $report -l pid -x -d 'Of a process'
complete -c keyhole -n $report -l object -x -d 'In such a file'
complete -c keyhole -n $report -l kernel -d 'In the kernel'
complete -c keyhole -n $report -l no-kernel -d 'Outside of the kernel'
complete -c keyhole -n $report -l sample-type -x -d 'Of several types of values'
complete -c keyhole -n $report -s o -l output -r -F -d 'Write here'
complete -c keyhole -n $report -s f -l format -x -a "$formats" -d 'Of the file'
complete -c keyhole -n $report -l by-thread -d 'Keep threads apart'
complete -c keyhole -n $report -l force -d 'Replace the file'
complete -c keyhole -n $report -s h -l help -d 'A summary'

set -l symbolize '__fish_seen_subcommand_from symbolize'
complete -c keyhole -n $symbolize -F
complete -c keyhole -n $symbolize -s d -l debug-dir -x -a '(__fish_complete_directories)' \
	-d 'Debug files'
complete -c keyhole -n $symbolize -s o -l output -r -F -d 'Write here'
complete -c keyhole -n $symbolize -l force -d 'Replace the output'
complete -c keyhole -n $symbolize -s v -l verbose -d 'Say what was missing'
complete -c keyhole -n $symbolize -s h -l help -d 'A summary'

set -l check '__fish_seen_subcommand_from check'
complete -c keyhole -n $check -l json -d 'For programs'
complete -c keyhole -n $check -s h -l help -d 'A summary'

set -l check_config '__fish_seen_subcommand_from check-config'
complete -c keyhole -n $check_config -F
complete -c keyhole -n $check_config -s h -l help -d 'A summary'
