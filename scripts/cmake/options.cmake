# SPDX-License-Identifier: Apache-2.0
option(YARN_BUILD_TESTS "Build the unit tests, the hosts and the fuzz targets" ON)
option(YARN_FUZZ "Build the fuzz targets as libFuzzer programs (clang)" OFF)
set(YARN_SANITIZE "" CACHE STRING "Sanitizers of the build: address,undefined or thread")
set(YARN_LIBUNWIND_SOURCE "" CACHE PATH
    "libunwind's source: the unpacked folder or the .tar.gz (libunwind 1.6.2 or later)")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fno-common)

if(YARN_SANITIZE)
  add_compile_options(-fsanitize=${YARN_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${YARN_SANITIZE})
endif()
if(YARN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
