// Interrupts: where they stop what is compiled and run, and what they leave behind.
// covers: core/base/interrupts.cpp
#include "base/interrupts.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "ops/widened.h"
#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Interrupted : CompiledTest {
  static inline int steps = 0, stop_at = 0;  // steps of `counted` that ran; the one during which a request comes, from 1
  static inline Context* asked = nullptr;

  void SetUp() override { steps = stop_at = 0, asked = context.get(); }

  // Negations by an executor that counts them.
  static void counted(CompileOptions& options) {
    ExecutorDesc d;
    d.name = "counted";
    d.ops = {"prims.neg"};
    d.flags = kStrided;
    d.prepare = runs_on_node<[](const Launch* l, void* state) -> Status* {
      if (++steps == stop_at) asked->interrupts().request();
      const Node& n = *static_cast<const Node*>(state);
      return run_reference(def(n), {{l->inputs, l->n_inputs}, {l->outputs, l->n_outputs}, n.args});
    }>;
    options.add_executor(make<Executor>(std::move(d)));
    options.set("executors", Any::string("host")), options.set("disable_passes", Any::string("algebra"));  // which drops pairs of them
  }
  static Tensor* negated(Scope& s, Tensor* x, int times) {
    for (int i = 0; i < times; i++) x = op(s, "neg", {any(x)});
    return x;
  }
  Ref<Compiled> compiled(Lambda::Body body) {
    CompileOptions options;
    counted(options);
    return compile(std::move(body), &options);
  }
  Ref<Status> call(Compiled& f, Tensor* in, Tensor*& out) { return Ref<Status>::adopt(f.call_tensors(&in, 1, &out, 1)); }
  // From another thread's request, which comes again in case the call had not begun, to the call's end.
  std::chrono::milliseconds stopped_after(Compiled& f, Tensor* in) {
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> ended{false};
    std::optional<Clock::time_point> requested;
    std::thread other([&] {
      do {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (!requested) requested = Clock::now();
        context->interrupts().request();
      } while (!ended);
    });
    Tensor* out = nullptr;
    const Ref<Status> failed = call(f, in, out);
    const Clock::time_point end = Clock::now();
    ended = true;
    other.join();
    EXPECT_TRUE(failed && failed->code() == kCancelled) << "the call ended before it was interrupted";
    return std::chrono::duration_cast<std::chrono::milliseconds>(end - *requested);
  }
};

TEST_F(Interrupted, programs_stop_before_their_next_step_and_later_calls_do_not) {
  auto f = compiled([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(negated(s, in[0].tensor.get(), 10))); });
  auto x = tensor({2}, {1, 2});
  ASSERT_EQ(run(*f, {x.get()}), (Floats{1, 2})) << error;
  steps = 0, stop_at = 4;
  Tensor* out = nullptr;
  const Ref<Status> failed = call(*f, x.get(), out);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code(), kCancelled);
  EXPECT_EQ(failed->message(), "interrupted before prims.neg; no tensor was changed [at here:1]");
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(run(*f, {x.get()}), (Floats{1, 2})) << error;
}

TEST_F(Interrupted, programs_have_changed_no_input_though_they_write_small_ones_early) {
  auto f = compiled([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = negated(s, x, 1);
    op(s, "add_", {any(x), any(x)});
    out.push(Ref<Tensor>(negated(s, y, 5)));
  });
  auto x = tensor({2}, {1, 2});
  ASSERT_EQ(run(*f, {x.get()}), (Floats{1, 2})) << error;
  ASSERT_EQ(data(*x), (Floats{2, 4}));
  steps = 0, stop_at = 4;
  Tensor* out = nullptr;
  const Ref<Status> failed = call(*f, x.get(), out);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code(), kCancelled) << failed->message();
  EXPECT_EQ(data(*x), (Floats{2, 4}));
}

TEST_F(Interrupted, programs_that_began_to_write_end) {
  constexpr int64_t kMany = 1 << 15;  // too large to be copied at the end
  auto f = compiled([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = negated(s, x, 1);
    op(s, "add_", {any(x), any(x)});
    out.push(Ref<Tensor>(negated(s, y, 5)));
  });
  auto x = tensor({kMany}, Floats(kMany, 1));
  ASSERT_EQ(run(*f, {x.get()}), Floats(kMany, 1)) << error;
  steps = 0, stop_at = 4;
  EXPECT_EQ(run(*f, {x.get()}), Floats(kMany, 2)) << error;
  EXPECT_EQ(data(*x), Floats(kMany, 4));
  EXPECT_EQ(steps, 6);
}

