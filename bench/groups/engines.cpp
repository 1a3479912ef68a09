// What ONNX Runtime and XLA cost behind a compiled function, beside the same library driven bare on the same program: a + b on 16 floats,
// and ResNet-50's forward. An engine that is not here has no rows.
#include "support.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "bare_onnxruntime.h"
#include "bare_pjrt.h"

using namespace bench;

namespace {

thunder_status* add(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, op(s, "add", {any(thunder_values_tensor(in, 0)), any(thunder_values_tensor(in, 1))}));
  return nullptr;
}

// ResNet-50 in evaluation, its weights in the order in which they are first met.
struct ResNet {
  thunder_context* context;
  std::vector<thunder_tensor*> weights;
  size_t met = 0;

  thunder_tensor* weight(const std::vector<int64_t>& shape, float value) {
    if (met == weights.size()) weights.push_back(floats(context, shape, value));
    return weights[met++];
  }
  thunder_tensor* conv(thunder_scope* s, thunder_tensor* x, int64_t inputs, int64_t outputs, int64_t size, int64_t stride) {
    const float scale = 1.0f / static_cast<float>(inputs * size * size);
    thunder_tensor* y = op(s, "conv2d", {any(x), any(weight({outputs, inputs, size, size}, scale)), none(), dims({stride, stride}), dims({size / 2, size / 2})});
    thunder_tensor *mean = weight({outputs}, 0), *variance = weight({outputs}, 1), *by = weight({outputs}, 1), *bias = weight({outputs}, 0);
    return op(s, "batch_norm", {any(y), any(mean), any(variance), any(by), any(bias)});
  }
  thunder_tensor* block(thunder_scope* s, thunder_tensor* x, int64_t inputs, int64_t width, int64_t stride) {
    thunder_tensor* y = op(s, "relu", {any(conv(s, x, inputs, width, 1, 1))});
    y = op(s, "relu", {any(conv(s, y, width, width, 3, stride))});
    y = conv(s, y, width, 4 * width, 1, 1);
    thunder_tensor* around = inputs == 4 * width && stride == 1 ? x : conv(s, x, inputs, 4 * width, 1, stride);
    return op(s, "relu", {any(op(s, "add", {any(y), any(around)}))});
  }
  static thunder_status* forward(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
    auto& net = *static_cast<ResNet*>(user);
    net.met = 0;
    thunder_tensor* x = op(s, "relu", {any(net.conv(s, thunder_values_tensor(in, 0), 3, 64, 7, 2))});
    x = op(s, "max_pool2d", {any(x), dims({3, 3}), dims({2, 2}), dims({1, 1})});
    constexpr int kBlocks[] = {3, 4, 6, 3};
    int64_t inputs = 64;
    for (int stage = 0; stage < 4; stage++)
      for (int i = 0; i < kBlocks[stage]; i++) {
        const int64_t width = int64_t{64} << stage;
        x = net.block(s, x, inputs, width, i || !stage ? 1 : 2);
        inputs = 4 * width;
      }
    x = op(s, "mean", {any(x), dims({2, 3})});
    thunder_tensor* head = net.weight({1000, 2048}, 0.01f);
    thunder_values_push_tensor(out, op(s, "linear", {any(x), any(head)}));
    return nullptr;
  }
};

thunder_compiled* compile(thunder_context* c, const char* backend, thunder_fn fn, void* user, bool freezing) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_options* options = nullptr;
  check(thunder_options_create(c, &options));
  thunder_options_set_str(options, "backend", backend);
  thunder_options_set_bool(options, "freezing", freezing);
  check(thunder_function_create(c, "f", fn, user, nullptr, &f));
  check(thunder_compile(f, options, &compiled));
  thunder_function_release(f);
  thunder_options_release(options);
  return compiled;
}

struct Case {
  std::string name;
  const char* unit;
  double scale;
  int repeats, calls;
};

// Memory of the bare engine's own, for floats. PJRT wants it aligned.
float* floats_for(const std::vector<int64_t>& shape) {
  size_t n = 1;
  for (const int64_t d : shape) n *= static_cast<size_t>(d);
  auto* const data = static_cast<float*>(std::aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64));
  std::fill_n(data, n, 0.01f);
  return data;
}

