// The memory plan, seen through what compiled functions do to memory.
// covers: core/program/plan_steps.cpp core/program/program.cpp
#include "program/program.h"

#include <cmath>
#include <numeric>

#include "jit/reports/explain.h"
#include "ops/widened.h"
#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using Plan_ = CompiledTest;

TEST_F(Plan_, shares_the_arena_among_values_of_different_times) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = in[0].tensor.get();
    for (int i = 0; i < 50; i++) y = op(s, "add", {any(y), any(y)});
    out.push(Ref<Tensor>(op(s, "prims.sum", {any(y), Any::dims({})})));
  });
  auto x = tensor({1024}, Floats(1024, 0));
  ASSERT_EQ(run(*f, {x.get()}), (Floats{0})) << error;
  EXPECT_LE(f->reports().statistics().peak_bytes, 2 * 4096u);
}

constexpr size_t kScratch = 1 << 16;

TEST_F(Plan_, shares_the_scratch_among_steps) {
  ExecutorDesc d;
  d.name = "scratchy";
  d.ops = {"prims.mul"};
  d.flags = kStrided;
  d.prepare = [](const NodeView& view, void*) -> KernelPtr {
    const auto run = [](const Launch* l, void* state) -> Status* {
      std::fill_n(static_cast<char*>(l->scratch), kScratch, char{1});
      const Node& n = *static_cast<const Node*>(state);
      return run_reference(def(n), {{l->inputs, l->n_inputs}, {l->outputs, l->n_outputs}, n.args});
    };
    return std::make_unique<FunctionKernel>(KernelCall{run, const_cast<Node*>(&view.node)}, kScratch);
  };
  context->add_executor(make<Executor>(d));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = in[0].tensor.get();
    for (int i = 0; i < 3; i++) y = op(s, "mul", {any(y), any(y)});
    out.push(Ref<Tensor>(y));
  });
  auto x = tensor({2}, {1, 2});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{1, 256})) << error;
  EXPECT_GE(f->reports().statistics().peak_bytes, kScratch);
  EXPECT_LT(f->reports().statistics().peak_bytes, 2 * kScratch);
}

TEST_F(Plan_, takes_no_memory_for_views) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t flat[] = {4}, wide[] = {3, 4};
    Tensor* y = op(s, "prims.expand", {any(op(s, "prims.reshape", {any(in[0].tensor.get()), Any::dims(flat)})), Any::dims(wide)});
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(y)})));
  });
  auto x = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{2, 4, 6, 8, 2, 4, 6, 8, 2, 4, 6, 8})) << error;
  EXPECT_EQ(f->reports().statistics().peak_bytes, 0u);
}

// Longer than the parts that threads take.
TEST_F(Plan_, copies_a_returned_view_of_many_rows) {
  auto options = by_line();
  options->set("disable_passes", Any::string("materialize"));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t turned[] = {1, 0};
    out.push(Ref<Tensor>(op(s, "prims.permute", {any(in[0].tensor.get()), Any::dims(turned)})));
  }, options.get());
  constexpr size_t kRows = 150, kColumns = 700;
  Floats numbers(kRows * kColumns), expected;
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  for (size_t j = 0; j < kColumns; j++)
    for (size_t i = 0; i < kRows; i++) expected.push_back(static_cast<float>(i * kColumns + j));
  auto x = tensor({kRows, kColumns}, numbers);
  EXPECT_EQ(run(*f, {x.get()}), expected) << error;
}

// What a reshape makes of a permuted value is one copy of it.
TEST_F(Plan_, copies_once_what_is_reshaped_against_its_strides) {
  auto options = by_line();
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t turned[] = {1, 0}, flat[] = {6};
    Tensor* const y = op(s, "prims.permute", {any(op(s, "neg", {any(in[0].tensor.get())})), Any::dims(turned)});
    out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "prims.reshape", {any(y), Any::dims(flat)}))})));
  }, options.get());
  auto x = tensor({2, 3}, {0, 0, 0, -1, -1, -1});
  const float e = std::exp(1.0f);
  const Floats got = run(*f, {x.get()});
  ASSERT_EQ(got.size(), 6u) << error;
  for (size_t i = 0; i < 6; i++) EXPECT_NEAR(got[i], i % 2 ? e : 1.0f, 1e-5f);
  const std::string steps = explain(*f, "lower");
  EXPECT_EQ(steps.find("prims.reshape"), std::string::npos) << steps;
  EXPECT_EQ(steps.find("to a dense tensor"), steps.rfind("to a dense tensor")) << steps;
  EXPECT_NE(steps.find("to a dense tensor"), std::string::npos) << steps;
}