TEST_F(Interrupted, programs_that_began_to_write_into_bound_results_end) {
  auto f = compiled([](Scope& s, const Values& in, Values& out) {
    Tensor* first = negated(s, in[0].tensor.get(), 1);
    out.push(Ref<Tensor>(first));
    out.push(Ref<Tensor>(negated(s, first, 5)));
  });
  auto x = tensor({2}, {1, 2}), y = tensor({2}, {7, 7});
  Values in, out;
  in.push(x);
  ASSERT_EQ(f->call(in, out), nullptr);
  steps = 0, stop_at = 3;
  EXPECT_EQ(Ref<Status>::adopt(f->call(in, out))->code(), kCancelled);
  out[0].bound = y;
  steps = 0;
  EXPECT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*y), (Floats{-1, -2}));
  EXPECT_EQ(steps, 6);
}

TEST_F(Interrupted, compilations_leave_nothing_behind) {
  bool request = true;
  auto f = compiled([&](Scope& s, const Values& in, Values& out) {
    if (request) context->interrupts().request();
    out.push(Ref<Tensor>(negated(s, in[0].tensor.get(), 1)));
  });
  auto x = tensor({2}, {1, 2});
  Tensor* out = nullptr;
  const Ref<Status> failed = call(*f, x.get(), out);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code(), kCancelled);
  EXPECT_EQ(f->reports().statistics().entries, 0u);
  request = false;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1, -2})) << error;
}

TEST_F(Interrupted, programs_stop_within_a_tenth_of_a_second_when_another_thread_asks) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = in[0].tensor.get();
    for (int i = 0; i < 2000; i++) y = op(s, "matmul", {any(y), any(in[0].tensor.get())});
    out.push(Ref<Tensor>(y));
  });
  auto x = tensor({256, 256}, Floats(256 * 256, 0));
  Values in;
  in.push(x);
  ASSERT_EQ(f->prepare(in), nullptr);
  // Others use the processor as well: one quick stop of five shows how long it takes.
  std::chrono::milliseconds quickest = std::chrono::milliseconds::max();
  for (int i = 0; i < 5 && quickest >= std::chrono::milliseconds(100); i++) quickest = std::min(quickest, stopped_after(*f, x.get()));
  EXPECT_LT(quickest, std::chrono::milliseconds(100));
}

// The host that is asked: counts, and answers after a while.
struct Host {
  int asked = 0, answer_at = 0;
  std::function<void()> inside;
  static Status* check(void* user) {
    auto& self = *static_cast<Host*>(user);
    if (self.inside) self.inside();
    return ++self.asked == self.answer_at ? make<Status>(Code::callback, "the host has had enough").detach() : nullptr;
  }
};

struct Asked : CompiledTest {
  Host host;
  void SetUp() override {
    ContextHooks hooks;
    hooks.check_interrupts = Host::check;
    hooks.user = &host;
    context = test::seeded_context(hooks);
  }
  // Takes a while.
  Ref<Compiled> slow(bool writes) {
    return compile([writes](Scope& s, const Values& in, Values& out) {
      Tensor* const x = in[0].tensor.get();
      Tensor* y = x;
      for (int i = 0; i < 600; i++) y = op(s, "matmul", {any(y), any(x)});
      if (writes) op(s, "add_", {any(x), any(x)});
      out.push(Ref<Tensor>(y));
    });
  }
  Ref<Tensor> x = tensor({256, 256}, Floats(256 * 256, 0));
};

TEST_F(Asked, hosts_are_asked_some_milliseconds_apart_and_their_answer_is_returned) {
  auto f = slow(false);
  Tensor *in = x.get(), *out = nullptr;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(f->call_tensors(&in, 1, &out, 1), nullptr);
  out->release();
  const auto passed = std::chrono::steady_clock::now() - start;
  EXPECT_GE(host.asked, 1);
  EXPECT_LE(host.asked, passed / std::chrono::milliseconds(10));
  host.asked = 0, host.answer_at = 1;
  const auto failed = Ref<Status>::adopt(f->call_tensors(&in, 1, &out, 1));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->message(), "the host has had enough");
  EXPECT_EQ(host.asked, 1);
}

TEST_F(Asked, hosts_that_call_what_writes_inside_of_a_call_that_writes_are_refused) {
  auto f = slow(true);
  Tensor *in = x.get(), *out = nullptr;
  ASSERT_EQ(f->call_tensors(&in, 1, &out, 1), nullptr);
  out->release();
  std::string told;
  host.inside = [&] {
    Tensor* inner = nullptr;
    if (!told.empty()) return;
    const auto failed = Ref<Status>::adopt(f->call_tensors(&in, 1, &inner, 1));
    told = failed ? failed->message() : "nothing";
  };
  ASSERT_EQ(f->call_tensors(&in, 1, &out, 1), nullptr);
  out->release();
  EXPECT_NE(told.find("was called while another one runs on this thread"), std::string::npos) << told;
}

}  // namespace
}  // namespace thunder::test
