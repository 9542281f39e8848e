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
  file(RELATIVE_PATH relative ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/inlined.cc)
  add_custom_command(
    OUTPUT ${folder}/whole ${folder}/bare ${folder}/linked ${folder}/linked.debug
           ${folder}/whole.debug ${folder}/relative
    COMMAND ${YARN_INLINED_${name}} -std=c++17 -g -O2 -Wl,--build-id=sha1 -o whole
            ${CMAKE_CURRENT_SOURCE_DIR}/inlined.cc
    COMMAND ${YARN_INLINED_${name}} -std=c++17 -g -O2 -o relative ${relative}
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
  list(JOIN YARN_INLINED_COMPILERS "," compilers)
  add_library(yarn_inlined STATIC inlined.c)
  target_include_directories(yarn_inlined PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(yarn_inlined PUBLIC yarn_base yarn_dw yarn_check)
  target_compile_options(yarn_inlined PRIVATE -Wno-gnu-zero-variadic-macro-arguments)
  target_compile_definitions(yarn_inlined PRIVATE
    YARN_INLINED_COMPILERS=${compilers}
    YARN_INLINED_FOLDER="${YARN_INLINED_FOLDER}"
    YARN_INLINED_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}/inlined.cc")
  add_dependencies(yarn_inlined inlined)
  yarn_test(NAME test_lines SOURCES test_lines.c LINKS yarn_analysis yarn_inlined)
  yarn_test(NAME test_load_lines SOURCES test_load_lines.c loaded.c
            LINKS yarn_fold yarn_dump_maker yarn_inlined)
endif()
