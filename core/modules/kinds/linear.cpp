// Linear, Bilinear, Embedding and EmbeddingBag: a table of weights, multiplied with or looked up in.
#include <cmath>

#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void linear_init(ModuleInit& m) {
  const int64_t in = m.module.integer("in_features"), out = m.module.integer("out_features");
  m.require(in >= 0 && out >= 0, "in_features and out_features must not be negative, got ", in, " and ", out);
  const double bound = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  m.uniform("weight", {out, in}, bound);
  if (m.module.flag("bias")) m.uniform("bias", {out}, bound);
}
void linear(ModuleCall& c) {
  c.give(c.op("linear", {c.input(), c.tensor("weight"), c.tensor("bias")}));
}

// The row that stands for padding starts as zeros and gets no gradient.
int64_t padding_row(const ModuleInit& m, int64_t rows) {
  const Leaf& given = m.module.option("padding_idx");
  if (given.kind == ArgKind::none) return -1;
  m.require(given.i >= -rows && given.i < rows, "padding_idx must lie in [", -rows, ", ", rows, "), got ", given.i);
  return given.i < 0 ? given.i + rows : given.i;
}

void embedding_init(ModuleInit& m) {
  const int64_t rows = m.module.integer("num_embeddings"), width = m.module.integer("embedding_dim");
  m.require(rows >= 0 && width >= 0, "num_embeddings and embedding_dim must not be negative, got ", rows, " and ",
            width);
  const int64_t padding = padding_row(m, rows);
  m.normal("weight", {rows, width});
  if (padding < 0) return;
  auto* weight = reinterpret_cast<float*>(m.module.find_tensor("weight")->tensor->data());
  std::fill_n(weight + padding * width, width, 0.0f);
}
void embedding(ModuleCall& c) {
  c.give(c.op("embedding", {c.input(), c.tensor("weight"), c.module.option("padding_idx")}));
}

void bilinear_init(ModuleInit& m) {
  const int64_t first = m.module.integer("in1_features"), second = m.module.integer("in2_features"),
                out = m.module.integer("out_features");
  m.require(first > 0 && second >= 0 && out >= 0, "in1_features must be positive, the others not negative, got ",
            first, ", ", second, " and ", out);
  const double bound = 1 / std::sqrt(static_cast<double>(first));
  m.uniform("weight", {out, first, second}, bound);
  if (m.module.flag("bias")) m.uniform("bias", {out}, bound);
}

void embedding_bag_init(ModuleInit& m) {
  const int64_t rows = m.module.integer("num_embeddings"), width = m.module.integer("embedding_dim");
  m.require(rows >= 0 && width >= 0, "num_embeddings and embedding_dim must not be negative, got ", rows, " and ",
            width);
  const std::string& mode = m.module.option("mode").text;
  m.require(mode == "sum" || mode == "mean" || mode == "max", "mode must be 'sum', 'mean' or 'max', got '", mode, "'");
  m.normal("weight", {rows, width});
}

constexpr ModuleRow kRows[] = {
    {.schema = "Linear(int in_features, int out_features, bool bias=True) -> tensor",
     .doc = "input @ weight.T + bias; weight is [out_features, in_features].",
     .init = linear_init,
     .forward = linear},
    {.schema = "Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None) -> tensor",
     .doc = "The rows of weight, [num_embeddings, embedding_dim], that the input's integers name.",
     .init = embedding_init,
     .forward = embedding},
    {.schema = "Bilinear(int in1_features, int in2_features, int out_features, bool bias=True) -> tensor",
     .doc = "input1 @ weight[k] @ input2 + bias[k] for each k; weight is [out_features, in1_features, in2_features].",
     .inputs = "forward(tensor input1, tensor input2) -> tensor",
     .init = bilinear_init,
     .op = "bilinear"},
    {.schema = "EmbeddingBag(int num_embeddings, int embedding_dim, str mode='mean') -> tensor",
     .doc = "The sum, mean or maximum of the rows of weight that each bag names: a row of the input, or what lies from "
            "one of offsets to the next.",
     .inputs = "forward(tensor input, tensor? offsets=None, tensor? per_sample_weights=None) -> tensor",
     .init = embedding_bag_init,
     .op = "embedding_bag"},
};

}  // namespace

void register_linear(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
