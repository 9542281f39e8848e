# SPDX-License-Identifier: Apache-2.0
#
# Files as arrays of bytes in one C file; no tool but CMake is needed:
#   cmake -DOUT=assets.c -DASSETS=template=page.html,script=a.js+b.js -DFROM=folder -P embed.cmake
set(text "/* SPDX-License-Identifier: Apache-2.0 */\n#include \"output/export/page/assets.h\"\n")
string(REPLACE "," ";" ASSETS "${ASSETS}")
foreach(asset IN LISTS ASSETS)
  string(REPLACE "=" ";" pair "${asset}")
  list(GET pair 0 name)
  list(GET pair 1 files)
  string(REPLACE "+" ";" files "${files}")
  set(hex "")
  foreach(file IN LISTS files)
    file(READ "${FROM}/${file}" content HEX)
    string(APPEND hex "${content}")
  endforeach()
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
  string(APPEND text "\nstatic const unsigned char ${name}_bytes[] = {\n${hex}\n};\n"
    "const struct yarn_page_asset yarn_page_${name} = {${name}_bytes, ${size}};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
