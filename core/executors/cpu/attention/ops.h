// Kernels of attention: the forward, the forward for few queries, and the backward.
#pragma once

#include "executors/cpu/attention/shape.h"
#include "executors/cpu/attention/softmax.h"
#include "executors/cpu/table_executor.h"

namespace thunder {

// The kernels for the processor at hand.
struct AttentionKernels {
  const ProductKernels* products = nullptr;
  const SoftmaxKernels* softmax = nullptr;
  const Machine* machine = nullptr;

  // Uses the fastest kernel that takes these operands.
  void multiply(const Product& p) const;
  // How many tasks may run at the same time: one for each thread, but fewer if a task would cost less than a thread.
  int64_t choose_slot_count(const AttentionShape& g) const;
};

// The sizes of a block of keys and of queries, which stays in the L2 cache.
constexpr int64_t kKeys = 128, kQueries = 128;
// With at most this many queries a head, the time is bound by reading the keys.
constexpr int64_t kFewQueries = 4;

KernelPtr prepare_forward(const AttentionKernels& kernels, const AttentionShape& shape);
KernelPtr prepare_few_queries(const AttentionKernels& kernels, const AttentionShape& shape);
KernelPtr prepare_backward(const AttentionKernels& kernels, const AttentionShape& shape);
// Any of these for other sizes of a class.
std::unique_ptr<const KernelOfClass> attention_of_class(const AttentionKernels& kernels, const Node& line);

}  // namespace thunder
