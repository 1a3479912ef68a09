// How a node becomes a kernel: a rule for each op, by name.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/device.h"
#include "executors/executor.h"

namespace thunder::cuda_kernels {

// A node's compiled kernel. Tensors of its launches are of the node's types, and dense unless its rule says otherwise.
struct CompiledNode {
  const Node& node;
  nvidia::CudaDevice& device;
  static constexpr size_t kMostSteps = 12;
  std::array<nvidia::Function, kMostSteps> steps = {};  // the rule's functions: `kernel`, then the others
  nvidia::DeviceAssertion* assertion = nullptr;  // where it reports indices out of range; null: it checks none

  // The launch has one thread for each unit of work, or one block of 256 threads.
  Status* launch(int64_t work, bool by_block, void** parameters, size_t step = 0) const;
  // Copies an input to a result, which the kernel then updates.
  Status* copy(const Buffer& from, const Buffer& to) const;
};

struct Rule {
  std::string_view op;
  // Conditions besides those for every node (tensors on one device, known sizes). Null: none.
  bool (*takes)(const NodeView&) = nullptr;
  // CUDA C++ of a function called `kernel`; it follows the types that types() declares for the DType of `element`.
  // Null: it only copies.
  const char* text = nullptr;
  DType (*element)(const NodeView&) = nullptr;
  // Texts for error messages, by the number of a bounds check: what the index is out of range for, such as "dim 1 of
  // size 3". Null: the kernel checks no indices.
  std::vector<std::string> (*checked)(const NodeView&) = nullptr;
  Status* (*run)(const CompiledNode&, const Launch&) = nullptr;
  uint32_t flags = 0;  // kStrided: it takes inputs of any strides, and updates a result in the input's memory
  size_t (*scratch)(const NodeView&) = nullptr;  // bytes of Launch::scratch; null: none
  // Further functions of the text, which are step 1 and so on.
  std::array<const char*, CompiledNode::kMostSteps - 1> others = {};
  // The error message of a kernel that refuses something other than an index.
  std::string (*refused)(const NodeView&) = nullptr;
  // Declarations that stand before the text. Null: none.
  std::string (*constants)(const NodeView&) = nullptr;
};

// A file of rules/ defines FILE_rules; nothing else has to name it.
using Rules = std::span<const Rule>;
#define THUNDER_CUDA_RULES(file) extern const Rules file##_rules;
#include "executors/cuda/rules.inc"
#undef THUNDER_CUDA_RULES

// The sizes of a dense tensor as [outer, size, inner] around one of its dims.
struct DimSizes {
  int64_t outer = 1, size = 1, inner = 1;
};
DimSizes split_sizes_at(const Buffer& b, int64_t axis);

DType first_input_dtype(const NodeView& view);
DType first_result_dtype(const NodeView& view);
int64_t elements_of_input(const NodeView& view, size_t arg);
std::string describe_dim_size(size_t dim, Dim size);

}  // namespace thunder::cuda_kernels
