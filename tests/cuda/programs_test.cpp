// Programs whose tensors are on a device, and those that use several.
#include "jit/backward/apply.h"
#include "cuda/cuda.h"
#include "ir/print.h"
#include "tracer/eager.h"
#include "transforms/transforms.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct CudaPrograms : CudaTest {
  Ref<CompileOptions> defaults = make<CompileOptions>();
  const CompileOptions* all = defaults.get();
};

TEST_F(CudaPrograms, give_what_the_cpu_gives) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *y = in[1].tensor.get();
    out.push(Ref<Tensor>(op(s, "softmax", {any(op(s, "tanh", {any(op(s, "matmul", {any(x), any(y)}))})), Any::integer(1)})));
  }, all);
  const Ref<Tensor> x = random({5, 7}, 1), y = random({7, 4}, 2), gx = on_gpu(x), gy = on_gpu(y);
  const Floats expected = CompiledTest::run(*f, {x.get(), y.get()}), got = run(*f, {gx.get(), gy.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-6);
}

// With a reduction, products and conversions between; 16-bit reals within their rounding, integers exactly.
TEST_F(CudaPrograms, give_what_the_cpu_gives_in_narrow_dtypes) {
  for (const char* dtype : {"float16", "bfloat16", "int8", "uint8", "int16", "uint16", "uint32", "uint64"}) {
    const bool real = std::string_view(dtype).find("float") != std::string_view::npos;
    auto f = compile([=](Scope& s, const Values& in, Values& out) {
      Tensor* x = op(s, "to", {any(op(s, "mul", {any(in[0].tensor), Any::real(100)})), Any::string(dtype)});
      Tensor* y = op(s, "maximum", {any(op(s, "mul", {any(x), any(x)})), any(op(s, "flip", {any(x), Any::integer(0)}))});
      if (real) y = op(s, "softmax", {any(op(s, "matmul", {any(op(s, "tanh", {any(y)})), any(op(s, "t", {any(x)}))})), Any::integer(1)});
      out.push(Ref<Tensor>(op(s, "to", {any(y), Any::string("float32")})));
    }, all);
    const Ref<Tensor> x = random({5, 40}, 1), gx = on_gpu(x);
    const Floats expected = CompiledTest::run(*f, {x.get()});
    ASSERT_FALSE(expected.empty()) << dtype << ": " << error;
    const Floats got = run(*f, {gx.get()});
    ASSERT_EQ(got.size(), expected.size()) << dtype << ": " << error;
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], real ? 2e-2 : 0) << dtype << " at " << i;
  }
}

TEST_F(CudaPrograms, have_a_backward_on_a_tape) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *y = in[1].tensor.get();
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "tanh", {any(op(s, "matmul", {any(x), any(y)}))}))})));
  }, all);
  const auto gradient = [&](const Ref<Tensor>& x, const Ref<Tensor>& y) {
    EagerScope tape(context->scope_environment(), true);
    Values in, wrt;
    in.push(x), in.push(y), wrt.push(y);
    const Values* out = apply(tape, *f, in);
    const Values* gradients = tape.status() ? nullptr : tape.grad((*out)[0].tensor.get(), wrt);
    EXPECT_FALSE(tape.status()) << tape.status()->message();
    return gradients ? (*gradients)[0].tensor : Ref<Tensor>();
  };
  const Ref<Tensor> x = random({5, 7}, 1), y = random({7, 4}, 2);
  const Ref<Tensor> on_cpu = gradient(x, y), got = gradient(on_gpu(x), on_gpu(y));
  ASSERT_TRUE(on_cpu && got);
  const Floats expected = data(*on_cpu), seen = data(*got);
  ASSERT_EQ(seen.size(), expected.size());
  for (size_t i = 0; i < seen.size(); i++) EXPECT_NEAR(seen[i], expected[i], 1e-5);
}

TEST_F(CudaPrograms, take_the_same_bits_in_each_call) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "exp", {any(in[0].tensor)}))})));
  }, all);
  const Ref<Tensor> x = on_gpu(random({300, 7}, 1));
  const Floats first = run(*f, {x.get()});
  for (int i = 0; i < 3; i++) EXPECT_EQ(run(*f, {x.get()}), first);
}

