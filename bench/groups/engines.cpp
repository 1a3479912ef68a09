// What ONNX Runtime costs behind a compiled function, beside the same library driven bare on the same model: a + b on 16 floats, and
// ResNet-50's forward. Without it there are no rows.
#include "support.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "executors/onnxrt/abi.h"

using namespace bench;
using namespace thunder::onnxrt;

namespace {

const void* const* table = nullptr;
template <class... Args>
void ort(Place place, Args... args) {
  if (auto* failed = reinterpret_cast<OrtStatus* (*)(Args...)>(const_cast<void*>(table[place]))(args...)) {
    std::fprintf(stderr, "%s\n", reinterpret_cast<const char* (*)(OrtStatus*)>(const_cast<void*>(table[kGetErrorMessage]))(failed));
    std::exit(1);
  }
}

// A model in a file, on memory that does not move: as fast as it can be driven.
class Bare {
 public:
  Bare(const std::string& path, int threads) {
    std::ifstream file(path, std::ios::binary);
    const std::string model((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    OrtEnv* env = nullptr;
    OrtSessionOptions* options = nullptr;
    const char* const name = "bench";
    ort(kCreateEnv, kFatalOnly, name, &env);
    ort(kCreateSessionOptions, &options);
    ort(kSetIntraOpNumThreads, options, threads);
    const char *const key = "session.intra_op.allow_spinning", *const off = "0";
    ort(kAddSessionConfigEntry, options, key, off);
    ort(kCreateSessionFromArray, static_cast<const OrtEnv*>(env), static_cast<const void*>(model.data()), model.size(),
        static_cast<const OrtSessionOptions*>(options), &session_);
    ort(kCreateIoBinding, session_, &binding_);
    ort(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_);
  }
  void bind(Place place, const char* name, float* data, const std::vector<int64_t>& shape) {
    size_t n = sizeof(float);
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    OrtValue* value = nullptr;
    ort(kCreateTensorWithData, static_cast<const OrtMemoryInfo*>(memory_), static_cast<void*>(data), n, shape.data(), shape.size(), 1, &value);
    ort(place, binding_, name, static_cast<const OrtValue*>(value));
  }
  void run() { ort(kRunWithBinding, session_, static_cast<const OrtRunOptions*>(nullptr), static_cast<const OrtIoBinding*>(binding_)); }

 private:
  OrtSession* session_ = nullptr;
  OrtIoBinding* binding_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
};

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

thunder_compiled* compile(thunder_context* c, thunder_fn fn, void* user, bool freezing) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_options* options = nullptr;
  check(thunder_options_create(c, &options));
  thunder_options_set_str(options, "backend", "onnxrt");
  thunder_options_set_bool(options, "freezing", freezing);
  check(thunder_function_create(c, "f", fn, user, nullptr, &f));
  check(thunder_compile(f, options, &compiled));
  thunder_function_release(f);
  thunder_options_release(options);
  return compiled;
}

// The two take turns, so that what others take of the machine they take of both.
void time(const char* name, const char* unit, double scale, int repeats, int calls, thunder_compiled* f, std::vector<thunder_tensor*> in,
          std::vector<std::vector<int64_t>> shapes, const std::vector<int64_t>& result) {
  thunder_tensor* out = nullptr;
  check(thunder_compiled_call_tensors(f, in.data(), in.size(), &out, 1));
  thunder_tensor_release(out);
  const std::string path = std::filesystem::temp_directory_path() / ("thunder-engines-" + std::to_string(getpid()) + ".onnx");
  check(thunder_program_export_onnx(f, path.c_str(), nullptr));
  Bare bare(path, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  std::remove(path.c_str());
  std::vector<std::vector<float>> data;
  for (size_t i = 0; i < in.size(); i++) {
    data.emplace_back(thunder_tensor_nbytes(in[i]) / sizeof(float));
    check(thunder_tensor_read(in[i], data[i].data(), thunder_tensor_nbytes(in[i])));
    bare.bind(kBindInput, in.size() == 1 ? "input" : i ? "input_1" : "input_0", data[i].data(), shapes[i]);
  }
  std::vector<float> made(1);
  for (const int64_t d : result) made.resize(made.size() * static_cast<size_t>(d));
  bare.bind(kBindOutput, "output", made.data(), result);
  const Beside times = beside(repeats, calls, [&] {
        check(thunder_compiled_call_tensors(f, in.data(), in.size(), &out, 1));
        thunder_tensor_release(out);
      }, [&](int n) { return mean_ns(n, [&] { bare.run(); }) * n; });
  peer_row("onnxruntime", name, unit, times.limit_ns * scale);
  row(name, unit, times.ns * scale);
  thunder_compiled_release(f);
}

bool opens() {
  const char* file = std::getenv("THUNDER_ONNXRUNTIME");
  void* library = dlopen(file ? file : "libonnxruntime.so.1", RTLD_LAZY | RTLD_LOCAL);
  auto* base = library ? reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase")) : nullptr;
  table = base ? base()->get_api(kApiVersion) : nullptr;
  if (!table) std::fprintf(stderr, "engines: no ONNX Runtime; THUNDER_ONNXRUNTIME may name its file\n");
  return table != nullptr;
}

}  // namespace

int main() {
  if (!opens()) return 0;
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  time("engines: onnxrt, add 16 f32", "ns", 1, 15, 20000, compile(c, add, nullptr, false), {floats(c, {16}, 0), floats(c, {16}, 1)}, {{16}, {16}}, {16});
  ResNet net{c, {}};
  time("engines: onnxrt, ResNet-50 forward, 1 image", "ms", 1e-6, 9, 3, compile(c, ResNet::forward, &net, true), {floats(c, {1, 3, 224, 224}, 0)},
       {{1, 3, 224, 224}}, {1, 1000});
  thunder_context_release(c);
  return 0;
}
