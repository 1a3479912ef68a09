#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// Values are drawn from the context's random state; the attribute `seed` is not looked at.
DType dtype_of(Node& n, DType otherwise) {
  if (!n.has_attribute("dtype")) return otherwise;
  return n.element("dtype").dtype;
}

Tensor* scaled_normal(Node& n, Tensor* x) {
  return n.op("add", {n.op("mul", {x, n.real("scale", 1)}), n.real("mean", 0)});
}
void random_normal(Node& n) {
  n.give(scaled_normal(n, n.op("randn", {n.integers("shape"), dtype_of(n, DType::f32)})));
}
void random_normal_like(Node& n) {
  n.give(scaled_normal(n, n.op("randn_like", {n[0], dtype_of(n, n.dtype(0))})));
}
void random_uniform(Node& n) {
  n.give(n.op("uniform", {n.integers("shape"), n.real("low", 0), n.real("high", 1), dtype_of(n, DType::f32)}));
}
void random_uniform_like(Node& n) {
  n.give(n.op("uniform_like", {n[0], n.real("low", 0), n.real("high", 1), dtype_of(n, n.dtype(0))}));
}
void bernoulli(Node& n) {
  n.give(n.cast(n.op("bernoulli", {n[0]}), dtype_of(n, n.dtype(0))));
}
void multinomial(Node& n) {
  Tensor* drawn = n.op("multinomial", {n.op("softmax", {n[0], -1}), n.count_or("sample_size", 1), true});
  n.give(n.cast(drawn, dtype_of(n, DType::i32)));
}

constexpr ImportRow kRows[] = {
    {"RandomNormal", 1, kLatestOpset, random_normal},   {"RandomNormalLike", 1, kLatestOpset, random_normal_like},
    {"RandomUniform", 1, kLatestOpset, random_uniform}, {"RandomUniformLike", 1, kLatestOpset, random_uniform_like},
    {"Bernoulli", 15, kLatestOpset, bernoulli},         {"Multinomial", 7, kLatestOpset, multinomial},
};

}  // namespace

constinit const ImportTable random_rows = {"", kRows};

}  // namespace thunder::onnx
