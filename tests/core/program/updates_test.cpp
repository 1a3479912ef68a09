// Updates in the memory of what they update.
// covers: core/executors/executor.cpp
#include "program/locations.h"

#include "executors/executor.h"
#include "ops/widened.h"
#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

Any list(std::span<Tensor* const> tensors) {
  Any a;
  a.kind = ArgKind::values, a.count = static_cast<uint32_t>(tensors.size()), a.ts = tensors.data();
  return a;
}

struct Updates : CompiledTest {
  static Tensor* put(Scope& s, Tensor* into, Tensor* index, Tensor* values) {
    Tensor* const indices[] = {index};
    return op(s, "index_put_", {any(into), list(indices), any(values)});
  }
  static Tensor* turned(Scope& s, Tensor* x) {
    const int64_t order[] = {1, 0};
    return op(s, "permute", {any(x), Any::dims(order)});
  }
  std::string call(Compiled& f, std::initializer_list<Ref<Tensor>> given) {
    Values in, out;
    for (const auto& t : given) in.push(t);
    return Ref<Status>::adopt(f.call(in, out)) ? "refused" : "";
  }
};

TEST_F(Updates, store_rows_of_a_cache_where_it_is) {
  auto cache = tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto f = compile([&](Scope& s, const Values& in, Values&) { put(s, cache.get(), in[0].tensor.get(), in[1].tensor.get()); });
  ASSERT_EQ(call(*f, {integers({1}, {2}), tensor({1, 2}, {0, 9})}), "");
  EXPECT_EQ(data(*cache), (Floats{1, 2, 3, 4, 0, 9, 7, 8}));
  EXPECT_EQ(f->reports().statistics().peak_bytes, 0u);
}

TEST_F(Updates, store_through_views_of_a_cache) {
  auto cache = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    put(s, turned(s, cache.get()), in[0].tensor.get(), in[1].tensor.get());
    out.push(Ref<Tensor>(op(s, "neg", {any(cache.get())})));
  });
  ASSERT_EQ(run(*f, {integers({1}, {1}).get(), tensor({1, 2}, {7, 8}).get()}), (Floats{-1, -7, -3, -4, -8, -6})) << error;
  EXPECT_EQ(data(*cache), (Floats{1, 7, 3, 4, 8, 6}));
  EXPECT_EQ(f->reports().statistics().peak_bytes, 0u);
}

TEST_F(Updates, leave_the_old_value_to_those_who_read_it_later) {
  auto cache = tensor({3}, {1, 2, 3});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* old = op(s, "prims.clone", {any(cache.get())});
    Tensor* made = put(s, cache.get(), in[0].tensor.get(), in[1].tensor.get());
    out.push(Ref<Tensor>(op(s, "sub", {any(made), any(old)})));
  });
  EXPECT_EQ(run(*f, {integers({1}, {1}).get(), tensor({1}, {9}).get()}), (Floats{0, 7, 0})) << error;
  EXPECT_EQ(data(*cache), (Floats{1, 9, 3}));
}

TEST_F(Updates, leave_what_the_program_does_not_write) {
  auto x = tensor({3}, {1, 2, 3});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* const indices[] = {in[1].tensor.get()};
    out.push(Ref<Tensor>(op(s, "index_put", {any(in[0].tensor.get()), list(indices), any(in[2].tensor.get())})));
  });
  EXPECT_EQ(run(*f, {x.get(), integers({1}, {0}).get(), tensor({1}, {9}).get()}), (Floats{9, 2, 3})) << error;
  EXPECT_EQ(data(*x), (Floats{1, 2, 3}));
}

// Its kernel may write before it looks, or read what it has written.
TEST_F(Updates, by_executors_of_callers_have_memory_of_their_own) {
  static bool shared;
  shared = false;
  ExecutorDesc d;
  d.name = "theirs";
  d.ops = {"prims.index_put"};
  d.flags = kStrided | kMayFail;
  d.claim = [](const NodeView&, void*) { return true; };
  d.prepare = runs_on_node<[](const Launch* l, void* state) -> Status* {
    shared |= l->inputs[0].data == l->outputs[0].data;
    const Node& n = *static_cast<const Node*>(state);
    return run_reference(def(n), {{l->inputs, l->n_inputs}, {l->outputs, l->n_outputs}, n.args});
  }>;
  context->add_executor(make<Executor>(d));
  auto cache = tensor({3}, {1, 2, 3});
  auto f = compile([&](Scope& s, const Values& in, Values&) { put(s, cache.get(), in[0].tensor.get(), in[1].tensor.get()); });
  ASSERT_EQ(call(*f, {integers({1}, {1}), tensor({1}, {9})}), "");
  EXPECT_EQ(data(*cache), (Floats{1, 9, 3}));
  EXPECT_FALSE(shared);
}

// The second one is refused after the first one has been made, unless both look at the same indices.
TEST_F(Updates, that_are_refused_have_changed_nothing) {
  for (const bool same : {false, true}) {
    auto first = tensor({3}, {1, 2, 3}), second = tensor({3}, {4, 5, 6});
    auto f = compile([&](Scope& s, const Values& in, Values&) {
      put(s, first.get(), in[0].tensor.get(), in[2].tensor.get());
      put(s, second.get(), in[same ? 0 : 1].tensor.get(), in[2].tensor.get());
    });
    auto good = integers({2}, {0, 1}), bad = integers({2}, {1, 3}), values = tensor({2}, {8, 9});
    EXPECT_EQ(call(*f, {same ? bad : good, bad, values}), "refused");
    EXPECT_EQ(data(*first), (Floats{1, 2, 3}));
    EXPECT_EQ(data(*second), (Floats{4, 5, 6}));
    EXPECT_EQ(call(*f, {good, good, values}), "");
    EXPECT_EQ(data(*first), (Floats{8, 9, 3}));
    EXPECT_EQ(data(*second), (Floats{8, 9, 6}));
  }
}

}  // namespace
}  // namespace thunder::test
