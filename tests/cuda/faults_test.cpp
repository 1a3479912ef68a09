// Each call of the driver that can fail, failing: the error reaches the caller, nothing is lost, and the next one succeeds.
#include <dlfcn.h>

#include "cuda/cuda.h"
#include "support/fake_cuda/control.h"

namespace thunder::test {
namespace {

constexpr int kOutOfMemory = 2, kIllegalAddress = 700;

// The stand-in for the driver, if it is what this process uses.
struct Control {
  decltype(&fake_cuda_counts) counts = nullptr;
  decltype(&fake_cuda_fail_at) fail_at = nullptr;
  Control() {
    const char* path = ::getenv("THUNDER_CUDA_DRIVER");
    void* library = path ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    if (!library) return;
    counts = reinterpret_cast<decltype(counts)>(::dlsym(library, "fake_cuda_counts"));
    fail_at = reinterpret_cast<decltype(fail_at)>(::dlsym(library, "fake_cuda_fail_at"));
  }
};

struct CudaFaults : CudaTest {
  Floats expected;
  std::unique_ptr<Control> control;

  // What a program does with a device: a product and a fused softmax of data that went there, read through a turned view.
  Ref<Compiled> program() {
    return compile([](Scope& s, const Values& in, Values& out) {
      Tensor* product = op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)});
      out.push(Ref<Tensor>(op(s, "softmax", {any(op(s, "tanh", {any(product)})), Any::integer(1)})));
    }, make<CompileOptions>().get());
  }
  // Its results, or the first error.
  Floats used(Compiled& f) {
    error.clear();
    try {
      const Ref<Tensor> x = on_gpu(random({5, 7}, 1)), y = on_gpu(random({7, 4}, 2));
      const Ref<Tensor> large = on_gpu(random({200, 100}, 3));  // through pinned memory
      const Ref<Tensor> out = result(f, {x.get(), y.get()});
      if (!out) return {};
      TensorType turned = out->type();
      turned.shape = {4, 5};
      return data(*dense_copy(default_allocator(), *Tensor::view(out->storage(), turned, Sizes{1, 4}, 0)));
    } catch (const Error& e) {
      error = e.message();
      return {};
    }
  }
  Floats used_by_a_new_context() {
    context = make<Context>(ContextHooks{});
    return used(*program());
  }
  FakeCudaCounts counts() const {
    FakeCudaCounts c;
    control->counts(&c);
    return c;
  }
  // Every call of a life of a context, from opening the device to giving it back.
  int64_t calls_of_a_life() {
    control->fail_at(0, 0);
    used_by_a_new_context();
    context = nullptr;
    return counts().calls;
  }
  void expect_nothing_lost(const FakeCudaCounts& before) const {
    const FakeCudaCounts now = counts();
    EXPECT_EQ(now.blocks, before.blocks);
    EXPECT_EQ(now.host_blocks, before.host_blocks);
    EXPECT_EQ(now.streams, before.streams);
    EXPECT_EQ(now.events, before.events);
    EXPECT_EQ(now.modules, before.modules);
  }

  void SetUp() override {
    expected = used_by_a_new_context();  // opens the libraries, which stay; kernels are on disk from now on
    ASSERT_EQ(error, "");
    context = nullptr;
    control = std::make_unique<Control>();
    if (!control->counts) GTEST_SKIP() << "needs the stand-in for the driver, which fails where it is told to";
  }
  void TearDown() override {
    if (control && control->fail_at) control->fail_at(0, 0);
  }
};

TEST_F(CudaFaults, without_memory_are_errors_and_the_device_goes_on) {
  const FakeCudaCounts before = counts();
  const int64_t calls = calls_of_a_life();
  ASSERT_GT(calls, 20);
  for (int64_t n = 1; n <= calls; n++) {
    SCOPED_TRACE(cat("call ", n, " of ", calls));
    control->fail_at(n, kOutOfMemory);
    const Floats got = used_by_a_new_context();
    EXPECT_EQ(got, error.empty() ? expected : Floats());
    control->fail_at(0, 0);
    EXPECT_EQ(used(*program()), expected) << error;
    context = nullptr;
    expect_nothing_lost(before);
  }
}

