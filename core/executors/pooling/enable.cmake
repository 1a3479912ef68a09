thunder_vector_kernels(${CMAKE_CURRENT_LIST_DIR}/maxima)
