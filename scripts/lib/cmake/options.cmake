# SPDX-License-Identifier: Apache-2.0
include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h YARN_HAS_GLIBC)
if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" OR
   NOT YARN_HAS_GLIBC)
  message(FATAL_ERROR "yarn runs on x86-64 Linux with glibc, not on ${CMAKE_SYSTEM_NAME} "
                      "${CMAKE_SYSTEM_PROCESSOR} with another C library or kernel")
endif()
set(YARN_ARCH x86_64) # files named by it are the seams for another

option(YARN_BUILD_TESTS "Build the unit tests, the hosts and the fuzz targets" ON)
option(YARN_WERROR "Warnings are errors: for developers and CI; a newer compiler warns of more" OFF)
option(YARN_FUZZ "Build the fuzz targets as libFuzzer programs (clang)" OFF)
set(YARN_SANITIZE "" CACHE STRING "Sanitizers of the build: address,undefined or thread")
set(YARN_LIBUNWIND_SOURCE "" CACHE PATH
    "libunwind's source: the unpacked folder or the .tar.gz (libunwind 1.6.2 or later)")
set(YARN_LIBUNWIND_BUILT "" CACHE PATH "_deps/libunwind-build of another build folder: it is not built again")

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
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -fno-common)
if(YARN_WERROR)
  add_compile_options(-Werror)
endif()

if(YARN_SANITIZE)
  add_compile_options(-fsanitize=${YARN_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${YARN_SANITIZE})
else() # of a shared library; clang's sanitizers leave it to the program to have their functions
  set(YARN_ALL_DEFINED -Wl,-z,defs)
endif()
if(YARN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
