# Completion of knell for bash. What may stand where is asked of knell itself.

_knell() {
    local line=${COMP_LINE:0:COMP_POINT} cut candidate
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    COMPREPLY=()
    # bash takes what stands before a colon or a = for another word.
    cut=${words[-1]%"${words[-1]##*[:=]}"}
    while IFS=$'\t' read -r candidate _; do
        [[ -n $candidate ]] && COMPREPLY+=("${candidate#"$cut"}")
    done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}

# Where knell has nothing to say, as behind `knell run --`, a file may be meant.
complete -o default -o bashdefault -F _knell knell
