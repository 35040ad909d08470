# Writes a text file into a C++ source, so that the binary is all there is to install.
#
#   cmake -DINPUT=shim.py -DOUTPUT=shim.cpp -DHEADER=deliver/shim.hpp -DNAME=shim -P embed_text.cmake
#
# The header declares `extern const std::string_view NAME` in namespace knell.

if(NOT INPUT OR NOT OUTPUT OR NOT HEADER OR NOT NAME)
    message(FATAL_ERROR "needs -DINPUT=file -DOUTPUT=file.cpp -DHEADER=folder/file.hpp -DNAME=name")
endif()

file(READ "${INPUT}" content)
string(FIND "${content}" ")knell_text\"" clash)
if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${INPUT}: must not contain the text )knell_text\"")
endif()
file(WRITE "${OUTPUT}" "// Written by tools/embed_text.cmake.
#include \"${HEADER}\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace knell {

constinit const std::string_view ${NAME} = R\"knell_text(${content})knell_text\";

}  // namespace knell
")
