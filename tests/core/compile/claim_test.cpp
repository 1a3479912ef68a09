// Who runs what: priority, descent, regions, declining, dense inputs.
#include "compile/claim.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

// An executor that adds its mark to results, so that tests see who ran.
struct Mark {
  float value = 100;
  bool decline = false;
  size_t largest_region = 0;
  std::vector<bool> dense;
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  auto& mark = *static_cast<Mark*>(user);
  *state = user;
  *scratch = 16;
  mark.largest_region = std::max(mark.largest_region, view.node.body.size());
  return mark.decline ? make<Status>(Code::declined, "not today").detach() : nullptr;
}

Status* run(const Launch* l, void* state) {
  auto& mark = *static_cast<Mark*>(state);
  if (!l->scratch) return make<Status>(Code::internal, "no scratch").detach();
  for (size_t i = 0; i < l->n_inputs; i++) {
    const Buffer& in = l->inputs[i];
    mark.dense.push_back(
        is_dense({in.shape, static_cast<size_t>(in.rank)}, {in.strides, static_cast<size_t>(in.rank)}));
  }
  for (int64_t i = 0; i < l->outputs[0].elements(); i++) l->outputs[0].as<float>()[i] = mark.value;
  return nullptr;
}

Ref<Executor> marking(Mark& mark, std::vector<std::string> ops) {
  ExecutorDesc d;
  d.name = "mark";
  d.ops = std::move(ops);
  d.user = &mark;
  d.prepare = prepare;
  d.run = run;
  return make<Executor>(d);
}

struct Claim : CompiledTest {
  Ref<CompileOptions> with(Ref<Executor> e) {
    auto options = make<CompileOptions>();
    options->add_executor(std::move(e));
    return options;
  }
  Mark mark;
  Ref<Tensor> x = tensor({2, 2}, {1, 2, 3, 4});
};

void sum_of_products(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  out.push(Ref<Tensor>(op(s, "add", {any(op(s, "mul", {any(x), any(x)})), any(x)})));
}

TEST_F(Claim, host_claims_every_prim) { EXPECT_EQ(run(*compile(sum_of_products), {x.get()}), (Floats{2, 6, 12, 20})); }

TEST_F(Claim, a_composite_is_claimed_before_its_decomposition) {
  EXPECT_EQ(run(*compile(sum_of_products, with(marking(mark, {"mul"})).get()), {x.get()}), (Floats{101, 102, 103, 104}))
      << error;
}

TEST_F(Claim, a_prim_is_claimed_by_the_executor_of_highest_priority) {
  EXPECT_EQ(run(*compile(sum_of_products, with(marking(mark, {"prims.add"})).get()), {x.get()}),
            (Floats{100, 100, 100, 100}))
      << error;
}

TEST_F(Claim, the_next_executor_prepares_a_node_that_was_declined) {
  mark.decline = true;
  EXPECT_EQ(run(*compile(sum_of_products, with(marking(mark, {"prims.add"})).get()), {x.get()}), (Floats{2, 6, 12, 20}))
      << error;
}

TEST_F(Claim, an_executor_without_strided_support_gets_dense_copies) {
  auto transposed = [](Scope& s, const Values& in, Values& out) {
    const int64_t order[] = {1, 0};
    Tensor* t = op(s, "prims.permute", {any(in[0].tensor.get()), Any::dims(order)});
    out.push(Ref<Tensor>(op(s, "mul", {any(t), any(t)})));
  };
  EXPECT_EQ(run(*compile(transposed, with(marking(mark, {"mul"})).get()), {x.get()}), (Floats{100, 100, 100, 100}))
      << error;
  EXPECT_EQ(mark.dense, (std::vector<bool>{true, true}));
}

// Takes every line that it is offered as one region.
Ref<Executor> fusing(Mark& mark, std::vector<std::string> ops) {
  ExecutorDesc d = marking(mark, std::move(ops))->desc();
  d.claim_region = [](std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*) {
    std::fill_n(taken, nodes.size(), uint8_t{1});
    return true;
  };
  return make<Executor>(d);
}

TEST_F(Claim, a_fusion_executor_claims_connected_nodes_as_one_region) {
  EXPECT_EQ(run(*compile(sum_of_products, with(fusing(mark, {"prims.add", "prims.mul"})).get()), {x.get()}),
            (Floats{100, 100, 100, 100}))
      << error;
  EXPECT_EQ(mark.largest_region, 2u);
}

TEST_F(Claim, an_unknown_executor_name_is_reported_with_a_suggestion) {
  try {
    compile(sum_of_products, only("hots").get());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "executors: unknown executor 'hots' (did you mean 'host'?)");
  }
}

TEST(Executor, an_incomplete_descriptor_is_rejected_and_destroyed_once) {
  int destroyed = 0;
  ExecutorDesc d;
  d.name = "lame";
  d.ops = {"add"};
  d.prepare = prepare;
  d.owner = std::shared_ptr<int>(&destroyed, [](int* count) { ++*count; });
  d.user = &destroyed;
  EXPECT_THROW(make<Executor>(std::move(d)), Error);
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace thunder::test
