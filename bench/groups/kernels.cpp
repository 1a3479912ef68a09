// Fused kernels, forward and with their gradients, beside a stream over as many bytes as each has to move.
//
// A row's limit is the time of copying the bytes that the computation must read and write once, measured just before
// it in the same program over memory of that size: what is inside a cache is compared with that cache.
#include "support.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace bench;

namespace {

struct Work {
  const char* op;                             // applied to x and the parameters
  std::vector<thunder_any> (*args)(thunder_tensor* x, thunder_tensor* w, thunder_tensor* b, int64_t columns);
  bool loss = false;                          // of rows and their classes, which stand for w
};

struct Row {
  Work work;
  bool backward;
};

thunder_any text(const char* s) {
  thunder_any a{};
  a.kind = THUNDER_STRING;
  a.count = static_cast<uint32_t>(std::strlen(s));
  a.u.s = s;
  return a;
}
thunder_any real(double f) {
  thunder_any a{};
  a.kind = THUNDER_FLOAT;
  a.u.f = f;
  return a;
}

using Args = std::vector<thunder_any>;
int64_t columns_of_norm[1];

const Work kWorks[] = {
    {"layer_norm", [](thunder_tensor* x, thunder_tensor* w, thunder_tensor* b, int64_t c) -> Args {
       columns_of_norm[0] = c;
       thunder_any shape{};
       shape.kind = THUNDER_DIMS, shape.count = 1, shape.u.d = columns_of_norm;
       return {any(x), shape, any(w), any(b), real(1e-5)};
     }},
    {"rms_norm", [](thunder_tensor* x, thunder_tensor* w, thunder_tensor*, int64_t c) -> Args {
       columns_of_norm[0] = c;
       thunder_any shape{};
       shape.kind = THUNDER_DIMS, shape.count = 1, shape.u.d = columns_of_norm;
       return {any(x), shape, any(w), real(1e-5)};
     }},
    {"softmax", [](thunder_tensor* x, thunder_tensor*, thunder_tensor*, int64_t) -> Args { return {any(x), any(int64_t{-1}), none()}; }},
    {"log_softmax", [](thunder_tensor* x, thunder_tensor*, thunder_tensor*, int64_t) -> Args { return {any(x), any(int64_t{-1}), none()}; }},
    {"gelu", [](thunder_tensor* x, thunder_tensor*, thunder_tensor*, int64_t) -> Args { return {any(x), text("none")}; }},
    {"gelu tanh", [](thunder_tensor* x, thunder_tensor*, thunder_tensor*, int64_t) -> Args { return {any(x), text("tanh")}; }},
    {"silu", [](thunder_tensor* x, thunder_tensor*, thunder_tensor*, int64_t) -> Args { return {any(x)}; }},
    {"cross_entropy", [](thunder_tensor* x, thunder_tensor* classes, thunder_tensor*, int64_t) -> Args { return {any(x), any(classes)}; }, true},
};

struct Traced {
  const Work* work;
  int64_t columns;
  bool backward;
};

thunder_status* run(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto& t = *static_cast<const Traced*>(user);
  thunder_tensor *x = thunder_values_tensor(in, 0), *w = thunder_values_tensor(in, 1), *b = thunder_values_tensor(in, 2);
  const Args args = t.work->args(x, w, b, t.columns);
  std::string name = t.work->op;
  name = name.substr(0, name.find(' '));
  thunder_tensor* y = thunder_op_invoke(s, name.c_str(), args.data(), args.size(), nullptr, nullptr, 0, nullptr);
  if (!t.backward || t.work->loss) thunder_values_push_tensor(out, y);
  if (!t.backward) return nullptr;
  // As in a model: the cotangent is a tensor of its own, or 1 for a loss.
  thunder_tensor* loss = t.work->loss ? y : op(s, "sum", {any(op(s, "mul", {any(y), any(thunder_values_tensor(in, 3))})), none(), flag(false), none()});
  std::vector<thunder_tensor*> wrt = {x};
  if (name == "layer_norm") wrt = {x, w, b};
  if (name == "rms_norm") wrt = {x, w};
  thunder_values* grads = thunder_scope_grad(s, loss, thunder_scope_list(s, wrt.data(), wrt.size()));
  for (size_t i = 0; i < wrt.size(); i++) thunder_values_push_tensor(out, thunder_values_tensor(grads, i));
  return nullptr;
}

// The time of copying so many bytes in all, read and written, with as many threads as there are cores.
double copy_us(size_t bytes) {
  const size_t half = bytes / 2, n = std::max(1u, std::thread::hardware_concurrency());
  std::vector<char> from(half, 1), to(half, 2);
  return median_ns(9, 3, [&] {
    std::vector<std::thread> threads;
    for (size_t t = 1; t < n; t++) threads.emplace_back([&, t] { std::memcpy(&to[half * t / n], &from[half * t / n], half / n); });
    std::memcpy(to.data(), from.data(), half / n);
    for (auto& t : threads) t.join();
  }) / 1e3;
}

thunder_tensor* classes_of(thunder_context* c, int64_t rows, int64_t columns) {
  std::vector<int64_t> data(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; i++) data[static_cast<size_t>(i)] = i * 7919 % columns;
  thunder_tensor* t = nullptr;
  check(thunder_tensor_create(c, THUNDER_I64, 1, &rows, THUNDER_CPU, data.data(), data.size() * sizeof(int64_t), &t));
  return t;
}

void limit(const std::string& name, double us) {
  std::printf("{\"name\": \"%s\", \"unit\": \"us\", \"value\": %.6g, \"limit\": true}\n", name.c_str(), us);
}

void time_one(thunder_context* c, const Work& work, bool backward, int64_t rows, int64_t columns) {
  Traced traced{&work, columns, backward};
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  check(thunder_function_create(c, work.op, run, &traced, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  thunder_tensor* in[4] = {floats(c, {rows, columns}, 0), work.loss ? classes_of(c, rows, columns) : floats(c, {columns}, 1), floats(c, {columns}, 0), floats(c, {rows, columns}, 1)};
  size_t n_in = backward ? 4 : 3, n_out = backward ? work.op[0] == 'l' && work.op[1] == 'a' ? 3 : work.op[0] == 'r' || work.loss ? 2 : 1 : 1;
  const std::string name = std::string("kernels: ") + work.op + (backward ? " f+b " : " ") + std::to_string(rows) + "x" + std::to_string(columns);
  limit(name, copy_us(static_cast<size_t>(rows * columns) * 4 * (work.loss ? 1 : 2) + (backward ? static_cast<size_t>(rows * columns) * 4 : 0)));
  row(name.c_str(), "us", median_ns(9, std::max<int>(2, static_cast<int>(4000000 / (rows * columns))), [&] {
        thunder_tensor* out[3] = {};
        check(thunder_compiled_call_tensors(compiled, in, n_in, out, n_out));
        for (size_t i = 0; i < n_out; i++) thunder_tensor_release(out[i]);
      }) / 1e3);
  for (thunder_tensor* t : in) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

}  // namespace

int main() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  for (const Work& work : kWorks)
    for (bool backward : {false, true}) {
      if (work.loss) time_one(c, work, backward, 256, 50257);
      else time_one(c, work, backward, 2048, 768);
    }
  thunder_context_release(c);
}
