# SPDX-License-Identifier: Apache-2.0
#
# fish completion of keyhole. contrib/documents fills in the lines between @, of the options.def
# files.

complete -c keyhole -f
@fish-verbs@
complete -c keyhole -n __fish_use_subcommand -l help -d 'a summary'
complete -c keyhole -n __fish_use_subcommand -l version -d 'the version'
complete -c keyhole -n '__fish_seen_subcommand_from report symbolize check-config' -F
complete -c keyhole -n '__fish_seen_subcommand_from why' -a '(__fish_complete_pids)'

@fish-options@
