// Kernels of our own that prepare matrices for the libraries' calls, and finish their results.
#pragma once

#include "device/cuda/device.h"
#include "ir/dtype.h"

namespace thunder::cusolver {

// The kernels for one element type. Matrices are dense and lie one behind the other, each with so many elements.
class MatrixKernels {
 public:
  static void begin_compiling(nvidia::CudaDevice& device, DType d);
  // Throws with the compiler's log.
  MatrixKernels(nvidia::CudaDevice& device, DType d);

  // [rows, columns] of each to [columns, rows].
  Status* transpose(const void* from, int64_t from_elements, void* to, int64_t to_elements, int64_t batch, int64_t rows,
                    int64_t columns) const;
  // Writes the address of each of `batch` matrices of so many elements.
  Status* fill_pointers(void* to, const void* first, int64_t batch, int64_t elements) const;
  // Zeros above the diagonals of [n, n].
  Status* zero_upper_triangles(void* matrices, int64_t batch, int64_t n) const;
  // The upper triangles of [columns, rows] of each, transposed, as [to_rows, columns].
  Status* copy_upper_triangles(const void* from, int64_t from_elements, void* to, int64_t batch, int64_t rows,
                               int64_t columns, int64_t to_rows) const;
  // The determinants of [n, n] of which these are the factors, or, if there are `logs`, their signs and the logarithms
  // of their absolute values.
  Status* determinants(const void* factors, const int* pivots, void* out, void* logs, int64_t batch, int64_t n) const;
  // Reports the first matrix whose info is not 0, with that.
  Status* check_info(const int* info, int64_t batch, nvidia::DeviceAssertion* assertion) const;
  // Reports a zero of a diagonal of [n, n], with its place.
  Status* check_diagonal(const void* matrices, int64_t batch, int64_t n, nvidia::DeviceAssertion* assertion) const;

 private:
  Status* launch(nvidia::Function function, int64_t work, void** parameters, const char* what) const;
  nvidia::CudaDevice& device_;
  nvidia::Function transpose_, pointers_, lower_, triangle_, determinants_, check_, check_diagonal_;
};

}  // namespace thunder::cusolver
