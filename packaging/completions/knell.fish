# Completion of knell for fish. What may stand where is asked of knell itself.

function __knell_complete
    set -l words (commandline -opc) (commandline -ct)
    knell __complete $words[2..] 2>/dev/null
end

function __knell_is_in_command
    set -l words (commandline -opc)
    contains -- -- $words
end

complete -c knell -n 'not __knell_is_in_command' -f -a '(__knell_complete)'
complete -c knell -n __knell_is_in_command -a '(__fish_complete_subcommand --fcs-skip=3)'
