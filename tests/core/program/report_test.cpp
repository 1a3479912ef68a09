// What a program's memory report says, before it has run.
#include "program/report.h"
#include "jit/reports/explain.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

using Report = CompiledTest;

TEST_F(Report, is_exact_before_the_first_call) {
  int runs = 0;
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    runs++;
    Tensor* y = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "mul", {any(y), any(y)})));
  });
  EXPECT_EQ(explain(*f, "memory"), "");
  Values in;
  in.push(tensor({100}, Floats(100, 1)));
  ASSERT_EQ(f->prepare(in), nullptr);
  EXPECT_EQ(explain(*f, "memory"), "a call: 448 bytes at most (arena 448, constants 0), and 400 of results\n"
                                "arena 0 to 400: t[1], lines 1 to 2\n");
  EXPECT_EQ(f->reports().statistics().hits, 0u);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  Values out;
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(runs, 1) << "the call finds what was prepared";
  EXPECT_EQ(f->reports().statistics().peak_bytes, 448u);
  EXPECT_EQ(f->reports().statistics().hits, 1u);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

TEST_F(Report, is_refused_for_broken_inputs) {
  auto f = compile([](Scope&, const Values&, Values&) {});
  Values in;
  in.open(false, {});
  const Ref<Status> failed = Ref<Status>::adopt(f->prepare(in));
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message().find("a group of the inputs was not closed"), std::string::npos);
}

}  // namespace
}  // namespace thunder::test
