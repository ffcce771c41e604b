# What is built for use, and the relocatable archive of it:
#   cmake --build --preset default --target package

# All targets below a folder.
function(tutti_targets_below folder variable)
  get_directory_property(found DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
  get_directory_property(subfolders DIRECTORY ${folder} SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    tutti_targets_below(${subfolder} below)
    list(APPEND found ${below})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Target "runtime": all but the tests, so that a first run does not wait for them.
#
# Modules and programs find bundled libraries by RPATH, not RUNPATH: only the former also holds for
# the libraries that those need in turn.
add_custom_target(runtime)
tutti_targets_below(${CMAKE_SOURCE_DIR} targets)
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  get_target_property(folder ${target} RUNTIME_OUTPUT_DIRECTORY)
  if(NOT type MATCHES "^(EXECUTABLE|MODULE_LIBRARY|SHARED_LIBRARY)$"
     OR folder STREQUAL "${CMAKE_BINARY_DIR}/tests")
    continue()
  endif()
  add_dependencies(runtime ${target})
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()

# Libraries that a GPU node may lack and that have no static form are copied beside the backends.
# Those of the system, of MPI and of the driver must be the machine's own.
install(CODE [[
  set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  file(GLOB_RECURSE modules "${root}/lib/tutti/backends/*.so")
  file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES "${root}/bin/tutti" "${root}/lib/tutti/tutti-worker"
    LIBRARIES "${root}/lib/tutti/libtutti_worker.so"
    MODULES ${modules}
    RESOLVED_DEPENDENCIES_VAR found
    UNRESOLVED_DEPENDENCIES_VAR absent
    CONFLICTING_DEPENDENCIES_PREFIX conflicts
    PRE_EXCLUDE_REGEXES
      "^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|linux-vdso)\\.so"
      "^lib(gcc_s|stdc\\+\\+|asan|tsan|ubsan|python3.*)\\.so"
      "^libmpi" "^libopen-" "^libcuda" "^libnvidia" "^libnccl" "^libtutti_")
  if(absent)
    message(FATAL_ERROR "Not found, and needed by a backend: ${absent}. "
                        "Install what provides them, and build again.")
  endif()
  foreach(library ${found})
    file(INSTALL ${library} FOLLOW_SYMLINK_CHAIN
         DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/tutti/third_party")
  endforeach()
]])
foreach(text README.md LICENSE)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${text})
    install(FILES ${text} DESTINATION share/tutti)
  endif()
endforeach()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME tutti-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
