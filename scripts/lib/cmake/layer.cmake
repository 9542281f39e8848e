# SPDX-License-Identifier: Apache-2.0
#
# One folder, one static library, one layer:
#   yarn_layer(NAME yarn_event SOURCES … LINKS yarn_base yarn_sys)
# Each is position independent with hidden symbols, so that it can go into the preload.
function(yarn_layer)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  add_library(${arg_NAME} STATIC ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PUBLIC ${arg_LINKS})
  target_include_directories(${arg_NAME} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/core/include)
endfunction()

# A Check suite: yarn_test(NAME test_span SOURCES unit/core/base/test_span.c LINKS yarn_base)
function(yarn_test)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  if(NOT YARN_BUILD_TESTS)
    return()
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LINKS} yarn_check)
  # Check's macros are variadic with an empty tail, which -Wpedantic calls an extension.
  target_compile_options(${arg_NAME} PRIVATE -Wno-gnu-zero-variadic-macro-arguments)
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
endfunction()

# A fuzz target: one LLVMFuzzerTestOneInput. With clang and -DYARN_FUZZ=ON it is a libFuzzer
# program, whose test is a short search from the seeds (what it finds on its way goes into the
# build folder); otherwise it replays its seed corpus as a test. DICTIONARY: a command that prints
# words of what the target reads.
function(yarn_fuzz)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS;DICTIONARY" ${ARGN})
  if(NOT YARN_BUILD_TESTS)
    return()
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LINKS})
  set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${arg_NAME})
  if(YARN_FUZZ)
    target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.found)
    file(MAKE_DIRECTORY ${found})
    if(arg_DICTIONARY)
      set(words ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.dict)
      execute_process(COMMAND ${arg_DICTIONARY} OUTPUT_FILE ${words} COMMAND_ERROR_IS_FATAL ANY)
      list(APPEND found -dict=${words})
    endif()
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} -max_total_time=10 ${found} ${seeds})
  else()
    target_sources(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${seeds})
  endif()
endfunction()
