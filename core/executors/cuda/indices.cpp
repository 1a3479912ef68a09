#include "executors/cuda/indices.h"

namespace thunder::cuda_kernels {

Indices make_indices(std::span<const Buffer> tensors, const Buffer& whole, size_t dim, bool from_end) {
  Indices x{};
  x.n = static_cast<int64_t>(tensors.size()), x.wide = tensors[0].dtype == DType::i64, x.from_end = from_end;
  for (size_t k = 0; k < tensors.size(); k++)
    x.at[k] = tensors[k].data, x.sizes[k] = whole.shape[dim + k], x.steps[k] = whole.strides[dim + k];
  return x;
}

std::vector<std::string> describe_arg_dim(const NodeView& view) {
  const Shape& shape = view.store.type(view.node.args[0].v).shape;
  const size_t dim = normalize_axis(view.node.args[1].i, shape.size());
  return {describe_dim_size(dim, shape[dim])};
}

Status* empty_dim_error(const CompiledNode& kernel, size_t dim) {
  return make<Status>(Code::out_of_range,
                      cat(kernel.node.op->name(), ": an index is out of range for dim ", dim, " of size 0"))
      .detach();
}

std::vector<std::string> describe_indexed_dims(const NodeView& view) {
  const Shape& shape = view.store.type(view.node.args[0].v).shape;
  std::vector<std::string> dims;
  for (size_t k = 0; k < view.node.args[1].value_list().size(); k++) dims.push_back(describe_dim_size(k, shape[k]));
  return dims;
}

bool takes_index(const NodeView& view) { return view.node.args[1].value_list().size() <= kMostIndices; }
bool adds_numbers(const NodeView& view) { return first_input_dtype(view) != DType::boolean; }
bool adds_in_any_order(DType d) { return is_integer(d) && size_of(d) >= sizeof(uint32_t); }

}  // namespace thunder::cuda_kernels
