# SPDX-License-Identifier: Apache-2.0
# HerdFlags: how every target is compiled. One interface target, `herd_flags`; presets set the options.
option(HERD_WERROR "Warnings are errors" OFF)
option(HERD_HARDEN "Hardening flags and link-time optimisation" OFF)
option(HERD_COVERAGE "Instrument for gcov" OFF)
option(HERD_FUZZ "Build the libFuzzer targets" OFF)
set(HERD_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(herd_flags INTERFACE)
target_link_libraries(herd_flags INTERFACE m)
target_compile_definitions(herd_flags INTERFACE _GNU_SOURCE HERD_VERSION="${PROJECT_VERSION}")
target_compile_options(herd_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual
  -Wformat=2 -Wundef -Wvla -Wwrite-strings -fno-common -fno-strict-aliasing)
if(HERD_WERROR)
  target_compile_options(herd_flags INTERFACE -Werror)
endif()
if(HERD_SANITIZE)
  # gcc's instrumentation makes this one warn of what it does not warn of in the release build.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(herd_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_compile_options(herd_flags INTERFACE
    -O1 -g -fsanitize=${HERD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(herd_flags INTERFACE -fsanitize=${HERD_SANITIZE})
  # Over two hundred test programs are linked; gold takes a sixth of ld's time for each.
  find_program(HERD_GOLD ld.gold)
  if(HERD_GOLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU") # it warns of symbols of clang's sanitizers
    target_link_options(herd_flags INTERFACE -fuse-ld=gold)
  endif()
endif()
# What such a build needs of the system beside the program's own: webhook/syscalls.def.
if(HERD_SANITIZE OR HERD_COVERAGE OR HERD_FUZZ)
  target_compile_definitions(herd_flags INTERFACE HERD_INSTRUMENTED)
endif()
if(HERD_FUZZ)
  target_compile_options(herd_flags INTERFACE -fsanitize=fuzzer-no-link -fsanitize-coverage=trace-pc)
endif()
if(HERD_COVERAGE)
  target_compile_options(herd_flags INTERFACE --coverage -O0 -g)
  target_link_options(herd_flags INTERFACE --coverage)
endif()
if(HERD_HARDEN)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  target_compile_options(herd_flags INTERFACE
    -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3)
  # The processor's own protection of returns and jumps. Debian's start files lack its mark, and a linker drops the mark
  # that one file lacks; that of returns holds for them too, and is said to the linker.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(herd_flags INTERFACE -fcf-protection=full)
    target_link_options(herd_flags INTERFACE -Wl,-z,shstk)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    target_compile_options(herd_flags INTERFACE -mbranch-protection=standard)
  endif()
  # The same bytes wherever the sources lie: __FILE__ says shared/io/tls.c.
  target_compile_options(herd_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  target_link_options(herd_flags INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
