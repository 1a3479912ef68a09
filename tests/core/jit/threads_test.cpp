// One compiled function called by many threads at a time: hits, misses, writes, calls past the limit, and whatever else a program
// does meanwhile.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "support/function_kernel.h"
#include "support/functions.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct Threads : CompiledTest {
  // Runs body(k) on `n` threads and gives how often it was false.
  template <class F>
  static int failures(int n, F&& body) {
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < n; k++)
      threads.emplace_back([&, k] {
        if (!body(k)) failed++;
      });
    for (auto& t : threads) t.join();
    return failed;
  }
  // f of `size` elements of `value`: whether each element of the result is `expected`.
  bool gives(Compiled& f, size_t size, float value, float expected) {
    auto x = tensor({static_cast<int64_t>(size)}, Floats(size, value));
    Tensor *in = x.get(), *out = nullptr;
    if (Ref<Status> failed = Ref<Status>::adopt(f.call_tensors(&in, 1, &out, 1))) return false;
    const Ref<Tensor> result = Ref<Tensor>::adopt(out);
    return data(*result) == Floats(size, expected);
  }
};

TEST_F(Threads, share_programs_and_compile_each_once) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "mul", {any(in[0].tensor.get()), any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "add", {any(y), Any::real(1)})));
  });
  EXPECT_EQ(failures(64, [&](int k) {
    bool right = true;
    for (int i = 0; i < 8; i++) {
      const auto v = static_cast<float>(k + i);
      right &= gives(*f, static_cast<size_t>(1 + (k + i) % 4), v, v * v + 1);
    }
    return right;
  }), 0);
  const CallStatistics s = f->reports().statistics();
  EXPECT_EQ(s.calls, 64u * 8);
  EXPECT_EQ(s.misses, 4u);
  EXPECT_EQ(s.entries, 4u);
}

TEST_F(Threads, lose_no_write) {
  auto w = tensor({4}, Floats(4, 0));
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(w.get()), any(op(s, "sum", {any(in[0].tensor.get())}))});
    out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())})));
  });
  EXPECT_EQ(failures(64, [&](int k) {
    bool right = true;
    for (int i = 0; i < 8; i++) right &= gives(*f, static_cast<size_t>(1 + k % 3), 1, -1);
    return right;
  }), 0);
  float expected = 0;
  for (int k = 0; k < 64; k++) expected += 8 * static_cast<float>(1 + k % 3);
  EXPECT_EQ(data(*w), Floats(4, expected));
}

TEST_F(Threads, go_past_the_limit_together) {
  auto options = make<CompileOptions>();
  options->set("recompile_limit", Any::integer(2));
  options->set("dynamic", Any::boolean(false));
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }, options.get());
  EXPECT_EQ(failures(16, [&](int k) { return gives(*f, static_cast<size_t>(1 + k % 8), 3, -3); }), 0);
  EXPECT_EQ(f->reports().statistics().entries, 2u);
}

// Attention, a product large enough for a library, and lines that become kernels; `width` columns of 64 rows.
void everything(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  const int64_t width = x->type().shape[1].value();
  const std::vector<int64_t> heads = {1, 2, 64, width / 2}, rows = {64, width};
  Tensor* h = op(s, "reshape", {any(op(s, "tanh", {any(x)})), Any::dims(heads)});
  Tensor* a = op(s, "reshape", {any(op(s, "scaled_dot_product_attention", {any(h), any(h), any(h)})), Any::dims(rows)});
  Tensor* y = op(s, "matmul", {any(op(s, "mul", {any(a), any(x)})), any(op(s, "transpose", {any(x), Any::integer(0), Any::integer(1)}))});
  out.push(Ref<Tensor>(op(s, "softmax", {any(y), Any::integer(1)})));
  out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "exp", {any(a)}))})));
}

// Heads and images are more than any of these threads, and each thread has scratch of its own.
TEST_F(Threads, executors_plan_for_the_pool_of_their_context) {
  const auto peak_with = [this](size_t threads, const Lambda::Body& body, const std::vector<Tensor*>& in, const char* executor) {
    context->use_threads(threads);
    auto f = compile(body, only(executor).get());
    EXPECT_FALSE(run(*f, in).empty()) << error;
    EXPECT_GT(lines_of(*f, executor), 0) << executor;
    return f->reports().statistics().peak_bytes;
  };
  const auto heads = random({16, 256, 32}, 1), images = random({16, 8, 40, 40}, 2), taps = random({8, 8, 5, 5}, 3);
  const Lambda::Body attend = [](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    out.push(Ref<Tensor>(op(s, "scaled_dot_product_attention", {any(x), any(x), any(x)})));
  };
  const Lambda::Body convolve = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "conv2d", {any(in[0].tensor.get()), any(in[1].tensor.get())})));
  };
  if (!context->find_executor("attention")) GTEST_SKIP() << "the processor has no AVX2";
  EXPECT_LT(peak_with(1, attend, {heads.get()}, "attention"), peak_with(8, attend, {heads.get()}, "attention"));
  EXPECT_LT(peak_with(1, convolve, {images.get(), taps.get()}, "convolution"), peak_with(8, convolve, {images.get(), taps.get()}, "convolution"));
}

