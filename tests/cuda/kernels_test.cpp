// Kernels of callers on a CUDA device (device_kernel, cuda_kernel, cuda_text, parameters, formula, operands): of ops and of
// executors, from source, as machine code and as functions.
// covers: capi/options.cpp core/executors/cuda/kernels/cuda_kernel.cpp core/executors/cuda/kernels/formula.cpp
// covers: core/executors/cuda/kernels/kernels.cpp core/executors/cuda/kernels/operands.cpp
// covers: core/executors/cuda/kernels/parameters.cpp
#include <atomic>

#include "capi/context.h"
#include "capi/options.h"
#include "cuda/cuda.h"
#include "device/cuda/device.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

constexpr char kAffine[] = R"(
extern "C" __global__ void affine(const x_t* x, const x_t* shift, float scale, out_t* out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = (out_t)(scale * (float)x[i] + (shift ? (float)shift[i] : 0.0f) + (float)EXTRA);
})";

thunder_status* like_the_first(const thunder_node* node, thunder_types* results, void*) {
  thunder_types_push_like(results, thunder_node_input(node, 0));
  return nullptr;
}

struct CudaKernels : CudaTest {
  thunder_context* handle() { return capi::handle(context.get()); }
  std::string text_of(thunder_status* failed) {
    const std::string text = failed ? thunder_status_message(failed) : "";
    thunder_status_release(failed);
    return text;
  }
  std::string add_op(const char* schema, thunder_fn decompose = nullptr) {
    thunder_op_desc d{};
    d.size = sizeof d, d.schema = schema, d.doc = "A test's.", d.decompose = decompose;
    if (!decompose) d.meta = like_the_first;
    return text_of(thunder_context_add_op(handle(), &d));
  }
  static thunder_kernel_desc affine() {
    static const char* const kOptions[] = {"-DEXTRA=0"};
    thunder_kernel_desc d{};
    d.size = sizeof d, d.device = THUNDER_CUDA(0);
    d.source = kAffine, d.symbol = "affine", d.options = kOptions, d.n_options = 1;
    d.parameters = "x, shift, float scale, out, x.numel", d.grid = "ceildiv(x.numel, 32)", d.block = "32";
    return d;
  }
  std::string add(const char* op, const thunder_kernel_desc& d) {
    return text_of(thunder_context_add_kernel(handle(), op, &d));
  }
  std::string add_affine(const thunder_kernel_desc& d) {
    EXPECT_EQ(add_op("mine.affine(tensor x, tensor? shift=None, float scale=1.0, int[] dims=[]) -> tensor"), "");
    return add("mine.affine", d);
  }
  // In a program, and eagerly, of an input of 100 elements.
  Floats compiled(const Lambda::Body& body, const Ref<Tensor>& x) { return run(*compile(body), {x.get()}); }
};

Floats scaled(const Floats& x, float scale, float shift_scale = 0) {
  Floats out;
  for (float v : x) out.push_back(scale * v + shift_scale * v);
  return out;
}

TEST_F(CudaKernels, of_ops_run_in_programs_and_eagerly) {
  ASSERT_EQ(add_affine(affine()), "");
  const Ref<Tensor> x = on_gpu(random({10, 10}, 1));
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Tensor* once = op(s, "mine.affine", {any(in[0].tensor), any(in[0].tensor), Any::real(2)});
    out.push(Ref<Tensor>(op(s, "mine.affine", {any(once), Any(), Any::real(-1)})));
  };
  EXPECT_EQ(compiled(body, x), scaled(scaled(data(*x), 2, 1), -1)) << error;
  Ref<CompileOptions> graphs = make<CompileOptions>();
  graphs->set("mode", Any::string("reduce-overhead"));
  auto recorded = compile(body, graphs.get());
  for (int call = 0; call < 4; call++) EXPECT_EQ(run(*recorded, {x.get()}), scaled(data(*x), -3)) << error;
  EXPECT_NE(explain(*recorded, "memory").find("CUDA graph recorded: "), std::string::npos);
}

TEST_F(CudaKernels, serve_every_dtype_and_size) {
  ASSERT_EQ(add_affine(affine()), "");
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i8, DType::u16, DType::i32, DType::i64, DType::u8})
    for (int64_t n : {0, 1, 33}) {
      const auto count = static_cast<size_t>(n);
      EXPECT_EQ(compiled(
                    [&](Scope& s, const Values& in, Values& out) {
                      Tensor* x = op(s, "to", {any(in[0].tensor), as(dtype)});
                      Tensor* y = op(s, "mine.affine", {any(x), Any(), Any::real(4)});
                      out.push(Ref<Tensor>(op(s, "to", {any(y), as(DType::f32)})));
                    },
                    on_gpu(tensor({n}, Floats(count, 3)))),
                Floats(count, 12))
          << name(dtype) << " " << n << ": " << error;
    }
}

