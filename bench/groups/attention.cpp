// What attention of f32 reaches, compiled and on one thread (or THUNDER_NUM_THREADS), beside what one thread can do:
// multiply-adds in registers, or for a single query the time to read keys and values. Of causal attention only the
// products of queries with the keys that they see are counted.
#include "peak.h"

#include <string>

using namespace bench;

namespace {

struct Shape {
  int64_t heads, queries, keys, width;
  bool causal;
};

thunder_status* attend(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto& shape = *static_cast<const Shape*>(user);
  thunder_any dropout{};
  dropout.kind = THUNDER_FLOAT;
  thunder_tensor* x[4];
  for (size_t i = 0; i < 3; i++) x[i] = thunder_values_tensor(in, i);
  thunder_tensor* y = op(s, "scaled_dot_product_attention", {any(x[0]), any(x[1]), any(x[2]), none(), dropout, flag(shape.causal)});
  if (thunder_values_count(in) == 3) return thunder_values_push_tensor(out, y), nullptr;
  thunder_tensor* loss = op(s, "sum", {any(op(s, "mul", {any(y), any(thunder_values_tensor(in, 3))}))});
  thunder_values* grads = thunder_scope_grad(s, loss, thunder_scope_list(s, x, 3));
  for (size_t i = 0; i < 3; i++) thunder_values_push_tensor(out, thunder_values_tensor(grads, i));
  return nullptr;
}

void time_one(thunder_context* c, const Shape& shape, bool backward) {
  Shape own = shape;
  const std::vector<int64_t> q = {1, shape.heads, shape.queries, shape.width}, k = {1, shape.heads, shape.keys, shape.width};
  thunder_tensor* in[4] = {floats(c, q, -0.03f), floats(c, k, -0.03f), floats(c, k, -0.02f), floats(c, q, -0.03f)};
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  check(thunder_function_create(c, "attend", attend, &own, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  const auto pairs = static_cast<double>(shape.causal ? shape.queries * (shape.queries + 1) / 2 : shape.queries * shape.keys);
  // Two products of matrices forward, five backward.
  const double flops = (backward ? 7 : 2) * 2.0 * static_cast<double>(shape.heads * shape.width) * pairs;
  const size_t n_in = backward ? 4 : 3, n_out = backward ? 3 : 1;
  const int calls = static_cast<int>(std::clamp(2e7 / flops * 40, 1.0, 2000.0));
  // Keys and values.
  const Reading read(static_cast<size_t>(2 * shape.heads * shape.keys * shape.width) * sizeof(float));
  const auto limit = [&](int times) { return std::max(fma_ns(times * flops), shape.queries == 1 ? read.ns(times) : 0); };
  const auto call = [&] {
    thunder_tensor* out[3] = {};
    check(thunder_compiled_call_tensors(compiled, in, n_in, out, n_out));
    for (size_t i = 0; i < n_out; i++) thunder_tensor_release(out[i]);
  };
  const Beside found = beside(15, calls, call, limit);
  const std::string name = "attention: H" + std::to_string(shape.heads) + " T" + std::to_string(shape.queries) +
                           (shape.keys != shape.queries ? " of " + std::to_string(shape.keys) : "") + " D" + std::to_string(shape.width) +
                           (shape.causal ? " causal" : "") + " f32" + (backward ? ", forward and backward" : "");
  limit_row(name.c_str(), "GFLOP/s", flops / found.limit_ns);
  row(name.c_str(), "GFLOP/s", flops / found.ns);
  for (thunder_tensor* t : in) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

}  // namespace

int main() {
  setenv("THUNDER_NUM_THREADS", "1", 0);
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  const Shape shapes[] = {{12, 1024, 1024, 64, true}, {12, 1024, 1024, 64, false}, {12, 128, 128, 64, true}};
  for (const Shape& s : shapes)
    for (bool backward : {false, true}) time_one(c, s, backward);
  time_one(c, {12, 1, 1024, 64, false}, false);
  thunder_context_release(c);
}
