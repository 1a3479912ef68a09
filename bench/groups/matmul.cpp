// What matrix products and convolutions of f32 reach, compiled and on one thread (or THUNDER_NUM_THREADS), beside what one
// thread can do: multiply-adds in registers, or for a single row the time to read the weight.
#include "peak.h"

#include <string>

using namespace bench;

namespace {

// The op of the function that is compiled, and its arguments after the tensors.
struct Body {
  const char* op;
  std::vector<std::vector<int64_t>> dims;
  int64_t groups = 0;  // 0: the op has none
};

thunder_status* invoke(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto& body = *static_cast<const Body*>(user);
  std::vector<thunder_any> args = {any(thunder_values_tensor(in, 0)), any(thunder_values_tensor(in, 1))};
  for (auto& d : body.dims) args.push_back(dims(d));
  if (body.groups) args.push_back(any(body.groups));
  thunder_values_push_tensor(out, thunder_op_invoke(s, body.op, args.data(), args.size(), nullptr, nullptr, 0, nullptr));
  return nullptr;
}

void limit(const std::string& name, double value) {
  std::printf("{\"limit\": true, \"name\": \"%s\", \"unit\": \"GFLOP/s\", \"value\": %.6g}\n", name.c_str(), value);
}

void time_op(thunder_context* c, const std::string& name, Body body, const std::vector<int64_t>& left, const std::vector<int64_t>& right,
             double flops, double most) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_tensor *in[2] = {floats(c, left, -0.03f), floats(c, right, -0.03f)}, *out = nullptr;
  check(thunder_function_create(c, "f", invoke, &body, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  check(thunder_compiled_call_tensors(compiled, in, 2, &out, 1));
  thunder_values *values = nullptr, *results = nullptr;
  check(thunder_values_create(c, &values));
  check(thunder_values_create(c, &results));
  for (thunder_tensor* t : in) thunder_values_push_tensor(values, t);
  thunder_values_bind(results, 0, out);
  const int calls = static_cast<int>(std::clamp(2e7 / flops * 40, 1.0, 20000.0));
  const double ns = median_ns(7, calls, [&] { check(thunder_compiled_call(compiled, nullptr, values, results)); });
  row(name.c_str(), "GFLOP/s", flops / ns);
  limit(name, most);
  thunder_values_release(values);
  thunder_values_release(results);
  for (thunder_tensor* t : {in[0], in[1], out}) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

void time_products(thunder_context* c, double peak) {
  for (int64_t n : {16, 64, 256, 1024}) {
    const std::string name = "matmul: " + std::to_string(n) + " cubed f32";
    time_op(c, name, {"matmul", {}, 0}, {n, n}, {n, n}, 2.0 * static_cast<double>(n * n * n), peak);
  }
  const int64_t layers[][3] = {{256, 768, 2304}, {256, 768, 3072}, {256, 3072, 768}, {256, 768, 50257}, {1, 768, 3072}, {1, 768, 50257}};
  for (auto& [m, k, n] : layers) {
    const std::string name = "matmul: linear " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " f32";
    // Two operations on each four bytes of the weight.
    const double most = m == 1 ? std::min(peak, read_gbps(static_cast<size_t>(k * n) * sizeof(float)) / 2) : peak;
    time_op(c, name, {"linear", {}, 0}, {m, k}, {n, k}, 2.0 * static_cast<double>(m * n * k), most);
  }
}

void time_convolutions(thunder_context* c, double peak) {
  const std::vector<int64_t> x = {8, 64, 28, 28}, w = {64, 64, 3, 3}, one = {1, 1};
  const double flops = 2.0 * 8 * 64 * 28 * 28 * 64 * 9;
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32", {"prims.conv2d", {one, one, one}, 1}, x, w, flops, peak);
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32, input's gradient", {"prims.conv2d_input_grad", {x, one, one, one}, 1}, x, w, flops, peak);
  time_op(c, "matmul: conv2d 8x64x28x28, 64 3x3 f32, weight's gradient", {"prims.conv2d_weight_grad", {w, one, one, one}, 1}, x, x, flops, peak);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  setenv("THUNDER_NUM_THREADS", "1", 0);
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  const double peak = peak_gflops();
  if (only != "convolutions") time_products(c, peak);
  if (only != "products") time_convolutions(c, peak);
  thunder_context_release(c);
}