// A device draws from a copy of the random state, which is made anew where the function is replayed for its gradient.
TEST_F(CudaPrograms, differentiate_what_was_drawn_inside) {
  const auto drop = Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor), Any::real(0.5), Any::boolean(true)})));
  }));
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Values given;
    given.push(Ref<Tensor>(in[0].tensor));
    given.open(false, {});
    given.push(Ref<Tensor>(op(s, "ones_like", {any(in[0].tensor)})));
    given.close();
    const Ref<Status> failed = vjp(drop, {})->call(s, given, out);
    if (failed) s.fail(failed);
  }, all);
  const Ref<Tensor> x = on_gpu(tensor({64}, Floats(64, 1)));
  Tensor* in[] = {x.get()};
  Tensor* made[2] = {};
  Status* failed = f->call_tensors(in, 1, made, 2);
  ASSERT_EQ(failed, nullptr) << failed->message();
  const Floats value = data(*Ref<Tensor>::adopt(made[0])), gradient = data(*Ref<Tensor>::adopt(made[1]));
  EXPECT_EQ(value, gradient);
  EXPECT_GT(std::count(value.begin(), value.end(), 2.0f), 8);
  EXPECT_GT(std::count(value.begin(), value.end(), 0.0f), 8);
}

// Neither the numbers nor what they choose are stored: they are drawn where they are used.
TEST_F(CudaPrograms, draw_random_numbers_inside_of_kernels) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = op(s, "add", {any(in[0].tensor), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "mul", {any(op(s, "dropout", {any(x), Any::real(0.5), Any::boolean(true)})), Any::real(3)})));
  }, all);
  ASSERT_TRUE(result(*f, {on_gpu(random({64, 128}, 1)).get()})) << error;
  const std::vector<Trace> traces = f->reports().traces();
  int large = 0;
  for (const Node* n : traces.back().nodes)
    if (!def(*n).view)
      for (ValueId r : n->results) large += elements(traces.back().type(r).shape) == Dim(64 * 128);
  EXPECT_EQ(large, 1) << thunder::print(traces.back());
}

// Windows of several turns of a warp that chose the same few pixels: added in their order, with its rounding.
TEST_F(CudaPrograms, add_the_gradients_of_windows_in_their_order) {
  constexpr int64_t planes = 3, windows = 7 * 11, pixels = 20;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < planes * windows; i++) chosen.push_back(i * i % 17 % pixels);
  const Ref<Tensor> gradient = random({1, planes, 7, 11}, 1), at = integers({1, planes, 7, 11}, chosen);
  const std::vector<int64_t> size = {1, planes, 4, 5};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    auto f = compile([&](Scope& s, const Values& in, Values& out) {
      Tensor* grad = op(s, "to", {any(in[0].tensor), as(dtype)});
      Tensor* spread = op(s, "prims.max_pool2d_backward", {any(grad), any(in[1].tensor), Any::dims(size)});
      out.push(Ref<Tensor>(op(s, "to", {any(spread), as(DType::f32)})));
    }, all);
    const Floats expected = CompiledTest::run(*f, {gradient.get(), at.get()});
    ASSERT_EQ(expected.size(), static_cast<size_t>(planes * pixels)) << error;
    EXPECT_EQ(run(*f, {on_gpu(gradient).get(), on_gpu(at).get()}), expected) << error;
  }
}

// Sums of long rows and of many rows are made in parts.
TEST_F(CudaPrograms, reduce_few_and_long_rows) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = op(s, "exp", {any(in[0].tensor)});
    const std::vector<int64_t> first = {0};
    out.push(Ref<Tensor>(op(s, "sum", {any(x), Any::dims(first)})));
    out.push(Ref<Tensor>(op(s, "sum", {any(x)})));
    out.push(Ref<Tensor>(op(s, "argmax", {any(x)})));
  }, all);
  const Ref<Tensor> x = random({700, 30}, 1), gx = on_gpu(x);
  Tensor *cpu[3] = {}, *gpu[3] = {}, *in = x.get(), *gin = gx.get();
  ASSERT_EQ(f->call_tensors(&in, 1, cpu, 3), nullptr);
  ASSERT_EQ(f->call_tensors(&gin, 1, gpu, 3), nullptr);
  for (int i = 0; i < 3; i++) {
    const Ref<Tensor> a = Ref<Tensor>::adopt(cpu[i]), b = Ref<Tensor>::adopt(gpu[i]);
    EXPECT_EQ(battery::difference(battery::numbers_of(*b), battery::numbers_of(*a), 1e-5), "") << i;
  }
}

