// Who runs what: priority, descent, regions, declining, dense inputs.
#include "compile/claim.h"

#include "support/function_kernel.h"
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

KernelPtr prepare(const NodeView& view, void* user) {
  auto& mark = *static_cast<Mark*>(user);
  mark.largest_region = std::max(mark.largest_region, view.node.body.size());
  if (mark.decline) throw Error(Code::declined, "not today");
  return std::make_unique<FunctionKernel>(KernelCall{run, user}, 16);
}

Ref<Executor> marking(Mark& mark, std::vector<std::string> ops, decltype(ExecutorDesc::claim) claim = nullptr) {
  ExecutorDesc d;
  d.claim = claim;
  d.flags = claim ? kMayFail : 0;  // as executors of callers have it
  d.name = "mark";
  d.ops = std::move(ops);
  d.user = &mark;
  d.prepare = prepare;
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

// It takes short tensors alone; of others there are products of x and itself.
TEST_F(Claim, an_executor_is_asked_at_each_size_of_a_class) {
  for (const char* op : {"mul", "prims.mul"}) {
    const Ref<Executor> of_short = marking(mark, {op}, [](const NodeView& view, void*) {
      return view.store.type(view.node.results[0]).shape[0].value() < 6;
    });
    auto options = with(of_short);
    options->set("dynamic", Any::boolean(true));
    const Ref<Compiled> f = compile(sum_of_products, options.get());
    for (const int64_t size : {4, 5, 8, 9, 3, 7}) {
      const Ref<Tensor> ones = tensor({size}, Floats(static_cast<size_t>(size), 1));
      EXPECT_EQ(run(*f, {ones.get()}), Floats(static_cast<size_t>(size), size < 6 ? 101 : 2)) << op << " " << size;
    }
  }
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
  d.owner = std::shared_ptr<int>(&destroyed, [](int* count) { ++*count; });
  d.user = &destroyed;
  EXPECT_THROW(make<Executor>(std::move(d)), Error);
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace thunder::test
