# What all folders share: where things go, flags, and the functions that make a backend or a test out of a folder.
include(GNUInstallDirs)

# The build tree has the layout of an installation: bin/tutti finds the rest relative to itself.
set(TUTTI_LIB_DIR ${CMAKE_BINARY_DIR}/lib/tutti)
set(TUTTI_SHARE_DIR ${CMAKE_BINARY_DIR}/share/tutti)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_INSTALL_RPATH "$ORIGIN:$ORIGIN/third_party:$ORIGIN/../lib/tutti:$ORIGIN/../lib/tutti/third_party")
file(MAKE_DIRECTORY ${TUTTI_LIB_DIR}/backends ${TUTTI_SHARE_DIR})

include_directories(${CMAKE_SOURCE_DIR})
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
# Data generation and kernels must not depend on contraction into fused multiply-adds.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
if(TUTTI_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TUTTI_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
endif()

set(TUTTI_HAVE_CUDA OFF)
if(NOT TUTTI_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES ${TUTTI_CUDA_ARCHITECTURES})
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(CMAKE_CUDA_STANDARD 20)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 knows nvcc, but not its C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    string(REPLACE "-DNDEBUG" "" CMAKE_CUDA_FLAGS_RELWITHDEBINFO "${CMAKE_CUDA_FLAGS_RELWITHDEBINFO}")
    find_package(CUDAToolkit REQUIRED)
    set(TUTTI_HAVE_CUDA ON)
  elseif(TUTTI_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TUTTI_CUDA=ON, but no CUDA compiler was found. Put nvcc on PATH or set CUDACXX.")
  endif()
endif()
message(STATUS "tutti: CUDA ${TUTTI_HAVE_CUDA}")

# Identity of a build: ranks of different builds refuse to run together.
find_package(Git QUIET)
set(TUTTI_REVISION "unknown")
if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE TUTTI_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

# tutti_add_headers(name headers... CODE options... [LIBRARIES libraries...]): large headers of libraries, compiled once for
# all targets that are compiled with the same options. Sources include what they use all the same;
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether they do.
function(tutti_add_headers name)
  cmake_parse_arguments(arg "" "" "CODE;LIBRARIES" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${arg_CODE})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# All sources of a folder, tests left out.
function(tutti_sources variable)
  file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER found EXCLUDE REGEX "_test\\.cc$")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# tutti_add_backend(name sources... [INTO folder] [LIBRARIES libraries...]): a plugin, with its claims beside it. What lies
# in lib/tutti/backends is run by default; anything else (INTO examples) only when it is named by its path.
function(tutti_add_backend name)
  cmake_parse_arguments(arg "" "INTO" "LIBRARIES" ${ARGN})
  if(NOT arg_INTO)
    set(arg_INTO backends)
  endif()
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} Threads::Threads)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TUTTI_LIB_DIR}/${arg_INTO}/${name}
                        INSTALL_RPATH "$ORIGIN:$ORIGIN/../../third_party")
  install(TARGETS ${name} LIBRARY DESTINATION lib/tutti/${arg_INTO}/${name})
  tutti_backend_files(${name} ${arg_INTO})
endfunction()

# tutti_backend_files(name [folder]): the files of a backend that are data: claims, expectations, scripts of its own worker.
function(tutti_backend_files name)
  set(into backends)
  if(ARGC GREATER 1)
    set(into ${ARGV1})
  endif()
  set(folder ${TUTTI_LIB_DIR}/${into}/${name})
  file(MAKE_DIRECTORY ${folder})
  file(GLOB data CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.toml ${CMAKE_CURRENT_SOURCE_DIR}/*.py)
  foreach(file ${data})
    get_filename_component(base ${file} NAME)
    file(CREATE_LINK ${file} ${folder}/${base} SYMBOLIC)
  endforeach()
  install(FILES ${data} DESTINATION lib/tutti/${into}/${name})
endfunction()

set(TUTTI_TEST_OPTIMIZATION $<IF:$<BOOL:${TUTTI_SANITIZE}>,-O0,-O1>)

# Sources are compiled several at a time for tests, and in the sanitizer presets for all: half the time. Not where each
# file registers something under the same names.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)

# tutti_add_test(name sources... [AS_SHIPPED] [LIBRARIES libraries...]): a GoogleTest program, one ctest entry. The bodies of
# tests are large and run once, so they are optimized little, which halves the time to compile them (not at all under
# sanitizers, whose checks are what costs there). AS_SHIPPED is for programs that compile the code under test themselves.
function(tutti_add_test name)
  cmake_parse_arguments(arg "AS_SHIPPED" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} rapidcheck GTest::gtest GTest::gtest_main fmt::fmt
                        nlohmann_json::nlohmann_json Threads::Threads)
  if(NOT arg_AS_SHIPPED)
    target_compile_options(${name} PRIVATE ${TUTTI_TEST_OPTIMIZATION})
    target_precompile_headers(${name} REUSE_FROM tutti_test_headers)
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