struct AllExecutors : Threads {
  static constexpr int kInputs = 8;
  Ref<CompileOptions> all = make<CompileOptions>();
  std::vector<Ref<Tensor>> inputs;
  std::vector<Floats> expected;  // by one thread
  void SetUp() override {
    context->use_threads(3);
    auto f = compile(everything, all.get());
    for (int i = 0; i < kInputs; i++) {
      inputs.push_back(random({64, 96 + 32 * (i % 2)}, static_cast<uint32_t>(i + 1)));
      expected.push_back(run(*f, {inputs.back().get()}));
      ASSERT_FALSE(expected.back().empty()) << error;
    }
    for (const char* name : {"fusion", "products", "attention"}) EXPECT_EQ(lines_of(*f, name) > 0, context->find_executor(name).get() != nullptr) << name;
  }
  // The same bits as by one thread.
  bool gives_expected(Compiled& f, int k) {
    const auto i = static_cast<size_t>(k) % kInputs;
    Tensor *in = inputs[i].get(), *out[2] = {};
    if (Ref<Status> failed = Ref<Status>::adopt(f.call_tensors(&in, 1, out, 2))) return false;
    const Ref<Tensor> first = Ref<Tensor>::adopt(out[0]), second = Ref<Tensor>::adopt(out[1]);
    return data(*first) == expected[i];
  }
};

TEST_F(AllExecutors, serve_64_threads_at_once) {
  auto f = compile(everything, all.get());
  std::barrier together(64);
  EXPECT_EQ(failures(64, [&](int k) {
    together.arrive_and_wait();
    bool right = true;
    for (int i = 0; i < 4; i++) right &= gives_expected(*f, k + i);
    return right;
  }), 0);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
}

// Each thread has a part of its own in what one program does.
TEST_F(AllExecutors, serve_while_others_compile_allocate_and_ask) {
  auto shared = compile(everything, all.get());
  const auto compiles = [&](int k) {
    auto options = make<CompileOptions>();
    options->set("recompile_limit", Any::integer(1 + k));
    auto own = compile(everything, options.get());
    auto small = compile([k](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor.get()), Any::real(k)}))); }, all.get());
    return gives_expected(*own, k) && gives(*small, static_cast<size_t>(k + 1), 2, 2.0f * static_cast<float>(k));
  };
  const auto allocates = [&](int k) {
    std::vector<Ref<Tensor>> kept;
    for (int i = 0; i < 50; i++) {
      kept.push_back(random({1 + (i * 37 + k) % 200, 60}, static_cast<uint32_t>(i)));
      if (i % 3 == 0) kept.erase(kept.begin());
    }
    return !kept.empty();
  };
  const auto asks = [&](int) {
    for (int i = 0; i < 20; i++) {
      shared->reports().statistics(), shared->reports().last_miss(), explain(*shared, "memory"), explain(*shared, "fusion"), explain(*shared, "loops"), shared->reports().traces();
      context->executor_names(), context->passes_with({});
      if (BlockCache* blocks = context->block_cache()) blocks->statistics();
    }
    return true;
  };
  EXPECT_EQ(failures(64, [&](int k) {
    switch (k % 4) {
      case 0: return compiles(k);
      case 1: return allocates(k);
      case 2: return asks(k);
      default: return gives_expected(*shared, k) && gives_expected(*shared, k + 1);
    }
  }), 0);
}

// A line that waits until `count` calls are in it.
struct Meeting {
  static constexpr int kCount = 8;
  std::mutex mutex;
  std::condition_variable more;
  int here = 0;
  static Status* run(const Launch* launch, void* state) {
    auto& m = *static_cast<Meeting*>(state);
    std::unique_lock lock(m.mutex);
    m.here++;
    m.more.notify_all();
    const bool all = m.more.wait_for(lock, std::chrono::seconds(60), [&] { return m.here >= kCount; });
    launch->outputs[0].as<float>()[0] = all ? 1.0f : 0.0f;
    return nullptr;
  }
};

TEST_F(Threads, run_side_by_side) {
  Meeting meeting;
  ExecutorDesc d;
  d.name = "meeting";
  d.ops = {"prims.neg"};
  d.user = &meeting;
  d.prepare = runs_on_user<Meeting::run>;
  auto options = only("host");
  options->add_executor(make<Executor>(std::move(d)));
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }, options.get());
  EXPECT_EQ(failures(Meeting::kCount, [&](int) { return gives(*f, 1, 5, 1); }), 0);
}

TEST_F(Threads, read_statistics_and_traces_while_others_compile) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); });
  EXPECT_EQ(failures(8, [&](int k) {
    f->reports().last_miss(), f->reports().statistics(), f->reports().traces();
    return gives(*f, static_cast<size_t>(1 + k), 3, -3);
  }), 0);
}

}  // namespace
}  // namespace thunder::test
