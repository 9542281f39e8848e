# SPDX-License-Identifier: Apache-2.0
#
# What cpack makes of what is installed: a Debian package, which depends on the libraries that its
# programs link. scripts/package builds what belongs in one.
find_program(YARN_SHLIBDEPS dpkg-shlibdeps)
if(NOT YARN_SHLIBDEPS)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME yarnprof)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "yarn's maintainers <yarn@localhost>" CACHE STRING "Maintainer of the package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sampling profiler loaded by one environment variable")
set(CPACK_PACKAGE_DESCRIPTION
  "Profiles programs by LD_PRELOAD=libyarn_preload.so, without rebuilding them:
stacks of all threads and child processes, scheduling, counters. With yarnprof,
which shows and converts profiles, and libyarn, for programs that measure
themselves.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "binutils, libcurl4") # objdump, for annotate; for push
set(CPACK_MONOLITHIC_INSTALL ON)

include(GNUInstallDirs)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/yarnprof)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/yarnprof RENAME copyright)
include(CPack)
