# SPDX-License-Identifier: Apache-2.0
# HerdEmbed: files that become part of a program.

# herd_embed(TARGET SYMBOL FILE): the bytes of FILE, of the present folder, as `const struct str SYMBOL`.
function(herd_embed target symbol file)
  set(from ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(to ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from})
  file(READ ${from} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${to} @ONLY CONTENT [=[
/* Made of @file@. */
#include "base/str.h"

static const unsigned char bytes[] = { @bytes@ };
extern const struct str @symbol@;
const struct str @symbol@ = { (const char *)bytes, sizeof(bytes) };
]=])
  target_sources(${target} PRIVATE ${to})
endfunction()