TEST_F(CudaKernels, get_dense_inputs_unless_they_take_strides) {
  for (bool strided : {false, true}) {
    SCOPED_TRACE(strided);
    const std::string name = strided ? "mine.row" : "mine.dense_row";
    ASSERT_EQ(add_op((name + "(tensor x) -> tensor").c_str()), "");
    thunder_kernel_desc d{};
    d.size = sizeof d, d.device = THUNDER_CUDA(0), d.symbol = "copy", d.block = "4, 4", d.grid = "1", d.flags = strided;
    d.source = R"(
extern "C" __global__ void copy(const x_t* x, out_t* out, int rows, int columns, int by_row, int by_column) {
  const int r = threadIdx.y, c = threadIdx.x;
  if (r < rows && c < columns) out[r * columns + c] = x[r * by_row + c * by_column];
})";
    d.parameters = "x, out, int x.size(0), int x.size(-1), int x.stride(0), int x.stride(1)";
    ASSERT_EQ(add(name.c_str(), d), "");
    const Ref<Tensor> x = on_gpu(tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(compiled(
                  [&](Scope& s, const Values& in, Values& out) {
                    Tensor* turned = op(s, "transpose", {any(in[0].tensor), Any::integer(0), Any::integer(1)});
                    out.push(Ref<Tensor>(op(s, name.c_str(), {any(turned)})));
                  },
                  x),
              (Floats{1, 4, 2, 5, 3, 6}))
        << error;
  }
}

TEST_F(CudaKernels, may_be_machine_code) {
  auto& device = static_cast<nvidia::CudaDevice&>(context->devices().accelerator(kGpu));
  std::string why;
  const nvidia::Compiler* compiler = nvidia::Compiler::open(why);
  ASSERT_TRUE(compiler) << why;
  const nvidia::Compiled made = compiler->compile(
      nvidia::KernelSource("typedef float x_t; typedef float out_t;\n" + std::string(kAffine), {"-DEXTRA=7"}),
      device.properties().major, device.properties().minor);
  ASSERT_EQ(made.error, "");
  thunder_kernel_desc d = affine();
  d.source = nullptr, d.options = nullptr, d.n_options = 0;
  d.image = made.cubin.data(), d.image_bytes = made.cubin.size();
  ASSERT_EQ(add_affine(d), "");
  const Ref<Tensor> x = on_gpu(tensor({2}, {1, 2}));
  EXPECT_EQ(compiled(
                [](Scope& s, const Values& in, Values& out) {
                  out.push(Ref<Tensor>(op(s, "mine.affine", {any(in[0].tensor), Any(), Any::real(10)})));
                },
                x),
            (Floats{17, 27}))
      << error;
}

std::atomic<int> runs = 0;

TEST_F(CudaKernels, may_be_functions_that_ask_the_device) {
  thunder_kernel_desc d{};
  d.size = sizeof d, d.device = THUNDER_CUDA(0), d.user = context.get();
  d.run = [](const thunder_launch* launch, const thunder_any* args, void* user) -> thunder_status* {
    EXPECT_NE(launch->native_stream, nullptr);
    EXPECT_EQ(args[2].u.f, 0.5);
    runs++;
    Accelerator& device = static_cast<Context*>(user)->devices().accelerator(kGpu);
    const thunder_buffer &x = launch->inputs[0], &out = launch->outputs[0];
    const int64_t bytes = 4 * x.shape[0], one = 1;
    return reinterpret_cast<thunder_status*>(device.copy({static_cast<std::byte*>(x.data), 1, &bytes, &one},
                                                         {static_cast<std::byte*>(out.data), 1, &bytes, &one}, 1));
  };
  ASSERT_EQ(add_affine(d), "");
  const Ref<Tensor> x = on_gpu(tensor({2}, {1, 2}));
  EXPECT_EQ(compiled(
                [](Scope& s, const Values& in, Values& out) {
                  out.push(Ref<Tensor>(op(s, "mine.affine", {any(in[0].tensor), Any(), Any::real(0.5)})));
                },
                x),
            (Floats{1, 2}))
      << error;
  EXPECT_EQ(runs, 1);
  auto graphs = make<CompileOptions>();
  graphs->set("mode", Any::string("reduce-overhead"));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mine.affine", {any(in[0].tensor), Any(), Any::real(0.5)})));
  }, graphs.get());
  for (int call = 0; call < 3; call++) EXPECT_EQ(run(*f, {x.get()}), (Floats{1, 2})) << error;
  EXPECT_EQ(runs, 4) << "no graph runs in its place";
  EXPECT_NE(explain(*f, "memory").find("is run by a function of the caller's"), std::string::npos) << explain(*f, "memory");
}

