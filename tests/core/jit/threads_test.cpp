// One compiled function called by many threads at a time: hits, misses, writes, and calls past the limit.
#include <thread>

#include "support/functions.h"

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
  const CallStatistics s = f->statistics();
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
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }, options.get());
  EXPECT_EQ(failures(16, [&](int k) { return gives(*f, static_cast<size_t>(1 + k % 8), 3, -3); }), 0);
  EXPECT_EQ(f->statistics().entries, 2u);
}

TEST_F(Threads, read_statistics_and_traces_while_others_compile) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); });
  EXPECT_EQ(failures(8, [&](int k) {
    f->last_miss(), f->statistics(), f->traces();
    return gives(*f, static_cast<size_t>(1 + k), 3, -3);
  }), 0);
}

}  // namespace
}  // namespace thunder::test
