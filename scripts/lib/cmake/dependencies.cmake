# SPDX-License-Identifier: Apache-2.0
#
# What is not ours. Each missing one is a sentence that names its Debian package.

function(yarn_need_library variable name header package why)
  find_library(${variable} NAMES ${name})
  find_path(${variable}_INCLUDE NAMES ${header})
  if(NOT ${variable} OR NOT ${variable}_INCLUDE)
    message(FATAL_ERROR "yarn needs ${name} (${why}): install Debian's package ${package}")
  endif()
endfunction()

# The compressor of dumps; static, because nothing may follow the preload into the host.
yarn_need_library(YARN_ZSTD libzstd.a zstd.h libzstd-dev "compresses the dumps")
add_library(yarn_zstd STATIC IMPORTED)
set_target_properties(yarn_zstd PROPERTIES
  IMPORTED_LOCATION ${YARN_ZSTD}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${YARN_ZSTD_INCLUDE})

# Static for the same reason.
yarn_need_library(YARN_LZMA liblzma.a lzma.h liblzma-dev "unpacks symbols in .gnu_debugdata")
add_library(yarn_lzma STATIC IMPORTED)
set_target_properties(yarn_lzma PROPERTIES
  IMPORTED_LOCATION ${YARN_LZMA}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${YARN_LZMA_INCLUDE})

# Of the tool, which is an ordinary program.
yarn_need_library(YARN_YAJL yajl yajl/yajl_gen.h libyajl-dev "writes the JSON of yarnprof")
add_library(yarn_yajl INTERFACE)
target_include_directories(yarn_yajl SYSTEM INTERFACE ${YARN_YAJL_INCLUDE})
target_link_libraries(yarn_yajl INTERFACE ${YARN_YAJL})
yarn_need_library(YARN_IBERTY iberty libiberty/demangle.h libiberty-dev
                  "demangles names of C++, Rust and D")
add_library(yarn_demangle INTERFACE)
target_include_directories(yarn_demangle SYSTEM INTERFACE ${YARN_IBERTY_INCLUDE})
target_link_libraries(yarn_demangle INTERFACE ${YARN_IBERTY})
# Without it the tool knows the kernel's names only.
find_library(YARN_PFM NAMES pfm)
find_path(YARN_PFM_INCLUDE NAMES perfmon/pfmlib_perf_event.h)
if(NOT YARN_PFM OR NOT YARN_PFM_INCLUDE)
  set(YARN_PFM "" CACHE FILEPATH "" FORCE)
  message(STATUS "no libpfm4: yarnprof knows no names of a processor's own events (Debian's package libpfm4-dev)")
endif()
# Its headers alone: the library is loaded by the verb that needs it.
find_path(YARN_CURL_INCLUDE NAMES curl/curl.h)
if(NOT YARN_CURL_INCLUDE)
  message(FATAL_ERROR "yarn needs libcurl's headers (sends profiles to servers): install Debian's "
                      "package libcurl4-openssl-dev")
endif()
yarn_need_library(YARN_DW dw elfutils/libdwfl.h libdw-dev
                  "finds source lines and inlined functions")
yarn_need_library(YARN_ELF elf libelf.h libelf-dev "reads the files that libdw looks into")
add_library(yarn_dw INTERFACE)
target_include_directories(yarn_dw SYSTEM INTERFACE ${YARN_DW_INCLUDE})
target_link_libraries(yarn_dw INTERFACE ${YARN_DW} ${YARN_ELF})
yarn_need_library(YARN_Z z zlib.h zlib1g-dev "packs exports to pprof, unpacks trace.dat")
add_library(yarn_zlib INTERFACE)
target_include_directories(yarn_zlib SYSTEM INTERFACE ${YARN_Z_INCLUDE})
target_link_libraries(yarn_zlib INTERFACE ${YARN_Z})
yarn_need_library(YARN_SQLITE sqlite3 sqlite3.h libsqlite3-dev "writes exports to SQLite")
add_library(yarn_sqlite INTERFACE)
target_include_directories(yarn_sqlite SYSTEM INTERFACE ${YARN_SQLITE_INCLUDE})
target_link_libraries(yarn_sqlite INTERFACE ${YARN_SQLITE})

if(YARN_BUILD_TESTS)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(CHECK QUIET check)
  endif()
  if(NOT CHECK_FOUND)
    message(FATAL_ERROR "yarn's tests need Check: install Debian's packages check and pkg-config, "
                        "or configure with -DYARN_BUILD_TESTS=OFF")
  endif()
  find_package(Threads REQUIRED)
  add_library(yarn_check INTERFACE)
  target_include_directories(yarn_check SYSTEM INTERFACE ${CHECK_INCLUDE_DIRS})
  target_link_libraries(yarn_check INTERFACE ${CHECK_LIBRARIES} Threads::Threads)
endif()

include(scripts/lib/cmake/libunwind.cmake)
