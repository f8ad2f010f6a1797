# oneDNN as the target DNNL::dnnl. Not find_package(dnnl): Debian's configuration file requires the OpenCL headers and links
# OpenCL, which we do not use. Read by our own build and, installed, by users of the library.
if(NOT TARGET DNNL::dnnl)
  find_path(DNNL_INCLUDE dnnl.h REQUIRED)
  find_library(DNNL_LIBRARY dnnl REQUIRED)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE})
endif()
