# SPDX-License-Identifier: Apache-2.0
#
# Completion of yarnprof for bash. Verbs, options and values come from the tool's own tables.

# What comes after `--` is a command of its own, which begins at word $1.
_yarnprof_command()
{
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -eq "$1" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_yarnprof()
{
    local tool=$1 verb=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) i words values
    local option=${COMP_WORDS[at]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || [ "$verb $COMP_CWORD" = "help 2" ]; then
        words=$("$tool" --complete 2>/dev/null | cut -f 1)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            _yarnprof_command $((i + 1))
            return
        fi
    done
    # bash splits --to=pprof at the sign.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$option" = = ]; then
        option=${COMP_WORDS[at - 1]}
    fi
    words=$("$tool" "$verb" --complete 2>/dev/null)
    values=$(awk -F'\t' -v option="$option" '$1 == option { print $2 }' <<<"$words")
    if [[ $values == *\|* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${values//|/ }" -- "$cur")
    elif [[ $cur == -* ]]; then
        words=$(awk -F'\t' '/^--/ { print $1 ($2 == "none" ? "" : "=") }' <<<"$words")
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
    elif [ "$values" != any ]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -F _yarnprof yarnprof
