// Attention of one query a head, in kernels of the library's own.
#pragma once

#include "executors/executor.h"

namespace thunder::cuda_kernels {

// Whether the node is such attention, of f32, f16 or bf16, and its sizes suit the kernels. What it asks of symbols is
// noted (ir/dim_reads.h).
bool is_one_query(const NodeView& view);
// Whether it then takes less time than cuDNN: few rows, few keys, and a boolean mask, which cuDNN is given as a bias.
// Measured on an H200 with 1 and 8 batches of 32 heads of 64 and 128 columns, 4 to 32 of them with keys.
bool is_faster_than_library(const NodeView& view);

}  // namespace thunder::cuda_kernels