TEST_F(CudaPrograms, scalars_of_the_cpu_go_where_the_others_are) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)})));
  }, all);
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3})), factor = tensor({}, {2});
  EXPECT_EQ(run(*f, {x.get(), factor.get()}), (Floats{2, 4, 6})) << error;
}

TEST_F(CudaPrograms, refuse_to_mix_devices_by_themselves) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)})));
  }, all);
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3})), y = tensor({3}, {1, 2, 3});
  EXPECT_EQ(run(*f, {x.get(), y.get()}), Floats());
  EXPECT_NE(error.find("mul: tensors are on different devices"), std::string::npos) << error;
}

TEST_F(CudaPrograms, move_tensors_by_lines_that_they_print) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Any gpu;
    gpu.kind = ArgKind::device, gpu.device = kGpu;
    Tensor* there = op(s, "to", {any(op(s, "exp", {any(in[0].tensor)})), Any(), gpu});
    out.push(Ref<Tensor>(op(s, "neg", {any(there)})));
  }, all);
  const Ref<Tensor> x = tensor({5}, {0, 1, 2, 3, 4});
  const Floats got = run(*f, {x.get()});
  ASSERT_EQ(got.size(), 5u) << error;
  EXPECT_NEAR(got[1], -2.7182817f, 1e-6);
  EXPECT_EQ(executor_of(*f, "prims.to_device"), "transfer");
}

TEST_F(CudaPrograms, carry_gradients_back_to_the_device_they_came_from) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Any gpu;
    gpu.kind = ArgKind::device, gpu.device = kGpu;
    Tensor* x = in[0].tensor.get();
    Tensor* there = op(s, "to", {any(x), Any(), gpu});
    Tensor* loss = op(s, "sum", {any(op(s, "mul", {any(there), any(there)}))});
    Values wrt;
    wrt.push(Ref<Tensor>(x));
    Values* grads = s.grad(loss, wrt);
    if (grads) out.push((*grads)[0].tensor);
  }, all);
  const Ref<Tensor> x = tensor({2}, {3, 4});
  EXPECT_EQ(CompiledTest::run(*f, {x.get()}), (Floats{6, 8})) << error;
}

// A cache of keys, [batch, heads, places, width], that is written through a view with its places first.
TEST_F(CudaPrograms, update_a_permuted_view_in_its_own_memory) {
  for (const bool accumulate : {false, true}) {
    auto f = compile([accumulate](Scope& s, const Values& in, Values& out) {
      const int64_t order[] = {2, 0, 1, 3};
      Tensor* const view = op(s, "permute", {any(in[0].tensor), Any::dims(order)});
      Tensor* const values = op(s, "permute", {any(in[2].tensor), Any::dims(order)});
      Tensor* const index[] = {in[1].tensor.get()};
      Any indices;
      indices.kind = ArgKind::values, indices.count = 1, indices.ts = index;
      op(s, "index_put_", {any(view), indices, any(values), Any::boolean(accumulate)});
      out.push(Ref<Tensor>(op(s, "clone", {any(in[0].tensor)})));
    }, all);
    const Ref<Tensor> cache = random({2, 3, 6, 4}, 1), at = integers({3}, {4, 1, 4}), values = random({2, 3, 3, 4}, 2);
    const Ref<Tensor> there = on_gpu(cache);
    const Ref<Tensor> at_there = on_gpu(at), values_there = on_gpu(values);
    const Floats got = run(*f, {there.get(), at_there.get(), values_there.get()});
    const std::string report = explain(*f, "memory");
    EXPECT_EQ(got, CompiledTest::run(*f, {cache.get(), at.get(), values.get()})) << error;
    EXPECT_EQ(data(*there), got);
    EXPECT_EQ(report.find("cuda:0 arena"), std::string::npos) << report;  // nothing is copied
  }
}

TEST_F(CudaPrograms, write_their_inputs_in_place) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "add_", {any(in[0].tensor), any(in[1].tensor)})));
  }, all);
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3})), y = on_gpu(tensor({3}, {10, 20, 30}));
  EXPECT_EQ(run(*f, {x.get(), y.get()}), (Floats{11, 22, 33})) << error;
  EXPECT_EQ(data(*x), (Floats{11, 22, 33}));
}

}  // namespace
}  // namespace thunder::test
