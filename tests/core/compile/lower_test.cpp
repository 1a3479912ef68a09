// From claimed nodes to steps: declining, failing while compiling, failing while running.
// covers: core/program/kernels.cpp
#include "compile/lower.h"

#include <set>

#include "support/function_kernel.h"
#include "support/functions.h"
#include "support/pieces.h"

namespace thunder::test {
namespace {

// An executor that answers as it is told.
struct Answer {
  Status* prepare = nullptr;
  Status* run = nullptr;
  int asked = 0, drops = 0;
  ~Answer() {
    for (Status* s : {prepare, run})
      if (s) s->release();
  }
};
Status* shared(Status* s) { return Ref<Status>(s).detach(); }
Status* saying(Code code, const char* message) { return make<Status>(code, message).detach(); }

KernelPtr kernel(void* answer) {
  const auto run = [](const Launch*, void* state) { return shared(static_cast<Answer*>(state)->run); };
  const auto drop = [](void* state) { static_cast<Answer*>(state)->drops++; };
  return std::make_unique<FunctionKernel>(KernelCall{run, answer}, 0, drop);
}

Ref<Executor> answering(Answer& answer, std::string name, std::vector<std::string> ops) {
  ExecutorDesc d;
  d.name = std::move(name);
  d.ops = std::move(ops);
  d.user = &answer;
  d.prepare = [](const NodeView&, void* user) -> KernelPtr {
    static_cast<Answer*>(user)->asked++;
    if (Status* s = static_cast<Answer*>(user)->prepare) throw Error(Ref<Status>(s));
    return kernel(user);
  };
  return make<Executor>(d);
}
Ref<Executor> fusing(Ref<Executor> e) {
  ExecutorDesc d = e->desc();
  d.claim_region = [](std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*) {
    std::fill_n(taken, nodes.size(), uint8_t{1});
    return true;
  };
  return make<Executor>(d);
}

void sum_of_products(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  out.push(Ref<Tensor>(op(s, "add", {any(op(s, "mul", {any(x), any(x)})), any(x)})));
}

struct Prepare : CompiledTest {
  Floats with(std::initializer_list<Ref<Executor>> executors) {
    auto options = only("host");
    options->set("verify", Any::boolean(true));
    for (auto& e : executors) options->add_executor(e);
    f = compile(sum_of_products, options.get());
    return run(*f, {x.get()});
  }
  // Who runs the lines.
  std::set<std::string> who() const {
    std::set<std::string> names;
    const auto traces = f->reports().traces();
    for (const Node* n : traces.back().nodes) names.insert(n->executor);
    return names;
  }
  const std::vector<std::string> prims = {"prims.mul", "prims.add"};
  const Floats right = {2, 6, 12, 20};
  Answer first, second;
  Ref<Compiled> f;
  Ref<Tensor> x = tensor({2, 2}, {1, 2, 3, 4});
};

TEST_F(Prepare, offers_the_nodes_of_a_declined_region_to_the_next_executors) {
  first.prepare = saying(Code::declined, "no");
  EXPECT_EQ(with({fusing(answering(first, "first", prims))}), right) << error;
  EXPECT_EQ(who(), (std::set<std::string>{"host"}));
  EXPECT_EQ(f->reports().traces().back().pass, "lower");
}

// As one whose region was trimmed after it had been accepted.
TEST_F(Prepare, offers_smaller_regions_after_a_region_is_declined) {
  ExecutorDesc d = answering(first, "first", prims)->desc();
  d.claim_region = [](std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void* user) {
    if (static_cast<Answer*>(user)->asked) return false;
    std::fill_n(taken, nodes.size(), uint8_t{1});
    return true;
  };
  d.prepare = [](const NodeView& view, void* user) -> KernelPtr {
    static_cast<Answer*>(user)->asked++;
    if (!view.node.body.empty()) throw Error(Code::declined, "not as one");
    return kernel(user);
  };
  with({make<Executor>(d)});
  EXPECT_EQ(who(), (std::set<std::string>{"first"})) << error;
  EXPECT_EQ(first.asked, 3);
}

TEST_F(Prepare, offers_a_declined_region_to_the_next_fusion_executor) {
  first.prepare = saying(Code::declined, "no");
  Pieces choice;
  EXPECT_EQ(with({fusing(answering(first, "first", prims)), pieces_executor(choice)}), right) << error;
  EXPECT_EQ(who(), (std::set<std::string>{"pieces"}));
  EXPECT_EQ(choice.prepared, (std::vector<size_t>{2}));
}

TEST_F(Prepare, descends_into_a_declined_composite) {
  first.prepare = saying(Code::declined, "no");
  EXPECT_EQ(with({answering(first, "first", {"mul", "add"})}), right) << error;
  EXPECT_EQ(who(), (std::set<std::string>{"host"}));
}

TEST_F(Prepare, does_not_ask_an_executor_twice) {
  first.prepare = saying(Code::declined, "no");
  second.prepare = saying(Code::declined, "nor I");
  EXPECT_EQ(with({answering(first, "first", {"mul", "prims.mul"}), answering(second, "second", prims)}), right)
      << error;
  EXPECT_EQ(first.asked, 1);
  EXPECT_EQ(second.asked, 2);
  EXPECT_EQ(first.drops + second.drops, 0) << "nothing was prepared";
}

TEST_F(Prepare, errors_name_the_executor_the_op_and_the_source_line) {
  first.prepare = saying(Code::declined, "no");
  second.prepare = saying(Code::backend, "no room for code");
  EXPECT_TRUE(with({answering(first, "first", prims), answering(second, "second", prims)}).empty());
  EXPECT_EQ(error, "executor 'second' could not prepare prims.mul: no room for code [at here:1]");
}

// Fails when it is laid out, or when it is finished.
template <bool kLate>
struct Failing : Kernel {
  Failing() : Kernel(KernelCall()) {}
  void adapt_to_layouts(const NodeView&) override {
    if (!kLate) throw Error(Code::invalid_argument, "no such layout");
  }
  void finish_compiling() override { throw Error(Code::invalid_argument, "no such code"); }
};

TEST_F(Prepare, errors_of_laying_out_and_finishing_name_the_executor_too) {
  ExecutorDesc d;
  d.name = "failing", d.ops = {"prims.mul"};
  d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<Failing<false>>(); };
  EXPECT_TRUE(with({make<Executor>(d)}).empty());
  EXPECT_EQ(error, "executor 'failing' could not prepare prims.mul: no such layout [at here:1]");
  d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<Failing<true>>(); };
  EXPECT_TRUE(with({make<Executor>(d)}).empty());
  EXPECT_EQ(error, "executor 'failing' could not prepare prims.mul: no such code [at here:1]");
}

