# attend_embed(<target> <symbol> <file>…): builds text files into a target.
#
# It defines the function `std::span<const attend::EmbeddedFile> <symbol>()` (attend/base/embedded.h), a table of name, type
# and bytes. The symbol includes its namespace ("attend::explain::page_files"); its callers declare it. A name is the file's
# own, without its folder, and so must be unique. A file that changes is embedded again.
#
# Bytes are written as numbers and not as a string: compilers need not take literals of more than 64 KiB.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(types "html=text/html" "css=text/css" "js=text/javascript" "svg=image/svg+xml" "json=application/json")
  set(arrays "")
  set(table "")
  string(REPLACE "|" ";" files "${FILES}")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    get_filename_component(ending ${file} LAST_EXT)
    string(SUBSTRING ${ending} 1 -1 ending)
    set(type "text/plain")
    foreach(pair IN LISTS types)
      if(pair MATCHES "^${ending}=(.*)$")
        set(type ${CMAKE_MATCH_1})
      endif()
    endforeach()
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*,)" "\\1\n" bytes "${bytes}")
    string(MAKE_C_IDENTIFIER ${name} array)
    string(APPEND arrays "const unsigned char ${array}[] = {\n${bytes}0};\n")
    string(APPEND table "      {\"${name}\", \"${type}; charset=utf-8\", text(${array}, sizeof ${array} - 1)},\n")
  endforeach()
  string(REGEX MATCH "^(.*)::([^:]*)$" parts ${SYMBOL})
  file(WRITE ${OUT} "// Made by cmake/embed.cmake.
#include \"attend/base/embedded.h\"

namespace {
std::string_view text(const unsigned char* bytes, size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }
${arrays}}  // namespace

namespace ${CMAKE_MATCH_1} {
std::span<const attend::EmbeddedFile> ${CMAKE_MATCH_2}();
std::span<const attend::EmbeddedFile> ${CMAKE_MATCH_2}() {
  static const attend::EmbeddedFile files[] = {
${table}  };
  return files;
}
}  // namespace ${CMAKE_MATCH_1}
")
  return()
endif()

set(ATTEND_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(attend_embed target symbol)
  set(names "")
  set(files "")
  foreach(file IN LISTS ARGN)
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    if(name IN_LIST names)
      message(FATAL_ERROR "attend_embed(${target} ${symbol} …): expected files of different names, got ${name} twice")
    endif()
    list(APPEND names ${name})
    list(APPEND files ${file})
  endforeach()
  string(REPLACE "::" "." out ${symbol})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded/${out}.cc)
  string(REPLACE ";" "|" list "${files}")
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -D "FILES=${list}" -D SYMBOL=${symbol} -D OUT=${out} -P ${ATTEND_EMBED_SCRIPT}
                     DEPENDS ${files} ${ATTEND_EMBED_SCRIPT} COMMENT "Embedding ${symbol}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
