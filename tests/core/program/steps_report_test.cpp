// What a program's reports say of its steps.
#include "program/report.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

using StepsReport = CompiledTest;

TEST_F(StepsReport, names_each_steps_executor_and_what_it_reads_and_writes) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "mul", {any(y), any(in[1].tensor.get())})));
  });
  run(*f, {tensor({100}, Floats(100, 1)).get(), tensor({100}, Floats(100, 2)).get()});
  const Program& program = *f->reports().latest()->program;
  EXPECT_EQ(kernels_report(program), "step 1: prims.exp by host at here:1\nstep 2: prims.mul by host at here:1\n");
  EXPECT_EQ(steps_report(program), "step 1: prims.exp reads input 1 at 0; writes arena at 0\n"
                                   "step 2: prims.mul reads arena at 0, input 2 at 0; writes output 1 at 0\n");
  EXPECT_EQ(joined_report(program), "each step has a launch of its own\n");
  EXPECT_EQ(code_report(program), "step 1: prims.exp runs code of the library, or of its executor\n"
                                  "step 2: prims.mul runs code of the library, or of its executor\n");
}

}  // namespace
}  // namespace thunder::test
