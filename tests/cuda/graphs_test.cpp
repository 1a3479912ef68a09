// Programs recorded as CUDA graphs (recorded, recording): the results of calls that go step by step, and what cannot be recorded.
// covers: core/device/cuda/recording.cpp core/program/recorded.cpp
#include "cuda/cuda.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct CudaGraphs : CudaTest {
  static Ref<CompileOptions> graphs() {
    auto options = make<CompileOptions>();
    options->set("mode", Any::string("reduce-overhead"));
    return options;
  }
  // The same calls with and without: each call has inputs of its own.
  void agrees(const Lambda::Body& body, const std::vector<std::vector<int64_t>>& shapes) {
    auto f = compile(body, graphs().get()), plain = compile(body, make<CompileOptions>().get());
    for (uint32_t call = 0; call < 5; call++) {
      std::vector<Ref<Tensor>> kept;
      std::vector<Tensor*> in;
      for (const auto& shape : shapes) kept.push_back(on_gpu(random(shape, 10 * call + static_cast<uint32_t>(in.size())))), in.push_back(kept.back().get());
      const Floats expected = run(*plain, in);
      ASSERT_FALSE(expected.empty()) << error;
      EXPECT_EQ(run(*f, in), expected) << "call " << call << ": " << error;
    }
    EXPECT_NE(explain(*f, "memory").find("CUDA graph recorded: "), std::string::npos) << explain(*f, "memory");
  }
};

TEST_F(CudaGraphs, of_kernels_and_products_compute_what_steps_do) {
  agrees([](Scope& s, const Values& in, Values& out) {
    Tensor* product = op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)});
    out.push(Ref<Tensor>(op(s, "softmax", {any(op(s, "tanh", {any(product)})), Any::integer(1)})));
  }, {{5, 7}, {7, 4}});
}

// Every call has its tensors elsewhere.
TEST_F(CudaGraphs, update_parameters_of_kernels_and_copy_what_libraries_read) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* product = op(s, "matmul", {any(in[0].tensor), any(in[0].tensor)});
    out.push(Ref<Tensor>(op(s, "add", {any(op(s, "exp", {any(product)})), any(in[1].tensor)})));
  }, graphs().get());
  auto plain = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)})));
  }, graphs().get());
  std::vector<Ref<Tensor>> kept;  // so that no memory is used again
  for (uint32_t call = 0; call < 5; call++) {
    const Ref<Tensor> x = on_gpu(tensor({1, 1}, {0})), y = on_gpu(tensor({1, 1}, {static_cast<float>(call)}));
    kept.push_back(result(*f, {x.get(), y.get()}));
    kept.push_back(result(*plain, {kept.back().get(), y.get()}));
    kept.push_back(x), kept.push_back(y);
  }
  for (uint32_t call = 0; call < 5; call++) {
    const auto n = static_cast<float>(call);
    EXPECT_EQ(data(*kept[4 * call]), (Floats{1 + n})) << error;
    EXPECT_EQ(data(*kept[4 * call + 1]), (Floats{(1 + n) * n})) << error;
  }
  EXPECT_NE(explain(*f, "memory").find("; 1 inputs and 0 results are copied"), std::string::npos) << explain(*f, "memory");
  EXPECT_NE(explain(*plain, "memory").find("; 0 inputs and 0 results are copied"), std::string::npos) << explain(*plain, "memory");
}

TEST_F(CudaGraphs, of_convolutions_and_of_inputs_that_lie_anyhow) {
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "relu", {any(op(s, "conv2d", {any(in[0].tensor), any(in[1].tensor)}))})));
  }, {{1, 2, 5, 5}, {3, 2, 3, 3}});
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); }, graphs().get());
  const Ref<Tensor> all = on_gpu(random({6, 4}, 3));
  TensorType turned = all->type();
  turned.shape = {4, 3};
  const Ref<Tensor> view = Tensor::view(all->storage(), turned, Sizes{1, 8}, 0);
  const Floats first = run(*f, {view.get()});
  ASSERT_EQ(first.size(), 12u) << error;
  for (int call = 0; call < 3; call++) EXPECT_EQ(run(*f, {view.get()}), first);
}