TEST_F(CudaKernels, of_executors_take_ops_of_the_library_over) {
  thunder_kernel_desc kernel = affine();
  kernel.source = R"(
extern "C" __global__ void affine(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i] + 1000;
})";
  kernel.parameters = "input, out, int input.numel", kernel.grid = "ceildiv(input.numel, 32)", kernel.options = nullptr,
  kernel.n_options = 0;
  const thunder_kernel_desc* const kernels[] = {&kernel};
  const char* const ops[] = {"tanh"};
  thunder_executor_desc d{};
  d.size = sizeof d, d.name = "mine", d.kernels = kernels, d.kernel_ops = ops, d.n_kernels = 1;
  thunder_executor* made = nullptr;
  ASSERT_EQ(text_of(thunder_executor_create(handle(), &d, &made)), "");
  auto options = make<CompileOptions>();
  options->add_executor(Ref<Executor>(capi::core(made)));
  thunder_executor_release(made);
  auto f = compile(
      [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "tanh", {any(in[0].tensor)}))); },
      options.get());
  const Ref<Tensor> x = tensor({2}, {0, 2});
  EXPECT_EQ(run(*f, {on_gpu(x).get()}), (Floats{1000, 1004})) << error;
  const Ref<Tensor> on_cpu = result(*f, {x.get()});
  ASSERT_TRUE(on_cpu) << error;
  EXPECT_EQ(data(*on_cpu)[0], 0) << "the CPU's tanh stays";
}

TEST_F(CudaKernels, of_executors_with_the_flag_for_cuda_get_memory_and_stream_of_the_device) {
  const char* const ops[] = {"tanh"};
  thunder_executor_desc d{};
  d.size = sizeof d, d.name = "own", d.ops = ops, d.n_ops = 1, d.user = context.get();
  d.claim = [](const thunder_node* node, void*) -> int32_t {
    return thunder_tensor_device(thunder_node_input(node, 0)) == THUNDER_CUDA(0);
  };
  d.prepare = [](const thunder_node*, void** state, size_t*, void* user) -> thunder_status* { return *state = user, nullptr; };
  d.run = [](const thunder_launch* launch, void* state) -> thunder_status* {
    EXPECT_NE(launch->native_stream, nullptr);
    auto& device = static_cast<Context*>(state)->devices().accelerator(kGpu);
    return reinterpret_cast<thunder_status*>(device.fill_with_zeros(launch->outputs[0].data, 4 * static_cast<size_t>(launch->outputs[0].shape[0])));
  };
  const auto tanh_by = [&](uint32_t flags) {
    d.flags = flags;
    thunder_executor* made = nullptr;
    EXPECT_EQ(text_of(thunder_executor_create(handle(), &d, &made)), "");
    auto options = make<CompileOptions>();
    options->add_executor(Ref<Executor>(capi::core(made)));
    thunder_executor_release(made);
    auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "tanh", {any(in[0].tensor)}))); }, options.get());
    return run(*f, {on_gpu(tensor({2}, {30, -30})).get()});
  };
  EXPECT_EQ(tanh_by(THUNDER_EXECUTOR_CUDA), (Floats{0, 0})) << error;
  EXPECT_EQ(tanh_by(0), (Floats{1, -1})) << "without the flag it is not asked: " << error;
  d.flags = 1 << 17;
  thunder_executor* none = nullptr;
  EXPECT_NE(text_of(thunder_executor_create(handle(), &d, &none)).find("unknown flags 131072"), std::string::npos);
}

