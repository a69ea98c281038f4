# SPDX-License-Identifier: Apache-2.0
# HerdLayers: one folder is one target, and its link line is the rule of what it may use.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
foreach(package libmicrohttpd gnutls libcurl libcjson yaml-0.1 libpcre2-8 sqlite3 openssl zlib libseccomp)
  string(MAKE_C_IDENTIFIER ${package} name)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${package})
endforeach()

# herd_layer(FOLDER USES folder... PRIVATE package...): the static library of a folder of shared/; that of stack/plan is
# herd_stack_plan. Its include directory holds that folder alone, so what it does not use does not compile.
function(herd_layer folder)
  cmake_parse_arguments(LAYER "" "" "USES;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(headers ${PROJECT_BINARY_DIR}/include/${name})
  cmake_path(GET folder PARENT_PATH above)
  file(MAKE_DIRECTORY ${headers}/${above})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${headers}/${folder} SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  add_library(herd_${name} STATIC ${sources})
  target_include_directories(herd_${name} PUBLIC ${headers})
  target_link_libraries(herd_${name} PUBLIC herd_flags PRIVATE ${LAYER_PRIVATE})
  foreach(used ${LAYER_USES})
    string(REPLACE "/" "_" used ${used})
    target_link_libraries(herd_${name} PUBLIC herd_${used})
  endforeach()
endfunction()

# herd_program(NAME LAYER layer USES layer... PRIVATE package...): main.c of this folder as a program in
# build/<preset>/bin, and all else of the folder as the library `herd_<layer>`, so that tests reach it.
function(herd_program name)
  cmake_parse_arguments(PROGRAM "" "LAYER" "USES;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/main.c)
  add_library(herd_${PROGRAM_LAYER} STATIC ${sources})
  target_include_directories(herd_${PROGRAM_LAYER} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(herd_${PROGRAM_LAYER} PUBLIC herd_flags PRIVATE ${PROGRAM_PRIVATE})
  foreach(used ${PROGRAM_USES})
    target_link_libraries(herd_${PROGRAM_LAYER} PUBLIC herd_${used})
  endforeach()
  add_executable(${name} main.c)
  target_link_libraries(${name} PRIVATE herd_${PROGRAM_LAYER} ${PROGRAM_PRIVATE})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
