// What matrix products and convolutions of f32, and products of bf16, reach, compiled and on one thread (or THUNDER_NUM_THREADS), beside what one
// thread can do: multiply-adds in registers, or for a single row the time to read the weight. Of what follows a product, GELU's
// instructions are counted among them.
#include "peak.h"

#include <bit>
#include <functional>
#include <memory>
#include <string>

using namespace bench;

namespace {

using Shape = std::vector<int64_t>;

// The op of the function that is compiled, and its arguments after the tensors.
struct Body {
  const char* op;
  std::vector<Shape> dims;
  int64_t groups = 0;  // 0: the op has none
  bool gelu = false;   // follows
  bool halves = false; // bf16 for f32
};

thunder_status* invoke(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto& body = *static_cast<const Body*>(user);
  std::vector<thunder_any> args;
  for (size_t i = 0; i < thunder_values_count(in); i++) args.push_back(any(thunder_values_tensor(in, i)));
  for (auto& d : body.dims) args.push_back(dims(d));
  if (body.groups) args.push_back(any(body.groups));
  thunder_tensor* y = thunder_op_invoke(s, body.op, args.data(), args.size(), nullptr, nullptr, 0, nullptr);
  thunder_values_push_tensor(out, body.gelu ? op(s, "gelu", {any(y)}) : y);
  return nullptr;
}

thunder_tensor* numbers(thunder_context* c, const Shape& shape, bool halves) {
  thunder_tensor* t = floats(c, shape, -0.03f);
  if (!halves) return t;
  std::vector<float> data(thunder_tensor_nbytes(t) / sizeof(float));
  check(thunder_tensor_read(t, data.data(), data.size() * sizeof(float)));
  thunder_tensor_release(t);
  std::vector<uint16_t> cut;  // the upper halves of f32
  for (float f : data) cut.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16));
  check(thunder_tensor_create(c, THUNDER_BF16, shape.size(), shape.data(), THUNDER_CPU, cut.data(), cut.size() * sizeof(uint16_t), &t));
  return t;
}

// ns that a processor takes at least for so many times so many operations, measured at each call; 0: not known.
using Limit = std::function<double(int times, double flops)>;
const Limit unknown = [](int, double) { return 0.0; };
const Limit multiply_adds = [](int times, double flops) { return fma_ns(times * flops); };

// As long as the weight takes to be read, of so many bytes.
Limit reading(size_t bytes) {
  auto weight = std::make_shared<Reading>(bytes);
  return [weight](int times, double flops) { return std::max(fma_ns(times * flops), weight->ns(times)); };
}

// `more`: operations that the limit counts beside the product's.
void time_op(thunder_context* c, const std::string& name, Body body, const std::vector<Shape>& shapes, double flops, const Limit& limit, double more = 0) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_tensor* out = nullptr;
  std::vector<thunder_tensor*> in;
  for (const Shape& shape : shapes) in.push_back(numbers(c, shape, body.halves));
  check(thunder_function_create(c, "f", invoke, &body, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  check(thunder_compiled_call_tensors(compiled, in.data(), in.size(), &out, 1));
  thunder_values *values = nullptr, *results = nullptr;
  check(thunder_values_create(c, &values));
  check(thunder_values_create(c, &results));
  for (thunder_tensor* t : in) thunder_values_push_tensor(values, t);
  thunder_values_bind(results, 0, out);
  const int calls = static_cast<int>(std::clamp(2e7 / flops * 40, 1.0, 20000.0));
  const Beside found = beside(15, calls, [&] { check(thunder_compiled_call(compiled, nullptr, values, results)); }, [&](int times) { return limit(times, flops + more); });
  limit_row(name.c_str(), "GFLOP/s", flops / found.limit_ns);
  row(name.c_str(), "GFLOP/s", flops / found.ns);
  thunder_values_release(values);
  thunder_values_release(results);
  in.push_back(out);
  for (thunder_tensor* t : in) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

void time_products(thunder_context* c) {
  for (int64_t n : {16, 64, 256, 1024}) {
    const std::string name = "matmul: " + std::to_string(n) + " cubed f32";
    time_op(c, name, {"matmul", {}}, {{n, n}, {n, n}}, 2.0 * static_cast<double>(n * n * n), multiply_adds);
  }
  const int64_t layers[][3] = {{256, 768, 2304}, {256, 768, 3072}, {256, 3072, 768}, {256, 768, 50257}, {1, 768, 3072}, {1, 768, 50257}};
  for (auto& [m, k, n] : layers) {
    const std::string name = "matmul: linear " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " f32";
    time_op(c, name, {"linear", {}}, {{m, k}, {n, k}}, 2.0 * static_cast<double>(m * n * k), m == 1 ? reading(static_cast<size_t>(k * n) * sizeof(float)) : multiply_adds);
  }
  // Two operations for each instruction, of which bench/workloads/kernels.py counts so many for a vector.
  constexpr double kGelu = 2 * 21;
  const int64_t followed[][3] = {{256, 768, 3072}, {64, 256, 1024}};
  for (auto& [m, k, n] : followed) {
    const std::string name = "matmul: linear " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " f32, bias and GELU";
    time_op(c, name, {"linear", {}, 0, true}, {{m, k}, {n, k}, {n}}, 2.0 * static_cast<double>(m * n * k), multiply_adds, kGelu * static_cast<double>(m * n));
  }
}

// What processors multiply bf16 with differs; reading weights of half the bytes does not.
void time_halves(thunder_context* c) {
  const Body product{"matmul", {}, 0, false, true}, linear{"linear", {}, 0, false, true};
  time_op(c, "matmul: 1024 cubed bf16", product, {{1024, 1024}, {1024, 1024}}, 2.0 * 1024 * 1024 * 1024, unknown);
  const int64_t k = 768, n = 3072;
  for (int64_t m : {1, 256}) {
    const std::string name = "matmul: linear " + std::to_string(m) + "x768x3072 bf16";
    time_op(c, name, linear, {{m, k}, {n, k}}, 2.0 * static_cast<double>(m * n * k), m == 1 ? reading(static_cast<size_t>(k * n) * sizeof(uint16_t)) : unknown);
  }
}

void time_convolutions(thunder_context* c) {
  const Shape x = {8, 64, 28, 28}, w = {64, 64, 3, 3}, one = {1, 1};
  const double flops = 2.0 * 8 * 64 * 28 * 28 * 64 * 9;
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32", {"prims.conv2d", {one, one, one}, 1}, {x, w}, flops, multiply_adds);
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32, input's gradient", {"prims.conv2d_input_grad", {x, one, one, one}, 1}, {x, w}, flops, multiply_adds);
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32, weight's gradient", {"prims.conv2d_weight_grad", {w, one, one, one}, 1}, {x, x}, flops, multiply_adds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  setenv("THUNDER_NUM_THREADS", "1", 0);
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  if (only != "convolutions" && only != "halves") time_products(c);
  if (only != "convolutions" && only != "products") time_halves(c);
  if (only != "products" && only != "halves") time_convolutions(c);
  thunder_context_release(c);
}
