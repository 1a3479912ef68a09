// The safetensors format: named tensors and text metadata in one file, loadable without trusting who wrote it.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "tensor/tensor.h"

namespace thunder {

struct NamedTensor {
  std::string name;
  Ref<Tensor> tensor;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct SafeTensors {
  std::vector<NamedTensor> tensors;  // in the header's order
  Metadata metadata;
};

// Throws data_lost for a file that is damaged or not of this format, unimplemented for a dtype that the library lacks.
// Tensors are copies on the CPU. Memory is bounded by a multiple of the file's size.
SafeTensors load_safetensors(const InputFile& file, const Allocator& allocator);
SafeTensors load_safetensors(const std::string& path, const Allocator& allocator);

// Sorted by item size, then name, so that every tensor is aligned in the file. The old file stays whole on failure.
void save_safetensors(const std::string& path, std::span<const NamedTensor> tensors, const Metadata& metadata);

}  // namespace thunder
