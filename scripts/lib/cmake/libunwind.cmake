# SPDX-License-Identifier: Apache-2.0
#
# The target yarn_libunwind: libunwind's remote interface as a static, position-independent archive
# that we build ourselves. Debian's archive is not PIC, and its shared library exports _Unwind_*,
# which would take over the host's C++ exceptions.
#
# The source is YARN_LIBUNWIND_SOURCE (folder or tarball); where that is empty, the distribution's
# source package, fetched by scripts/lib/fetch-libunwind into the build folder.

set(YARN_LIBUNWIND_HINT
  "Run scripts/quickstart or scripts/lib/fetch-libunwind, or give -DYARN_LIBUNWIND_SOURCE=FOLDER.")

function(yarn_libunwind_locate ret_folder)
  set(fetched ${PROJECT_BINARY_DIR}/_deps/libunwind-src)
  if(NOT YARN_LIBUNWIND_SOURCE)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/lib/fetch-libunwind ${fetched}
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE why)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "yarn needs the source of libunwind (its second unwinder): ${why}"
                          "${YARN_LIBUNWIND_HINT}")
    endif()
    set(${ret_folder} ${fetched} PARENT_SCOPE)
  elseif(IS_DIRECTORY ${YARN_LIBUNWIND_SOURCE})
    set(${ret_folder} ${YARN_LIBUNWIND_SOURCE} PARENT_SCOPE)
  else()
    file(SHA1 ${YARN_LIBUNWIND_SOURCE} sum)
    set(unpacked ${PROJECT_BINARY_DIR}/_deps/libunwind-${sum})
    if(NOT EXISTS ${unpacked})
      file(ARCHIVE_EXTRACT INPUT ${YARN_LIBUNWIND_SOURCE} DESTINATION ${unpacked})
    endif()
    file(GLOB inside LIST_DIRECTORIES true ${unpacked}/*)
    list(GET inside 0 first)
    set(${ret_folder} ${first} PARENT_SCOPE)
  endif()
endfunction()

function(yarn_libunwind_check folder)
  if(NOT EXISTS ${folder}/configure OR NOT EXISTS ${folder}/include/libunwind-common.h.in)
    message(FATAL_ERROR "${folder} is not a released source of libunwind (it lacks configure or "
                        "include/libunwind-common.h.in). ${YARN_LIBUNWIND_HINT}")
  endif()
  file(STRINGS ${folder}/configure line REGEX "^PACKAGE_VERSION=" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)*" version "${line}")
  if(version VERSION_LESS 1.6.2)
    message(FATAL_ERROR "libunwind ${version} in ${folder} is too old: yarn needs 1.6.2 or later")
  endif()
  message(STATUS "libunwind ${version} from ${folder}")
endfunction()

yarn_libunwind_locate(YARN_LIBUNWIND_FOLDER)
get_filename_component(YARN_LIBUNWIND_FOLDER ${YARN_LIBUNWIND_FOLDER} ABSOLUTE)
yarn_libunwind_check(${YARN_LIBUNWIND_FOLDER})

find_program(YARN_MAKE NAMES make gmake)
if(NOT YARN_MAKE)
  message(FATAL_ERROR "yarn builds libunwind with make: install Debian's package make")
endif()

add_library(yarn_libunwind STATIC IMPORTED GLOBAL)
if(YARN_LIBUNWIND_BUILT)
  set(YARN_LIBUNWIND_BUILD ${YARN_LIBUNWIND_BUILT})
else()
  set(YARN_LIBUNWIND_BUILD ${PROJECT_BINARY_DIR}/_deps/libunwind-build)
  file(MAKE_DIRECTORY ${YARN_LIBUNWIND_BUILD}/include)
  add_custom_command(OUTPUT ${YARN_LIBUNWIND_BUILD}/libyarn_libunwind.a
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/lib/cmake/build-libunwind ${YARN_LIBUNWIND_FOLDER}
            ${YARN_LIBUNWIND_BUILD} ${YARN_ARCH} ${CMAKE_C_COMPILER} ${CMAKE_AR} ${CMAKE_OBJCOPY}
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/lib/cmake/build-libunwind ${YARN_LIBUNWIND_FOLDER}/configure
    COMMENT "Building libunwind" VERBATIM)
  add_custom_target(yarn_libunwind_build DEPENDS ${YARN_LIBUNWIND_BUILD}/libyarn_libunwind.a)
  add_dependencies(yarn_libunwind yarn_libunwind_build)
endif()

# Linked privately by yarn_unwind: the folder has a dwarf.h that must not hide elfutils' own.
set_target_properties(yarn_libunwind PROPERTIES
  IMPORTED_LOCATION ${YARN_LIBUNWIND_BUILD}/libyarn_libunwind.a
  INTERFACE_INCLUDE_DIRECTORIES ${YARN_LIBUNWIND_BUILD}/include)
