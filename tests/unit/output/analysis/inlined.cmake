# SPDX-License-Identifier: Apache-2.0
#
# inlined.cc by each C++ compiler at hand, with its debug information in and beside it: what
# test_lines reads. Made by hand, so that no option of the build (a sanitizer) changes the code.
set(YARN_INLINED_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/inlined)
set(YARN_INLINED_COMPILERS)
set(YARN_INLINED_FILES)

foreach(name g++ clang++)
  find_program(YARN_INLINED_${name} ${name})
  if(NOT YARN_INLINED_${name})
    message(STATUS "no ${name}: source lines are not tested with it")
    continue()
  endif()
  set(folder ${YARN_INLINED_FOLDER}/${name})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/whole ${folder}/bare ${folder}/linked ${folder}/linked.debug
           ${folder}/whole.debug
    COMMAND ${YARN_INLINED_${name}} -std=c++17 -g -O2 -Wl,--build-id=sha1 -o whole
            ${CMAKE_CURRENT_SOURCE_DIR}/inlined.cc
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug whole whole.debug
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug whole linked.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all whole bare
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=linked.debug whole linked
    DEPENDS inlined.cc
    WORKING_DIRECTORY ${folder}
    VERBATIM)
  list(APPEND YARN_INLINED_FILES ${folder}/whole)
  list(APPEND YARN_INLINED_COMPILERS "\"${name}\"")
endforeach()

if(YARN_INLINED_FILES)
  add_custom_target(inlined DEPENDS ${YARN_INLINED_FILES})
  yarn_test(NAME test_lines SOURCES test_lines.c LINKS yarn_analysis)
  add_dependencies(test_lines inlined)
  list(JOIN YARN_INLINED_COMPILERS "," compilers)
  target_compile_definitions(test_lines PRIVATE
    YARN_INLINED_COMPILERS=${compilers}
    YARN_INLINED_FOLDER="${YARN_INLINED_FOLDER}"
    YARN_INLINED_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}/inlined.cc")
endif()
