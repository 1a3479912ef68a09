// What a compiled function says of its calls.
// covers: core/jit/backward/apply.cpp core/jit/run/statistics.cpp
#include "jit/compiled_reports.h"

#include "jit/backward/apply.h"
#include "support/functions.h"
#include "tracer/eager.h"

namespace thunder::test {
namespace {

struct CompiledReportsOf : CompiledTest {
  const Ref<Compiled> f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())})));
  });
  const Ref<Tensor> x = random({3}, 1);
  void call_on_tape() {
    EagerScope tape(context->scope_environment(), true);
    Values in;
    in.push(x);
    apply(tape, *f, in);
    ASSERT_FALSE(tape.status());
  }
};

TEST_F(CompiledReportsOf, a_function_that_was_never_called_say_nothing) {
  EXPECT_EQ(f->reports().latest(), nullptr);
  EXPECT_TRUE(f->reports().traces().empty());
  EXPECT_EQ(f->reports().statistics().calls, 0u);
  EXPECT_EQ(f->reports().last_profile(), nullptr);
}

TEST_F(CompiledReportsOf, calls_on_tapes_are_added_to_those_of_others) {
  run(*f, {x.get()});
  const auto plain = f->reports().latest();
  call_on_tape();
  EXPECT_EQ(f->reports().statistics().calls, 2u);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_NE(f->reports().latest(), plain) << "the forward was compiled last";
}

}  // namespace
}  // namespace thunder::test