// A product whose algorithms are timed, with nothing on disk: a call that fails there costs a candidate, or the program.
TEST_F(CudaFaults, while_algorithms_are_timed_are_errors_or_cost_candidates) {
  const char* told = ::getenv("THUNDER_CACHE_DIR");
  const std::string before = told ? told : "";
  ::setenv("THUNDER_CACHE_DIR", "off", 1);
  const auto product = [&]() -> Floats {
    error.clear();
    try {
      auto options = make<CompileOptions>();
      options->set("max_autotune", Any::boolean(true));
      auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))); },
                       options.get());
      const Ref<Tensor> x = on_gpu(random({13, 8}, 1)), y = on_gpu(random({8, 24}, 2));  // of sizes that no other test times
      const Ref<Tensor> out = result(*f, {x.get(), y.get()});
      return out ? data(*out) : Floats();
    } catch (const Error& e) {
      return error = e.message(), Floats();
    }
  };
  const FakeCudaCounts start = counts();
  control->fail_at(0, 0);
  context = make<Context>(ContextHooks{});
  const Floats right = product();
  context = nullptr;
  const int64_t calls = counts().calls;
  ASSERT_GT(calls, 100);
  int64_t errors = 0, results = 0;
  for (int64_t n = 1; n <= calls; n++) {
    SCOPED_TRACE(cat("call ", n, " of ", calls));
    control->fail_at(n, kOutOfMemory);
    context = make<Context>(ContextHooks{});
    const Floats got = product();
    EXPECT_EQ(got, error.empty() ? right : Floats());
    (error.empty() ? results : errors)++;
    control->fail_at(0, 0);
    EXPECT_EQ(product(), right) << error;
    context = nullptr;
    expect_nothing_lost(start);
  }
  EXPECT_GT(errors, 20);
  EXPECT_GT(results, 20);
  if (before.empty()) ::unsetenv("THUNDER_CACHE_DIR");
  else ::setenv("THUNDER_CACHE_DIR", before.c_str(), 1);
}

// What cuDNN runs, and plans in another thread: a convolution, and an attention with a mask and its gradient. Where heuristics
// fail, attention goes line by line, which rounds otherwise. Calls are thousands, so only some of them fail.
TEST_F(CudaFaults, of_convolutions_and_attention_are_errors_or_results) {
  constexpr int64_t kStep = 23;
  const auto run_both = [&]() -> Floats {
    error.clear();
    try {
      auto f = compile([](Scope& s, const Values& in, Values& out) {
        Tensor* half[3];
        for (size_t i = 0; i < 3; i++) half[i] = op(s, "to", {any(in[i].tensor), Any::string("bfloat16")});
        Tensor* y = op(s, "conv2d", {any(half[0]), any(half[2])});
        y = op(s, "scaled_dot_product_attention", {any(y), any(half[1]), any(half[1]), any(op(s, "to", {any(in[3].tensor), Any::string("bfloat16")}))});
        y = op(s, "to", {any(y), Any::string("float32")});
        Values wrt;
        wrt.push(in[1].tensor);
        const Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
        out.push((*grads)[0].tensor);
      }, make<CompileOptions>().get());
      const Ref<Tensor> x = on_gpu(random({1, 2, 8, 16}, 1)), k = on_gpu(random({1, 2, 8, 16}, 2)), w = on_gpu(random({2, 2, 1, 1}, 3));
      const Ref<Tensor> mask = on_gpu(random({8, 8}, 4));
      const Ref<Tensor> out = result(*f, {x.get(), k.get(), w.get(), mask.get()});
      return out ? data(*out) : Floats();
    } catch (const Error& e) {
      return error = e.message(), Floats();
    }
  };
  const FakeCudaCounts start = counts();
  control->fail_at(0, 0);
  context = make<Context>(ContextHooks{});
  const Floats right = run_both();
  ASSERT_FALSE(right.empty()) << error;
  context = nullptr;
  control->fail_at(0, 0);
  context = make<Context>(ContextHooks{});
  run_both();
  context = nullptr;
  const int64_t calls = counts().calls;
  for (int64_t n = 1; n <= calls; n += n < 40 ? 1 : kStep) {
    SCOPED_TRACE(cat("call ", n, " of ", calls));
    control->fail_at(n, kOutOfMemory);
    context = make<Context>(ContextHooks{});
    const Floats got = run_both();
    if (error.empty()) {
      EXPECT_EQ(battery::difference({got.begin(), got.end()}, {right.begin(), right.end()}, 0.05), "");
    }
    control->fail_at(0, 0);
    EXPECT_FALSE(run_both().empty()) << error;
    context = nullptr;
    expect_nothing_lost(start);
  }
}

TEST_F(CudaFaults, that_lose_the_device_are_told_by_each_later_use) {
  const FakeCudaCounts before = counts();
  const int64_t calls = calls_of_a_life();
  int64_t lost = 0;
  for (int64_t n = 1; n <= calls; n++) {
    SCOPED_TRACE(cat("call ", n, " of ", calls));
    control->fail_at(n, kIllegalAddress);
    Floats got = used_by_a_new_context();
    EXPECT_EQ(got, error.empty() ? expected : Floats());  // giving memory back may fail after the results came
    control->fail_at(0, 0);
    got = used(*program());
    EXPECT_EQ(got, error.empty() ? expected : Floats());
    if (!error.empty()) {
      EXPECT_NE(error.find("the device cannot be used any more by this process"), std::string::npos) << error;
      lost++;
    }
    context = nullptr;
    expect_nothing_lost(before);
  }
  EXPECT_GT(lost, 10);
}

}  // namespace
}  // namespace thunder::test
