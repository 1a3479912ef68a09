// Embedding and EmbeddingBag: rows of a table of weights.
#include <algorithm>

#include "base/text.h"
#include "modules/inputs.h"
#include "modules/tensor_parallel.h"

namespace thunder {
namespace {

// The row that stands for padding starts as zeros and gets no gradient.
int64_t padding_row(const ModuleInit& m, int64_t rows) {
  const Leaf& given = m.module.option("padding_idx");
  if (given.kind == ArgKind::none) return -1;
  m.require(given.i >= -rows && given.i < rows, "padding_idx must lie in [", -rows, ", ", rows, "), got ", given.i);
  return given.i < 0 ? given.i + rows : given.i;
}

void clear_row(const ModuleInit& m, int64_t row, int64_t width) {
  if (row < 0) return;
  auto* weight = reinterpret_cast<float*>(m.module.find_tensor("weight")->tensor->data());
  std::fill_n(weight + row * width, width, 0.0f);
}
// Refuses values other than the default for options that are not supported.
void check_dense(const ModuleInit& m) {
  for (std::string_view option : {"scale_grad_by_freq", "sparse"})
    m.require(!m.module.flag(option), option, " can only be False: gradients are dense, and those of rows are sums");
  const Leaf& most = m.module.option("max_norm");
  m.require(most.kind == ArgKind::none || most.f >= 0, "max_norm must not be negative, got ", most.f);
}
// The weight, whose rows that the input names are scaled down to max_norm before, in the module itself. As in PyTorch
// the gradient is that by the scaled rows.
Tensor* apply_max_norm(const ModuleCall& c, Tensor* input) {
  Tensor* weight = c.tensor("weight");
  const Leaf& most = c.module.option("max_norm");
  if (most.kind == ArgKind::none) return weight;
  Tensor *index = c.op("reshape", {input, std::vector<int64_t>{-1}}), *now = c.op("detach", {weight});
  Tensor* rows = c.op("index_select", {now, 0, index});
  Tensor* change = c.op("sub", {c.op("renorm", {rows, c.module.real("norm_type"), 0, most.f}), rows});
  return c.op("add_", {weight, c.op("index_copy", {c.op("zeros_like", {now}), 0, index, change})});
}

void embedding_init(ModuleInit& m) {
  const int64_t rows = m.module.integer("num_embeddings"), width = m.module.integer("embedding_dim");
  m.require(rows >= 0 && width >= 0, "num_embeddings and embedding_dim must not be negative, got ", rows, " and ",
            width);
  check_dense(m);
  const int64_t padding = padding_row(m, rows);
  m.normal("weight", {rows, width});
  clear_row(m, padding, width);
}
void embedding(ModuleCall& c) {
  if (const Sharding* const how = tensor_parallel(c.module, "weight")) {
    for (std::string_view option : {"padding_idx", "max_norm"})
      require(c.module.option(option).kind == ArgKind::none, "Embedding: ", option,
              " is of a whole table, and the ranks of axis '", how->axis, "' have parts of it");
    return c.give(c.op("vocab_parallel_embedding", {c.input(), c.tensor("weight"), std::string_view(how->axis)}));
  }
  c.give(c.op("embedding", {c.input(), apply_max_norm(c, c.input()), c.module.option("padding_idx")}));
}

void embedding_bag_init(ModuleInit& m) {
  const std::string& mode = m.module.option("mode").text;
  m.require(mode == "sum" || mode == "mean" || mode == "max", "mode must be 'sum', 'mean' or 'max', got '", mode, "'");
  embedding_init(m);
}
void embedding_bag(ModuleCall& c) {
  const ModuleInputs in(c);
  const Any args[] = {in.any("input"),
                      Any::tensor(apply_max_norm(c, in.tensor("input"))),
                      in.any("offsets"),
                      OpArg(c.module.option("mode")),
                      in.any("per_sample_weights"),
                      OpArg(c.module.option("include_last_offset")),
                      OpArg(c.module.option("padding_idx"))};
  c.give(c.op("embedding_bag", args, nullptr));
}

constexpr ModuleRow kRows[] = {
    layer("Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, float? max_norm=None, float "
          "norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> tensor",
          "The rows of weight, [num_embeddings, embedding_dim], that the input's integers name; those of a greater "
          "norm are scaled down to max_norm before, in the weight.",
          embedding, embedding_init),
    layer("EmbeddingBag(int num_embeddings, int embedding_dim, float? max_norm=None, float norm_type=2.0, bool "
          "scale_grad_by_freq=False, str mode='mean', bool sparse=False, bool include_last_offset=False, int? "
          "padding_idx=None) -> tensor",
          "The sum, mean or maximum of the rows of weight that each bag names: a row of the input, or what lies from "
          "one of offsets to the next.",
          embedding_bag, embedding_bag_init,
          "forward(tensor input, tensor? offsets=None, tensor? per_sample_weights=None) -> tensor"),
};

}  // namespace

extern const ModuleRows embedding_kinds = kRows;

}  // namespace thunder
