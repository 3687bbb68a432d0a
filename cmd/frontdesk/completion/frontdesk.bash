# Completion of frontdesk for bash, printed by: frontdesk completion bash
_frontdesk() {
    local cur words cword line
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n "=:" cur words cword # which bash separates words at
    else
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        case $cur in
            [\"\']*) COMPREPLY+=("$line") ;; # the quotation mark that is open holds its blanks together
            *) COMPREPLY+=("$(printf %q "$line")") ;;
        esac
    done < <("${words[0]}" __complete "${words[@]:1:cword}" 2>/dev/null)
    case $cur in
        --*=*) COMPREPLY=("${COMPREPLY[@]#"${cur%%=*}="}") ;; # only what is behind = is replaced
    esac
}
complete -o default -F _frontdesk frontdesk
