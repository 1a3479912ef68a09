// Our convolutions of f32 beside oneDNN's primitives, in turn on one thread. Images are NCHW on both sides, as programs
// have them; oneDNN's weights are in the layout that it asks for, packed before, and so are its gradients of weights.
#include "support.h"

#if __has_include(<dnnl.hpp>)

#include <dlfcn.h>

#include <dnnl.hpp>
#include <string>
#include <unordered_map>

using namespace bench;

namespace {

using Shape = std::vector<int64_t>;
using dnnl::memory;

struct Layer {
  Shape x, w;
  int64_t stride, padding;

  Shape y() const {
    const auto side = [&](size_t i) { return (x[i] + 2 * padding - w[i]) / stride + 1; };
    return {x[0], w[0], side(2), side(3)};
  }
  double flops() const { return 2.0 * static_cast<double>(y()[0] * y()[1] * y()[2] * y()[3] * w[1] * w[2] * w[3]); }
};

enum class Pass { forward, input_grad, weight_grad };
constexpr const char* kOps[] = {"prims.conv2d", "prims.conv2d_input_grad", "prims.conv2d_weight_grad"};
constexpr const char* kNames[] = {"", ", input's gradient", ", weight's gradient"};

// A primitive with memory of its own.
class Primitive {
 public:
  Primitive(const Layer& l, Pass pass) {
    const memory::desc x = images(l.x), y = images(l.y()), w{l.w, memory::data_type::f32, memory::format_tag::any};
    const memory::dims step(2, l.stride), around(2, l.padding);
    constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_forward::primitive_desc forward(engine_, dnnl::prop_kind::forward_training, algorithm, x, w,
                                                            y, step, around, around);
    if (pass == Pass::forward) make<dnnl::convolution_forward>(forward);
    if (pass == Pass::input_grad)
      make<dnnl::convolution_backward_data>(
          dnnl::convolution_backward_data::primitive_desc(engine_, algorithm, x, w, y, step, around, around, forward));
    if (pass == Pass::weight_grad)
      make<dnnl::convolution_backward_weights>(dnnl::convolution_backward_weights::primitive_desc(
          engine_, algorithm, x, w, y, step, around, around, forward));
#else
    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, algorithm, x, w, y, step, around, around}, engine_);
    if (pass == Pass::forward) make<dnnl::convolution_forward>(forward);
    if (pass == Pass::input_grad)
      make<dnnl::convolution_backward_data>(dnnl::convolution_backward_data::primitive_desc(
          {algorithm, x, w, y, step, around, around}, engine_, forward));
    if (pass == Pass::weight_grad)
      make<dnnl::convolution_backward_weights>(dnnl::convolution_backward_weights::primitive_desc(
          {algorithm, x, w, y, step, around, around}, engine_, forward));
#endif
  }
  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  static memory::desc images(const Shape& s) { return {s, memory::data_type::f32, memory::format_tag::nchw}; }
  template <class P>
  void make(const typename P::primitive_desc& d) {
    primitive_ = P(d);
    add(DNNL_ARG_SRC, d.src_desc()), add(DNNL_ARG_WEIGHTS, d.weights_desc()), add(DNNL_ARG_DST, d.dst_desc());
    add(DNNL_ARG_DIFF_SRC, d.diff_src_desc()), add(DNNL_ARG_DIFF_WEIGHTS, d.diff_weights_desc()),
        add(DNNL_ARG_DIFF_DST, d.diff_dst_desc());
  }
  // Descriptors of what a primitive does not have are empty.
  void add(int argument, const memory::desc& d) {
    if (d.get_size() == 0) return;
    memory made(d, engine_);
    auto* data = static_cast<float*>(made.get_data_handle());
    for (size_t i = 0; i < d.get_size() / sizeof(float); i++) data[i] = static_cast<float>(i % 7) * 0.01f - 0.03f;
    arguments_.emplace(argument, made);
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

struct Body {
  Layer layer;
  Pass pass;
};

thunder_status* invoke(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto& [l, pass] = *static_cast<const Body*>(user);
  std::vector<thunder_any> args = {any(thunder_values_tensor(in, 0)), any(thunder_values_tensor(in, 1))};
  if (pass == Pass::input_grad) args.push_back(dims(l.x));
  if (pass == Pass::weight_grad) args.push_back(dims(l.w));
  const Shape step(2, l.stride), around(2, l.padding), one(2, 1);
  for (const Shape* d : {&step, &around, &one}) args.push_back(dims(*d));
  args.push_back(any(int64_t{1}));
  thunder_values_push_tensor(out, thunder_op_invoke(s, kOps[static_cast<size_t>(pass)], args.data(), args.size(),
                                                    nullptr, nullptr, 0, nullptr));
  return nullptr;
}

void time_layer(thunder_context* c, const Layer& l, Pass pass) {
  Body body{l, pass};
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_tensor* out = nullptr;
  const Shape first = pass == Pass::forward ? l.x : l.y();
  const Shape second = pass == Pass::weight_grad ? l.x : l.w;
  thunder_tensor* in[] = {floats(c, first, -0.03f), floats(c, second, -0.03f)};
  check(thunder_function_create(c, "f", invoke, &body, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  check(thunder_compiled_call_tensors(compiled, in, 2, &out, 1));
  thunder_values *values = nullptr, *results = nullptr;
  check(thunder_values_create(c, &values));
  check(thunder_values_create(c, &results));
  for (thunder_tensor* t : in) thunder_values_push_tensor(values, t);
  thunder_values_bind(results, 0, out);
  Primitive theirs(l, pass);
  const int calls = static_cast<int>(std::clamp(8e8 / l.flops(), 1.0, 1000.0));
  const Beside found = beside(
      15, calls, [&] { check(thunder_compiled_call(compiled, nullptr, values, results)); },
      [&](int times) { return mean_ns(times, [&] { theirs.run(); }) * times; });
  std::string name = "onednn: conv2d";
  for (size_t i = 0; i < 4; i++) name += (i ? "x" : " ") + std::to_string(l.x[i]);
  name += ", " + std::to_string(l.w[0]) + " " + std::to_string(l.w[2]) + "x" + std::to_string(l.w[3]) + ", stride " +
          std::to_string(l.stride);
  name += kNames[static_cast<size_t>(pass)];
  peer_row("oneDNN", name.c_str(), "GFLOP/s", l.flops() / found.limit_ns);
  row(name.c_str(), "GFLOP/s", l.flops() / found.ns);
  thunder_values_release(values);
  thunder_values_release(results);
  for (thunder_tensor* t : {in[0], in[1], out}) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

// The first kernel, the blocks and the projections of a ResNet-18, and a wide layer.
const Layer kLayers[] = {
    {{8, 3, 224, 224}, {64, 3, 7, 7}, 2, 3},     {{8, 64, 56, 56}, {64, 64, 3, 3}, 1, 1},
    {{8, 64, 28, 28}, {64, 64, 3, 3}, 1, 1},     {{8, 64, 56, 56}, {128, 64, 1, 1}, 2, 0},
    {{8, 128, 28, 28}, {256, 128, 3, 3}, 2, 1},  {{8, 512, 7, 7}, {512, 512, 3, 3}, 1, 1},
    {{8, 256, 14, 14}, {1024, 256, 1, 1}, 1, 0},
};

}  // namespace

int main() {
  setenv("THUNDER_NUM_THREADS", "1", 0);
  if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set_threads(1);
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  for (const Layer& l : kLayers)
    for (Pass pass : {Pass::forward, Pass::input_grad, Pass::weight_grad}) time_layer(c, l, pass);
  thunder_context_release(c);
}

#else

int main() {
  std::fputs("bench_onednn: built without dnnl.hpp (libdnnl-dev)\n", stderr);
  return 1;
}

#endif
