# Writes the SQL migrations into a C++ source, so that the binary is all there is to install.
#
#   cmake -DOUTPUT=migrations.cpp "-DMIGRATIONS=0001_sessions.sql;0002_more.sql" -P embed_migrations.cmake
#
# The number is the file name's prefix.  They run in that order and a store remembers how far it came,
# so a hole or a repeated number stops the build.

if(NOT OUTPUT OR NOT MIGRATIONS)
    message(FATAL_ERROR "needs -DOUTPUT=file.cpp and -DMIGRATIONS=0001_name.sql[;...]")
endif()

set(by_name "")
foreach(path IN LISTS MIGRATIONS)
    get_filename_component(file "${path}" NAME)
    if(NOT file MATCHES "^[0-9][0-9][0-9][0-9]_[a-z0-9_]+\\.sql$")
        message(FATAL_ERROR "${path}: a migration is named like 0001_sessions.sql")
    endif()
    list(APPEND by_name "${file}|${path}")
endforeach()
list(SORT by_name)

# One literal a file however long: the compilers take it, and cutting it could cut a UTF-8 character.
set(text "// Written by tools/embed_migrations.cmake.
#include \"store/sqlite/migrations.hpp\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace knell::sqlite {
namespace {

constexpr Migration all[] = {
")
set(expected 0)
foreach(entry IN LISTS by_name)
    math(EXPR expected "${expected} + 1")
    string(REGEX MATCH "^([0-9]+)_([a-z0-9_]+)\\.sql\\|(.*)$" matched "${entry}")
    set(digits "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    set(path "${CMAKE_MATCH_3}")
    string(REGEX REPLACE "^0+" "" number "${digits}")
    if(NOT number STREQUAL expected)
        message(FATAL_ERROR "${path}: its number is ${digits}, the next one must be ${expected}")
    endif()
    file(READ "${path}" sql)
    string(FIND "${sql}" ")knell_sql\"" clash)
    if(NOT clash EQUAL -1)
        message(FATAL_ERROR "${path}: must not contain the text )knell_sql\"")
    endif()
    string(APPEND text "    {${number}, \"${name}\", R\"knell_sql(${sql})knell_sql\"},\n")
endforeach()
string(APPEND text "};

}  // namespace

constinit const std::span<const Migration> migrations{all};

}  // namespace knell::sqlite
")
file(WRITE "${OUTPUT}" "${text}")
