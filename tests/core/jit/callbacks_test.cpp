// Callbacks that throw, that call what is being compiled, and that say OK by a status.
// covers: core/base/thrown.cpp
#include <stdexcept>

#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Callbacks : CompiledTest {
  static void negate(Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }
  // A negation by an executor of this function.
  Ref<Compiled> with(KernelPtr (*prepare)(const NodeView&, void*)) {
    ExecutorDesc d;
    d.name = "odd";
    d.ops = {"prims.neg"};
    d.prepare = prepare;
    CompileOptions options;
    options.add_executor(make<Executor>(std::move(d)));
    return compile(negate, &options);
  }
};

TEST_F(Callbacks, that_throw_while_a_program_runs_fail_the_call) {
  auto f = with(runs_on_user<[](const Launch*, void*) -> Status* { throw std::runtime_error("boom"); }>);
  auto x = tensor({2}, {1, 2});
  for (int call = 0; call < 2; call++) {
    Tensor *in = x.get(), *out = nullptr;
    const auto failed = Ref<Status>::adopt(f->call_tensors(&in, 1, &out, 1));
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->code(), Code::callback);
    EXPECT_NE(failed->message().find("boom"), std::string::npos) << failed->message();
    EXPECT_NE(failed->message().find("'odd'"), std::string::npos) << failed->message();
    EXPECT_EQ(out, nullptr);
  }
}

TEST_F(Callbacks, that_return_a_status_of_ok_are_refused) {
  auto f = with(runs_on_user<[](const Launch*, void*) -> Status* { return make<Status>(Code::ok, "fine").detach(); }>);
  auto x = tensor({2}, {1, 2});
  EXPECT_TRUE(run(*f, {x.get()}).empty());
  EXPECT_NE(error.find("whose code is OK"), std::string::npos) << error;
}

TEST_F(Callbacks, that_call_what_they_compile_are_told_so) {
  static Compiled* self = nullptr;
  static Tensor* given = nullptr;
  static std::string told;
  auto x = tensor({2}, {1, 2});
  given = x.get();
  const auto call_again = [] {
    Tensor* out = nullptr;
    const auto failed = Ref<Status>::adopt(self->call_tensors(&given, 1, &out, 1));
    told = failed ? failed->message() : "";
  };
  auto traced = compile([&](Scope& s, const Values& in, Values& out) { call_again(), negate(s, in, out); });
  self = traced.get();
  EXPECT_EQ(run(*traced, {x.get()}), (Floats{-1, -2})) << error;
  EXPECT_NE(told.find("called while it compiles"), std::string::npos) << told;
  told.clear();
  auto prepared = with([](const NodeView&, void*) -> KernelPtr {
    Tensor* out = nullptr;
    const auto failed = Ref<Status>::adopt(self->call_tensors(&given, 1, &out, 1));
    told = failed ? failed->message() : "";
    throw Error(Code::declined, "");
  });
  self = prepared.get();
  run(*prepared, {x.get()});
  EXPECT_NE(told.find("called while it compiles"), std::string::npos) << told;
}

}  // namespace
}  // namespace thunder::test