TEST_F(CudaKernels, that_are_wrong_are_refused_when_they_are_added) {
  ASSERT_EQ(add_op("mine.affine(tensor x, tensor? shift=None, float scale=1.0, int[] dims=[]) -> tensor"), "");
  const auto refused = [&](const char* wanted, auto&& change) {
    thunder_kernel_desc d = affine();
    change(d);
    const std::string said = add("mine.affine", d);
    EXPECT_NE(said.find(wanted), std::string::npos) << "wanted: " << wanted << "\ngot: " << said;
  };
  refused("there is no argument 'y'", [](auto& d) { d.grid = "y.numel"; });
  refused("position 10: a number or a name was expected", [](auto& d) { d.grid = "x.numel *"; });
  refused("tensors have no '.length'", [](auto& d) { d.grid = "x.length"; });
  refused("'x' is a tensor", [](auto& d) { d.grid = "x"; });
  refused("there is no function 'cdiv'; there are ceildiv, min and max", [](auto& d) { d.grid = "cdiv(1, 2)"; });
  refused("one to three formulas", [](auto& d) { d.grid = "1, 2, 3, 4"; });
  refused("one to three formulas", [](auto& d) { d.block = nullptr; });
  refused("a tensor is passed as its address", [](auto& d) { d.parameters = "float x"; });
  refused("'scale' is a float", [](auto& d) { d.parameters = "int scale"; });
  refused("there is no argument 'dims'", [](auto& d) { d.parameters = "dims"; });
  refused("a source or an image, one of them", [](auto& d) { d.image = "PTX", d.image_bytes = 3; });
  refused("has a name", [](auto& d) { d.symbol = nullptr; });
  refused("`library` and `symbol`", [](auto& d) { d.source = nullptr; });
  refused("`source` and `image` are for CUDA devices", [](auto& d) { d.device = 0; });
  refused("nested too deeply", [](auto& d) {
    static const std::string deep(1000, '(');
    d.grid = deep.c_str();
  });
  EXPECT_EQ(add("mine.affine", affine()), "");
  refused("already has a kernel for CUDA devices", [](auto&) {});
}

TEST_F(CudaKernels, that_fail_when_a_program_is_compiled_say_why) {
  ASSERT_EQ(add_op("mine.a(tensor x) -> tensor"), "");
  ASSERT_EQ(add_op("mine.b(tensor x) -> tensor"), "");
  ASSERT_EQ(add_op("mine.c(tensor x) -> tensor"), "");
  ASSERT_EQ(add_op("mine.d(tensor x) -> tensor"), "");
  thunder_kernel_desc d = affine();
  d.parameters = nullptr, d.options = nullptr, d.n_options = 0;
  d.source = "extern \"C\" __global__ void affine(const float* x, float* out) { undeclared(); }\n";
  ASSERT_EQ(add("mine.a", d), "");
  d.source = "extern \"C\" __global__ void other(const float* x, float* out) { }\n";
  ASSERT_EQ(add("mine.b", d), "");
  d.block = "32 * x.size(0)";
  ASSERT_EQ(add("mine.c", d), "");
  d.block = "32 / (x.size(0) - 100)";
  ASSERT_EQ(add("mine.d", d), "");
  const Ref<Tensor> x = on_gpu(random({100}, 1));
  for (auto [name, wanted] : {std::pair("mine.a", "undeclared"),
                              {"mine.b", "cuModuleGetFunction"},
                              {"mine.c", "is 3200, which is not from 0 to 1024"},
                              {"mine.d", "it divides by zero"}}) {
    auto f = compile([&, name = name](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, name, {any(in[0].tensor)})));
    });
    EXPECT_FALSE(result(*f, {x.get()}));
    EXPECT_NE(error.find(wanted), std::string::npos) << name << ": " << error;
    EXPECT_NE(error.find("'affine'"), std::string::npos) << name << ": " << error;
  }
}

TEST_F(CudaKernels, that_are_not_there_leave_the_op_to_its_decomposition) {
  ASSERT_EQ(add_op("mine.twice(tensor x) -> tensor",
                   [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
                     Scope* scope = capi::core(s);
                     Tensor* x = capi::core(thunder_values_tensor(in, 0));
                     thunder_values_push_tensor(out, capi::handle(op(*scope, "add", {any(x), any(x)})));
                     return nullptr;
                   }),
            "");
  const auto twice = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mine.twice", {any(in[0].tensor)})));
  };
  const Ref<Tensor> x = on_gpu(tensor({2}, {1, 2}));
  EXPECT_EQ(compiled(twice, x), (Floats{2, 4})) << error;
  thunder_kernel_desc d = affine();
  d.source =
      "extern \"C\" __global__ void affine(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x] + 5; }\n";
  d.parameters = nullptr, d.grid = "1", d.block = "x.numel", d.options = nullptr, d.n_options = 0;
  ASSERT_EQ(add("mine.twice", d), "");
  EXPECT_EQ(compiled(twice, x), (Floats{6, 7})) << error;
}

}  // namespace
}  // namespace thunder::test
