# SPDX-License-Identifier: Apache-2.0
#
# fish completion of keyhole. tests/lint/options.sh holds it against the programs' own help.

complete -c keyhole -f
complete -c keyhole -n __fish_use_subcommand -a record -d 'Profile, write a file'
complete -c keyhole -n __fish_use_subcommand -a check -d 'What is there, how it is confined'
complete -c keyhole -n __fish_use_subcommand -a help -d 'A summary'
complete -c keyhole -n __fish_use_subcommand -l help -d 'A summary'
complete -c keyhole -n __fish_use_subcommand -l version -d 'The version'

set -l record '__fish_seen_subcommand_from record'
complete -c keyhole -n $record -s a -l all -d 'The whole machine'
complete -c keyhole -n $record -s p -l pid -x -a '(__fish_complete_pids)' -d 'A process'
complete -c keyhole -n $record -l cgroup -x -a '(__fish_complete_directories)' -d 'Of a cgroup'
complete -c keyhole -n $record -s F -l frequency -x -a '99 499 999' -d 'Samples per second and CPU'
complete -c keyhole -n $record -s d -l duration -x -d 'Seconds, then stop'
complete -c keyhole -n $record -s o -l output -r -F -d 'Write here'
complete -c keyhole -n $record -s f -l format -x -a 'folded pprof' -d 'Of the file'
complete -c keyhole -n $record -l force -d 'Replace the file'
complete -c keyhole -n $record -l by-thread -d 'Keep threads apart'
complete -c keyhole -n $record -l audit -r -F -d 'Append what was done'
complete -c keyhole -n $record -l require -x -a 'namespaces pid root landlock userns' \
	-d 'Do not start without'
complete -c keyhole -n $record -s q -l quiet -d 'Nothing but errors'
complete -c keyhole -n $record -s v -l verbose -d 'Say more'
complete -c keyhole -n $record -s h -l help -d 'A summary'

set -l check '__fish_seen_subcommand_from check'
complete -c keyhole -n $check -l json -d 'For programs'
complete -c keyhole -n $check -s h -l help -d 'A summary'
