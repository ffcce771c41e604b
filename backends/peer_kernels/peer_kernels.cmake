include_guard(GLOBAL)

# tutti_add_peer_kernel(name): the backend of name.cc and, with CUDA, name.cu, in the current folder; and the tests that all
# such backends share, over the same objects, since those are what takes long to compile.
function(tutti_add_peer_kernel name)
  set(shared ${CMAKE_SOURCE_DIR}/backends/peer_kernels)
  add_library(${name}_objects OBJECT ${name}.cc ${shared}/decide.cc)
  target_link_libraries(${name}_objects PRIVATE fmt::fmt)
  set(libraries fmt::fmt)
  if(TUTTI_HAVE_CUDA)
    target_sources(${name}_objects PRIVATE ${name}.cu ${shared}/capture.cu)
    target_compile_definitions(${name}_objects PRIVATE TUTTI_PEER_KERNELS_CUDA)
    # The arithmetic of the host: subnormals, division and the order of roundings are claimed.
    target_compile_options(${name}_objects PRIVATE
                           $<$<COMPILE_LANGUAGE:CUDA>:--ftz=false --prec-div=true --fmad=false>)
    list(APPEND libraries CUDA::cudart_static)
  endif()
  set(objects $<TARGET_OBJECTS:${name}_objects>)

  tutti_add_backend(${name} ${objects} LIBRARIES ${libraries})
  tutti_add_test(${name}_test ${objects} $<TARGET_OBJECTS:peer_kernels_test>
                 LIBRARIES tutti_host_device tutti_base ${libraries})
  if(TUTTI_HAVE_CUDA)
    tutti_add_test(${name}_cuda_test ${objects} $<TARGET_OBJECTS:peer_kernels_cuda_test>
                   LIBRARIES tutti_host_device tutti_base ${libraries})
    add_dependencies(${name}_cuda_test tutti_cuda)
  endif()
endfunction()
