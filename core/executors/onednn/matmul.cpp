// prims.matmul and linear as batched products of matrices. Their strides come with each call.
#include "executors/onednn/gemm.h"
#include "executors/onednn/site.h"

namespace thunder {
namespace {

// The matrix in the last two axes.
Matrix matrix(const Buffer& b) { return {b.as<float>(), b.strides[b.rank - 2], b.strides[b.rank - 1]}; }

struct Matmul : Site {
  explicit Matmul(const Library& l) : library(l) {}
  const Library& library;

  Status* run(const Launch* launch) const override {
    const Buffer &a = launch->inputs[0], &b = launch->inputs[1], &c = launch->outputs[0];
    const int32_t r = c.rank;
    BatchedProduct p;
    p.each.m = c.shape[r - 2], p.each.n = c.shape[r - 1], p.each.k = a.shape[r - 1];
    p.each.a = matrix(a), p.each.b = matrix(b);
    p.each.c = c.as<float>(), p.each.c_row = c.strides[r - 2];
    for (int32_t i = 0; i < r - 2; i++) p.batch[p.rank++] = {c.shape[i], a.strides[i], b.strides[i], c.strides[i]};
    return run_products(library, launch, p);
  }
};

// x[..., k] with weight [n, k] or [k]: every axis of x but the last counts rows.
struct Linear : Site {
  explicit Linear(const Library& l) : library(l) {}
  const Library& library;

  Status* run(const Launch* launch) const override {
    const Buffer &x = launch->inputs[0], &w = launch->inputs[1], &bias = launch->inputs[2], &y = launch->outputs[0];
    const bool column = w.rank == 1;
    BatchedProduct p;
    p.each.m = 1, p.each.n = column ? 1 : w.shape[0], p.each.k = w.shape[w.rank - 1];
    p.each.a = {x.as<float>(), p.each.k, x.strides[x.rank - 1]};
    p.each.b = {w.as<float>(), w.strides[w.rank - 1], column ? p.each.k : w.strides[0]};
    p.each.c = y.as<float>(), p.each.c_row = p.each.n;
    if (bias.present()) p.bias = bias.as<float>();
    p.bias_step = bias.present() && bias.rank && p.each.n > 1 ? bias.strides[0] : 0;
    for (int32_t i = 0; i < x.rank - 1; i++) p.batch[p.rank++] = {x.shape[i], x.strides[i], 0, y.strides[i]};
    return run_products(library, launch, p);
  }
};

}  // namespace

std::unique_ptr<Site> matmul_site(const Library& library, const NodeView&, size_t*) { return std::make_unique<Matmul>(library); }
std::unique_ptr<Site> linear_site(const Library& library, const NodeView&, size_t*) { return std::make_unique<Linear>(library); }

}  // namespace thunder