TEST_F(Plan_, returns_what_was_computed_under_another_shape_without_a_copy) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t flat[] = {4};
    Tensor* y = op(s, "neg", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "prims.reshape", {any(y), Any::dims(flat)})));
    out.push(Ref<Tensor>(y));
  });
  Values in, out;
  in.push(tensor({2, 2}, {1, 2, 3, 4}));
  ASSERT_EQ(f->call(in, out), nullptr);
  for (size_t i : {0, 1}) EXPECT_EQ(data(*out[i].tensor), (Floats{-1, -2, -3, -4}));
  EXPECT_NE(out[0].tensor->data(), out[1].tensor->data());
  EXPECT_EQ(f->reports().statistics().peak_bytes, 0u);
}

TEST_F(Plan_, copies_a_returned_part_of_what_was_computed) {
  auto options = by_line();
  options->set("disable_passes", Any::string("materialize"));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const int64_t first[] = {1}, end[] = {3}, step[] = {1};
    Tensor* y = op(s, "neg", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "prims.slice", {any(y), Any::dims(first), Any::dims(end), Any::dims(step)})));
  }, options.get());
  auto x = tensor({4}, {1, 2, 3, 4});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-2, -3})) << error;
}

TEST_F(Plan_, makes_a_safe_update_in_the_inputs_own_memory) {
  auto w = tensor({4}, {1, 2, 3, 4});
  auto f = compile([&](Scope& s, const Values& in, Values&) { op(s, "add_", {any(w.get()), any(in[0].tensor.get())}); });
  auto x = tensor({4}, {1, 1, 1, 1});
  Values in, out;
  in.push(x);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*w), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(f->reports().statistics().peak_bytes, 0u);
}

TEST_F(Plan_, keeps_the_old_value_for_those_who_read_it_later) {
  auto w = tensor({2}, {1, 2});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    const int64_t order[] = {0};
    Tensor* old = op(s, "prims.permute", {any(w.get()), Any::dims(order)});
    Tensor* before = op(s, "neg", {any(old)});
    op(s, "add_", {any(w.get()), any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "add", {any(before), any(w.get())})));
  });
  auto x = tensor({2}, {5, 6});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{5, 6})) << error;
  EXPECT_EQ(data(*w), (Floats{6, 8}));
}

TEST_F(Plan_, swaps_two_inputs) {
  auto f = compile([](Scope& s, const Values& in, Values&) {
    Tensor *a = in[0].tensor.get(), *b = in[1].tensor.get();
    Tensor* old = op(s, "prims.clone", {any(a)});
    op(s, "mul_", {any(a), Any::real(0)});
    op(s, "add_", {any(a), any(b)});
    op(s, "mul_", {any(b), Any::real(0)});
    op(s, "add_", {any(b), any(old)});
  });
  auto a = tensor({2}, {1, 2}), b = tensor({2}, {3, 4});
  Values in, out;
  in.push(a);
  in.push(b);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*a), (Floats{3, 4}));
  EXPECT_EQ(data(*b), (Floats{1, 2}));
}

TEST_F(Plan_, a_call_that_fails_has_changed_nothing) {
  auto w = tensor({4}, {1, 2, 3, 4});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(w.get()), any(w.get())});
    out.push(Ref<Tensor>(op(s, "prims.take", {any(w.get()), Any::integer(0), any(in[0].tensor.get())})));
  });
  auto good = integers({2}, {0, 3}), bad = integers({2}, {0, 9});
  EXPECT_EQ(run(*f, {good.get()}), (Floats{2, 8})) << error;
  EXPECT_TRUE(run(*f, {bad.get()}).empty());
  EXPECT_NE(error.find('9'), std::string::npos) << error;
  EXPECT_EQ(data(*w), (Floats{2, 4, 6, 8}));
}

TEST_F(Plan_, writes_a_result_into_the_tensor_bound_to_it) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); });
  auto x = tensor({2}, {1, 2}), y = tensor({2}, {0, 0});
  Values in, out;
  in.push(x);
  out.bind(0, y);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(out[0].tensor.get(), y.get());
  EXPECT_EQ(data(*y), (Floats{-1, -2}));
  out.bind(0, x);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*x), (Floats{-1, -2}));
}

}  // namespace
}  // namespace thunder::test