// Learning rates, steps and the state of random numbers change between calls.
TEST_F(CudaGraphs, get_numbers_of_the_cpu_anew_in_each_call) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)})));
  }, graphs().get());
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3}));
  for (int call = 1; call < 6; call++) {
    const Ref<Tensor> factor = tensor({}, {static_cast<float>(call)});
    EXPECT_EQ(run(*f, {x.get(), factor.get()}), (Floats{1.0F * call, 2.0F * call, 3.0F * call})) << error;
  }
  EXPECT_NE(explain(*f, "memory").find("CUDA graph recorded: "), std::string::npos);
}

TEST_F(CudaGraphs, draw_other_numbers_in_each_call) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor), Any::real(0.5), Any::boolean(true)})));
  };
  auto f = compile(body, graphs().get()), plain = compile(body, make<CompileOptions>().get());
  const Ref<Tensor> x = on_gpu(random({64}, 1, 1, 2));
  std::vector<Floats> drawn, expected;
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  state[0] = state[1] = 0;
  for (int call = 0; call < 4; call++) drawn.push_back(run(*f, {x.get()}));
  state[0] = state[1] = 0;
  for (int call = 0; call < 4; call++) expected.push_back(run(*plain, {x.get()}));
  EXPECT_EQ(drawn, expected);
  EXPECT_NE(drawn[2], drawn[3]);
  EXPECT_NE(explain(*f, "memory").find("CUDA graph recorded: "), std::string::npos) << explain(*f, "memory");
}

TEST_F(CudaGraphs, write_the_callers_tensors) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "add_", {any(in[0].tensor), any(in[1].tensor)})));
  }, graphs().get());
  const Ref<Tensor> x = on_gpu(tensor({3}, {1, 2, 3})), y = on_gpu(tensor({3}, {1, 1, 1}));
  for (int call = 1; call < 5; call++) {
    ASSERT_TRUE(result(*f, {x.get(), y.get()})) << error;
    EXPECT_EQ(data(*x), (Floats{1.0F + call, 2.0F + call, 3.0F + call}));
  }
}

TEST_F(CudaGraphs, say_what_cannot_be_recorded) {
  auto moves = compile([](Scope& s, const Values& in, Values& out) {
    Any cpu;
    cpu.kind = ArgKind::device, cpu.device = Device::cpu;
    out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "to", {any(op(s, "exp", {any(in[0].tensor)})), Any(), cpu}))})));
  }, graphs().get());
  const Ref<Tensor> x = on_gpu(random({3}, 1));
  Floats first;
  for (int call = 0; call < 3; call++) {
    const Ref<Tensor> out = result(*moves, {x.get()});
    ASSERT_TRUE(out) << error;
    if (!call) first = data(*out);
    EXPECT_EQ(data(*out), first);
  }
  EXPECT_NE(explain(*moves, "memory").find("not recorded: prims.to_device [at here:1] moves data from the device to the CPU"), std::string::npos) << explain(*moves, "memory");
  auto on_cpu = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); }, graphs().get());
  const Ref<Tensor> here = random({3}, 1);
  for (int call = 0; call < 2; call++) ASSERT_FALSE(CompiledTest::run(*on_cpu, {here.get()}).empty());
  EXPECT_NE(explain(*on_cpu, "memory").find("not recorded: nothing runs on a CUDA device"), std::string::npos);
}

TEST_F(CudaGraphs, are_asked_for_by_a_mode_that_is_known) {
  auto options = make<CompileOptions>();
  options->set("mode", Any::string("fast"));
  try {
    compile([](Scope&, const Values&, Values&) {}, options.get());
    FAIL() << "the mode 'fast' was taken";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("option 'mode' must be one of \"default\", \"reduce-overhead\""), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace thunder::test
