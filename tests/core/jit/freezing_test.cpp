// The option `freezing`: what depends on captured tensors alone is computed once, and again after they were written.
#include <atomic>
#include <cmath>

#include "loops/kernels.h"
#include "support/function_kernel.h"
#include "support/functions.h"
#include "tracer/eager.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

// Takes `floor`, and counts how often it ran.
struct Counter {
  std::atomic<int> runs{0};
  Ref<Executor> executor() {
    ExecutorDesc d;
    d.name = "counter";
    d.ops = {"prims.floor"};
    d.user = this;
    d.prepare = runs_on_user<run>;
    return make<Executor>(d);
  }
  static Status* run(const Launch* l, void* state) {
    static_cast<Counter*>(state)->runs++;
    for (int64_t i = 0; i < l->outputs[0].elements(); i++) l->outputs[0].as<float>()[i] = std::floor(l->inputs[0].as<float>()[i]);
    return nullptr;
  }
};

struct Freezing : CompiledTest {
  Ref<CompileOptions> options(bool freezing, std::string_view executors = "host") {
    auto o = only(executors);
    if (freezing) o->set("freezing", Any::boolean(true));
    o->add_executor(counter.executor());
    return o;
  }
  // x - floor(w), of a captured w.
  Lambda::Body minus(const Ref<Tensor>& w) {
    return [w](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "sub", {any(in[0].tensor), any(op(s, "floor", {any(w)}))}))); };
  }
  Counter counter;
  Ref<Tensor> x = tensor({2, 2}, {1, 2, 3, 4}), w = tensor({2, 2}, {1, 1, 1, 1});
};

TEST_F(Freezing, computes_what_depends_on_captures_alone_once) {
  auto f = compile(minus(w), options(true).get());
  for (int call = 0; call < 3; call++) EXPECT_EQ(run(*f, {x.get()}), (Floats{0, 1, 2, 3})) << error;
  EXPECT_EQ(counter.runs, 1);
}

TEST_F(Freezing, is_off_by_default) {
  auto f = compile(minus(w), options(false).get());
  for (int call = 0; call < 3; call++) run(*f, {x.get()});
  EXPECT_EQ(counter.runs, 3);
}

TEST_F(Freezing, sees_a_write_through_any_handle_of_the_memory) {
  auto f = compile(minus(w), options(true).get());
  run(*f, {x.get()});
  TensorType type = w->type();
  type.shape = {4};
  auto view = Tensor::view(w->storage(), type, {1}, w->offset());
  EagerScope eager(context->scope_environment(), false);
  op(eager, "add_", {any(view), any(view)});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1, 0, 1, 2})) << error;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1, 0, 1, 2})) << error;
  EXPECT_EQ(counter.runs, 2);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

TEST_F(Freezing, sees_what_another_program_writes) {
  auto f = compile(minus(w), options(true).get());
  auto step = compile([this](Scope& s, const Values& in, Values&) { op(s, "add_", {any(w), any(in[0].tensor)}); });
  Values in, out;
  in.push(x);
  for (const Floats& expected : {Floats{0, 1, 2, 3}, Floats{-1, -1, -1, -1}, Floats{-2, -3, -4, -5}}) {
    EXPECT_EQ(run(*f, {x.get()}), expected) << error;
    ASSERT_EQ(step->call(in, out), nullptr);
  }
}

TEST_F(Freezing, leaves_what_the_function_itself_writes_alone) {
  auto f = compile([this](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "sub", {any(in[0].tensor), any(op(s, "floor", {any(w)}))})));
    op(s, "add_", {any(w), any(in[0].tensor)});
  }, options(true).get());
  EXPECT_EQ(run(*f, {x.get()}), (Floats{0, 1, 2, 3})) << error;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1, -1, -1, -1})) << error;
  EXPECT_EQ(counter.runs, 2);
}

TEST_F(Freezing, keeps_what_is_computed_once_out_of_kernels_that_run_each_time) {
  if (!loops::can_compile()) GTEST_SKIP() << "no module that compiles";
  const auto body = [this](Scope& s, const Values& in, Values& out) {
    Tensor* scale = op(s, "exp", {any(op(s, "mul", {any(w), any(w)}))});
    out.push(Ref<Tensor>(op(s, "tanh", {any(op(s, "mul", {any(in[0].tensor), any(scale)}))})));
  };
  auto plain = compile(body, only("fusion").get());
  auto o = only("fusion");
  o->set("freezing", Any::boolean(true));
  auto frozen = compile(body, o.get());
  const Floats expected = run(*plain, {x.get()});
  EXPECT_EQ(run(*frozen, {x.get()}), expected) << error;
  EXPECT_EQ(plain->reports().traces().back().nodes.size(), 1u);
  EXPECT_EQ(frozen->reports().traces().back().nodes.size(), 2u);
  EXPECT_NE(explain(*frozen, "memory").find("constants 64"), std::string::npos) << explain(*frozen, "memory");
}

TEST_F(Freezing, keeps_no_result_that_is_larger_than_its_operands) {
  auto one = tensor({1}, {2});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    const int64_t wide[] = {1024, 1024};
    Tensor* large = op(s, "floor", {any(op(s, "expand", {any(one), Any::dims(wide)}))});
    out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor), any(op(s, "prims.sum", {any(large), Any::dims({})}))})));
  }, options(true).get());
  EXPECT_EQ(run(*f, {x.get()})[0], 1 + 2.0f * 1024 * 1024) << error;
  EXPECT_NE(explain(*f, "memory").find("constants 0"), std::string::npos) << explain(*f, "memory");
}

}  // namespace
}  // namespace thunder::test
