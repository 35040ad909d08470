# Run by `cmake --install`: the manual pages, which the binary writes from its own tables, and the
# unit, which says where the binary is.

file(MAKE_DIRECTORY ${KNELL_GENERATED})

foreach(page knell.1 knell.yaml.5 knell-hooks.7)
    execute_process(COMMAND ${KNELL_PROGRAM} __man ${page}
        OUTPUT_FILE ${KNELL_GENERATED}/${page} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${KNELL_PROGRAM} did not write the manual page ${page}: ${failed}")
    endif()
    string(REGEX MATCH "[0-9]$" section ${page})
    file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${KNELL_MANDIR}/man${section}"
        TYPE FILE FILES ${KNELL_GENERATED}/${page})
endforeach()

set(KNELL_BIN "${CMAKE_INSTALL_PREFIX}/${KNELL_BINDIR}/knell")
configure_file(${KNELL_UNIT} ${KNELL_GENERATED}/knell.service @ONLY)
file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${KNELL_DATADIR}/systemd/user"
    TYPE FILE FILES ${KNELL_GENERATED}/knell.service)