// Finds only when it is finished that it cannot run the line.
struct DecliningLate : Kernel {
  explicit DecliningLate(bool& knows) : Kernel(KernelCall()), knows(knows) {}
  void finish_compiling() override {
    knows = true;
    throw Error(Code::declined, "too large");
  }
  bool& knows;
};

TEST_F(Prepare, claims_anew_only_the_line_that_is_declined_while_it_is_finished) {
  bool knows = false;
  ExecutorDesc late;
  late.name = "late", late.ops = {"prims.mul"}, late.user = &knows;
  late.prepare = [](const NodeView&, void* user) -> KernelPtr {
    if (*static_cast<bool*>(user)) throw Error(Code::declined, "too large");
    return std::make_unique<DecliningLate>(*static_cast<bool*>(user));
  };
  int passed = 0;
  CustomPassDesc counting;
  counting.name = "counting", counting.after = "claim", counting.user = &passed;
  counting.run = [](Editor&, void* user) -> Status* { return ++*static_cast<int*>(user), nullptr; };
  auto options = only("host");
  options->add_executor(make<Executor>(late));
  options->add_pass(make<CustomPass>(counting, context->registry()));
  f = compile(sum_of_products, options.get());
  EXPECT_EQ(run(*f, {x.get()}), right) << error;
  EXPECT_TRUE(knows);
  EXPECT_EQ(who(), (std::set<std::string>{"host"}));
  EXPECT_EQ(passed, 1) << "the stages before were not run again";
}

TEST_F(Prepare, passes_out_of_memory_through_unchanged) {
  first.prepare = saying(Code::out_of_memory, "out of memory");
  EXPECT_TRUE(with({answering(first, "first", prims)}).empty());
  EXPECT_EQ(error, "out of memory");
}

TEST_F(Prepare, drops_prepared_states_when_a_later_node_fails) {
  second.prepare = saying(Code::backend, "broken");
  EXPECT_TRUE(with({answering(first, "first", {"prims.mul"}), answering(second, "second", {"prims.add"})}).empty());
  EXPECT_EQ(first.drops, 1);
}

TEST_F(Prepare, errors_of_run_name_the_executor_and_keep_their_code) {
  second.run = saying(Code::backend, "the device is gone");
  EXPECT_TRUE(with({answering(first, "first", {"prims.mul"}), answering(second, "second", {"prims.add"})}).empty());
  EXPECT_EQ(error, "add: the device is gone [at here:1, run by executor 'second']");
  Tensor *in = x.get(), *out = nullptr;
  Ref<Status> failed = Ref<Status>::adopt(f->call_tensors(&in, 1, &out, 1));
  EXPECT_EQ(failed->code(), Code::backend);
  f = nullptr;
  EXPECT_EQ(first.drops, 1);
  EXPECT_EQ(second.drops, 1);
}

TEST_F(Prepare, an_error_while_a_region_runs_fails_the_call) {
  first.run = saying(Code::backend, "the device is gone");
  EXPECT_TRUE(with({fusing(answering(first, "first", prims))}).empty());
  EXPECT_NE(error.find(": the device is gone [at here:1, run by executor 'first']"), std::string::npos) << error;
  EXPECT_EQ(error.find("region"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
