# Goes on where the last call ended, runs the command, and keeps where it ended; shell_state.py says how it is called.
__bw_state=$BENCHWRIGHT_STATE __bw_start=$BENCHWRIGHT_START __bw_first=$BENCHWRIGHT_FIRST __bw_command=
for ((__bw_n = 0; __bw_n < BENCHWRIGHT_PARTS; __bw_n++)); do
    __bw_item=BENCHWRIGHT_COMMAND_$__bw_n
    __bw_command+=${!__bw_item}
done

# Sets __bw_names to the variables that are part of the state.  None of ours is local: it would hide one of the agent's.
__bw_prefixes= # ${!a@} are all that begin with an a: that needs no process, unlike $(compgen -v)
for __bw_item in _ {a..z} {A..Z}; do __bw_prefixes+="\"\${!$__bw_item@}\" "; done
__bw_list() {
    builtin eval "__bw_names=($__bw_prefixes)"
    for __bw_n in "${!__bw_names[@]}"; do
        case ${__bw_names[__bw_n]} in
            __bw_* | _ | BASH | BASH_* | BASHOPTS | BASHPID | BENCHWRIGHT_* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME \
                | GROUPS | HISTCMD | LINENO | PIPESTATUS | PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID)
                builtin unset -v "__bw_names[__bw_n]" ;;
        esac
    done
}

# Writes the state, in the order in which it is read below; a full disk leaves the file without its last entry.
__bw_save() { # [<what to return>]
    __bw_saved=1 __bw_set=$SHELLOPTS __bw_shopt=$BASHOPTS
    [[ $BASHPID == "$$" ]] || builtin return 0 # some child that took the trap along
    builtin set +efknuvxCET -B +o posix
    builtin shopt -u nocasematch
    [[ -d ${__bw_state%/*} ]] || builtin command -p mkdir -p "${__bw_state%/*}"
    __bw_list
    __bw_number=$((__bw_number + 1))
    {
        builtin printf '%s\0' "$__bw_number" "$__bw_set" "$__bw_shopt"
        builtin pwd
        builtin printf '\0'
        builtin umask -p
        builtin printf '\0'
        builtin alias -p
        builtin printf '\0'
        for __bw_item in "${__bw_names[@]}"; do
            builtin declare -p "$__bw_item"
            builtin printf '\0'
            # After an exit in a function, its local variables hide others, which come to light and are read last.
            for ((__bw_n = 1; __bw_n < ${#FUNCNAME[@]}; __bw_n++)); do
                builtin unset -v "$__bw_item" && builtin declare -p "$__bw_item" && builtin printf '\0'
            done
        done
        __bw_functions
        builtin printf 'end %s\0' "$__bw_number"
    } >|"$__bw_state.$((__bw_number % 2))"
    builtin return "${1-0}"
}

# Each function is an entry of its own, so that one whose text cannot be read again takes no other with it.
__bw_functions() {
    builtin declare -F >|"$__bw_state.f"
    builtin mapfile -t __bw_names <"$__bw_state.f"
    for __bw_item in "${__bw_names[@]}"; do # such as "declare -fx name"
        __bw_name=${__bw_item##* } __bw_flags=${__bw_item#declare -} __bw_flags=${__bw_flags%% *}
        case $__bw_name in __bw_*) builtin continue ;; esac
        builtin declare -f "$__bw_name"
        case $__bw_flags in *x*) builtin printf 'builtin declare -xf %q\n' "$__bw_name" ;; esac
        case $__bw_flags in *r*) builtin printf 'builtin declare -rf %q\n' "$__bw_name" ;; esac
        builtin printf '\0'
    done
}

# Appends to __bw_text what makes of the options of a new shell those of the last one.
__bw_differences() { # <to set one> <to unset one> <set now> <set then>
    for __bw_item in ${3//:/ }; do
        case :$4: in *":$__bw_item:"*) ;; *) __bw_text+="builtin $2 $__bw_item;" ;; esac
    done
    for __bw_item in ${4//:/ }; do
        case $__bw_item in # some would end every later call at once, others cannot be set
            noexec | onecmd | privileged | history | emacs | vi | login_shell | restricted_shell) ;;
            *) case :$3: in *":$__bw_item:"*) ;; *) __bw_text+="builtin $1 $__bw_item;" ;; esac ;;
        esac
    done
}

__bw_number=-1 __bw_entries=()
for __bw_item in "$__bw_state.0" "$__bw_state.1"; do
    [[ -f $__bw_item && -r $__bw_item ]] || continue
    mapfile -d '' -t __bw_read <"$__bw_item"
    [[ ${__bw_read[0]-} =~ ^[0-9]{1,15}$ && ${__bw_read[-1]} == "end ${__bw_read[0]}" ]] || continue
    ((__bw_read[0] > __bw_number)) || continue
    __bw_number=${__bw_read[0]} __bw_entries=("${__bw_read[@]}")
done

__bw_text='builtin unset -v __bw_entries __bw_names __bw_read __bw_text;'
if ((__bw_number < 0)); then
    cd -- "$__bw_start" 2>/dev/null || cd /
    [[ $__bw_first ]] || printf '[The saved state of the shell was lost; it began anew in %s.]\n' "$PWD"
    shopt -s expand_aliases # as in a shell that a person types into
    __bw_save 2>/dev/null   # for a first call that does not come to its end
    unset -v __bw_saved
else
    __bw_folder=${__bw_entries[3]%$'\n'}
    cd -- "$__bw_folder" 2>/dev/null || cd -- "$__bw_start" 2>/dev/null || cd /
    [[ $PWD == "$__bw_folder" ]] || printf '[The folder %s is no longer there; the shell is in %s.]\n' "$__bw_folder" "$PWD"
    __bw_text+='builtin shopt -u extglob;' # see below
    __bw_differences 'shopt -s' 'shopt -u' "$BASHOPTS" "${__bw_entries[2]}"
    __bw_differences 'set -o' 'set +o' "$SHELLOPTS" "${__bw_entries[1]}"
    __bw_list
    unset -v "${__bw_names[@]}" 2>/dev/null # readonly ones of the image stay
    shopt -s extglob # or functions that have such patterns could not be read
fi
unset -v "${!BENCHWRIGHT_@}"

# In one piece, and so read before any alias or function of the agent's is there.
{
    ((__bw_number < 0)) || for __bw_item in "${__bw_entries[@]:4:${#__bw_entries[@]}-5}"; do
        builtin eval "$__bw_item"
    done 2>/dev/null
    builtin trap '{ [[ ${__bw_saved-} ]] || __bw_save; } >/dev/null 2>&1' EXIT
}
