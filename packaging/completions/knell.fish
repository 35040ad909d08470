# Completion of knell for fish. What may stand where is asked of knell itself.

function __knell_complete
    set -l words (commandline -opc) (commandline -ct)
    knell __complete $words[2..] 2>/dev/null
end

function __knell_is_in_command
    set -l words (commandline -opc)
    contains -- -- $words
end

# Behind `knell run --` is a command of its own.
function __knell_complete_command
    set -l words (commandline -opc) (commandline -ct)
    set -l begin (contains -i -- -- $words)
    complete -C (string join ' ' -- $words[(math $begin + 1)..])
end

complete -c knell -n 'not __knell_is_in_command' -f -a '(__knell_complete)'
complete -c knell -n __knell_is_in_command -f -a '(__knell_complete_command)'
