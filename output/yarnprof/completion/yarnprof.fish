# SPDX-License-Identifier: Apache-2.0
#
# Completion of yarnprof for fish. Verbs, options and values come from the tool's own tables.

function __yarnprof_options
    set -l words (commandline -opc)
    for line in ($words[1] $words[2] --complete 2>/dev/null)
        set -l fields (string split \t -- $line)
        if not string match -q -- '--*' $fields[1]
            continue
        else if test $fields[2] = none
            printf '%s\t%s\n' $fields[1] $fields[3]
        else if string match -q -- '*|*' $fields[2]
            for value in (string split '|' -- $fields[2])
                printf '%s=%s\t%s\n' $fields[1] $value $fields[3]
            end
        else
            printf '%s=\t%s\n' $fields[1] $fields[3]
        end
    end
end

function __yarnprof_has_command
    contains -- -- (commandline -opc)
end

function __yarnprof_command
    set -l words (commandline -opc) (commandline -ct)
    set -l first (math (contains -i -- -- $words) + 1)
    complete -C "$words[$first..-1]"
end

complete -c yarnprof -f -n __fish_use_subcommand -a '(yarnprof --complete 2>/dev/null)'
complete -c yarnprof -f -n '__fish_seen_subcommand_from help' -a '(yarnprof --complete 2>/dev/null)'
complete -c yarnprof -n 'not __fish_use_subcommand; and not __yarnprof_has_command' -a '(__yarnprof_options)'
complete -c yarnprof -f -n __yarnprof_has_command -a '(__yarnprof_command)'