// The two take turns, so that what others take of the machine they take of both.
template <class Bare>
void time(const char* engine, const Case& k, thunder_compiled* f, const std::vector<thunder_tensor*>& in, Bare& bare) {
  thunder_tensor* out = nullptr;
  const Beside times = beside(k.repeats, k.calls, [&] {
        check(thunder_compiled_call_tensors(f, in.data(), in.size(), &out, 1));
        thunder_tensor_release(out);
      }, [&](int n) { return mean_ns(n, [&] { bare.run(); }) * n; });
  peer_row(engine, k.name.c_str(), k.unit, times.limit_ns * k.scale);
  row(k.name.c_str(), k.unit, times.ns * k.scale);
  thunder_compiled_release(f);
}

void call_once(thunder_compiled* f, const std::vector<thunder_tensor*>& in) {
  thunder_tensor* out = nullptr;
  check(thunder_compiled_call_tensors(f, in.data(), in.size(), &out, 1));
  thunder_tensor_release(out);
}

void time_onnxrt(const Case& k, thunder_compiled* f, const std::vector<thunder_tensor*>& in, const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& result) {
  call_once(f, in);
  const std::string path = std::filesystem::temp_directory_path() / ("thunder-engines-" + std::to_string(getpid()) + ".onnx");
  check(thunder_program_export_onnx(f, path.c_str(), nullptr));
  onnxruntime::Bare bare(path, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  std::remove(path.c_str());
  for (size_t i = 0; i < in.size(); i++)
    bare.bind(onnxruntime::kBindInput, in.size() == 1 ? "input" : i ? "input_1" : "input_0", floats_for(shape), shape);
  bare.bind(onnxruntime::kBindOutput, "output", floats_for(result), result);
  time("onnxruntime", k, f, in, bare);
}

// "tensor<2x3xf32>" at a place of a text.
std::vector<int64_t> shape_at(const std::string& text, size_t at) {
  std::vector<int64_t> shape;
  for (at = text.find('<', at) + 1; text[at] != 'f'; at = text.find('x', at) + 1) shape.push_back(std::atoll(&text[at]));
  return shape;
}

// The module of the one kernel that there is, weights and all: "^bb0(%0: tensor<16xf32>, %out0: tensor<16xf32>):".
void time_openxla(const Case& k, thunder_compiled* f, const std::vector<thunder_tensor*>& in) {
  call_once(f, in);
  const char* text = nullptr;
  check(thunder_compiled_explain(f, "loops", &text));
  const std::string said = text;
  const size_t start = said.find("\"builtin.module\""), results = said.find("%out0:"), first = said.find("^bb0(");
  if (said.find("\nkernel 2:") != said.npos || results == said.npos) {
    std::fprintf(stderr, "%s: it is no single kernel\n", k.name.c_str());
    std::exit(1);
  }
  pjrt::Bare bare(said.substr(start));
  for (size_t at = said.find(": ", first); at < results; at = said.find(": ", at + 1)) {
    const std::vector<int64_t> shape = shape_at(said, at);
    bare.bind(floats_for(shape), shape);
  }
  const std::vector<int64_t> shape = shape_at(said, results);
  bare.result(floats_for(shape), shape);
  time("xla", k, f, in, bare);
}

}  // namespace

int main() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  ResNet net{c, {}};
  const std::vector<thunder_tensor*> few = {floats(c, {16}, 0), floats(c, {16}, 1)}, image = {floats(c, {1, 3, 224, 224}, 0)};
  const auto sum = [](const char* name) { return Case{std::string("engines: ") + name + ", add 16 f32", "ns", 1, 15, 20000}; };
  const auto forward = [](const char* name) { return Case{std::string("engines: ") + name + ", ResNet-50 forward, 1 image", "ms", 1e-6, 9, 3}; };
  if (onnxruntime::opens()) {
    time_onnxrt(sum("onnxrt"), compile(c, "onnxrt", add, nullptr, false), few, {16}, {16});
    time_onnxrt(forward("onnxrt"), compile(c, "onnxrt", ResNet::forward, &net, true), image, {1, 3, 224, 224}, {1, 1000});
  }
  if (pjrt::opens()) {
    time_openxla(sum("openxla"), compile(c, "openxla", add, nullptr, false), few);
    time_openxla(forward("openxla"), compile(c, "openxla", ResNet::forward, &net, false), image);
  }
  thunder_context_release(c);
  return 0;
}
