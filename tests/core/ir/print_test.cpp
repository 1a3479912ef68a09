// Also covers spelling and symbols: how a trace reads.
// covers: core/ir/spelling.cpp core/ir/symbols.cpp core/ir/trace.cpp
#include "ir/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/spelling.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;
using tests::tensor_type;

std::string real(double v) {
  std::string out;
  spelling::append_real(out, v);
  return out;
}

TEST(Print, writes_a_lua_chunk_with_types_sources_and_writes) {
  TraceMaker m;
  Var x = m.input("x", {4, 8});
  Var w = m.input("fc.weight", tensor_type({8, 2}), Source::parameter);
  Var k = m.input("", tensor_type({4, 8}), Source::constant);
  m.recorder.set_where("app.c:12");
  Var y = m.call("mul", {x, 2.5});
  m.recorder.set_where(nullptr);
  Var z = m.call("prims.matmul", {y, w});
  Var s = m.call("prims.sum", {z, Shape{0, 1}});
  Trace t = m.finish({s, x});
  t.writes.push_back({2, y.id});
  t.milliseconds = 0.1234;
  EXPECT_EQ(k.id, t.inputs[2].value);
  EXPECT_EQ(print(t), R"(-- libthunder trace 1: f, after trace (0.123 ms)
-- i[1] x: f32[4, 8]
-- p[1] fc.weight: f32[8, 2]
-- c[1]: f32[4, 8]
return function(p, c, i)
  local t = {}
  t[1] = mul(i[1], 0x1.4p+1)  -- f32[4, 8] at app.c:12
  t[2] = prims.matmul(t[1], p[1])  -- f32[4, 2]
  t[3] = prims.sum(t[2], {0, 1})  -- f32[]
  copy_(c[1], t[1])
  return t[3], i[1]
end
)");
}

TEST(Print, shows_decompositions_as_comments_when_asked) {
  TraceMaker m;
  Var x = m.input("x", {2});
  Trace t = m.finish({m.call("add", {x, 1.0})});
  const std::string text = print(t, {.bodies = true});
  EXPECT_NE(text.find("  t[1] = add(i[1], 0x1p+0)  -- f32[2]\n"
                      "  --  u[1] = prims.full({}, 0x1p+0, f32, cpu)  -- f32[]\n"
                      "  --  u[2] = prims.expand(u[1], {2})  -- f32[2]\n"
                      "  --  t[1] = prims.add(i[1], u[2])  -- f32[2]\n"),
            std::string::npos)
      << text;
}

TEST(Print, is_independent_of_the_stores_ids) {
  TraceMaker a, b;
  for (int i = 0; i < 100; i++) b.recorder.store().add(tensor_type({1}));
  auto build = [](TraceMaker& m) {
    Var x = m.input("x", {3});
    return m.finish({m.call("neg", {m.call("add", {x, x})})});
  };
  EXPECT_EQ(print(build(a)), print(build(b)));
}

TEST(Print, names_the_executor_that_claimed_a_line) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Trace t = m.finish({m.call("prims.neg", {x})});
  t.nodes[0] = t.store->claimed(t.nodes[0], "host");
  EXPECT_NE(print(t).find("prims.neg(i[1])  -- f32[3] by host\n"), std::string::npos);
}

TEST(Print, shows_which_results_have_their_channels_last) {
  TraceMaker m;
  Var x = m.input("x", {2, 3, 4, 5});
  const Trace t = m.finish({m.call("prims.neg", {m.call("prims.neg", {x})})});
  const ValueId last[] = {t.nodes[0]->results[0]};
  const std::string text = print(t, {.channels_last = last});
  EXPECT_NE(text.find("t[1] = prims.neg(i[1])  -- f32[2, 3, 4, 5]{1,3,2,0}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("t[2] = prims.neg(t[1])  -- f32[2, 3, 4, 5]\n"), std::string::npos) << text;
}

TEST(Print, keeps_text_from_outside_on_its_line) {
  TraceMaker m;
  Var x = m.input("x\nreturn os.exit()", {3});
  m.recorder.set_where("a\nb.c:1");
  Trace t = m.finish({m.call("prims.neg", {x})});
  t.function = "f\n--";
  const std::string text = print(t);
  EXPECT_NE(text.find("x\\010return os.exit()"), std::string::npos);
  EXPECT_NE(text.find("at a\\010b.c:1"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
}

TEST(Print, declares_the_symbols_that_sizes_depend_on) {
  TraceMaker m;
  Dim n = m.recorder.store().dims().symbol(32), k = m.recorder.store().dims().symbol(5);
  Var x = m.input("x", tensor_type({n, k, 4}));
  Trace t = m.finish({x, m.call("prims.full", {Shape{n, k * 4}, 0.0, DType::f32, Device::cpu})});
  const std::string text = print(t);
  EXPECT_NE(text.find("-- i[1] x: f32[s0, s1, 4]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  local s0 = 32\n  local s1 = 5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("prims.full({s0, (s1 * 4)}, 0x0p+0, f32, cpu)  -- f32[s0, (s1 * 4)]"), std::string::npos) << text;
}

TEST(Print, survives_a_broken_trace) {
  TraceMaker m;
  Trace t = m.finish({m.recorder.var(12345)});
  EXPECT_NE(print(t).find("return undefined(12345)"), std::string::npos);
}

TEST(Spelling, writes_reals_exactly) {
  EXPECT_EQ(real(1), "0x1p+0");
  EXPECT_EQ(real(-0.0), "-0x0p+0");
  EXPECT_EQ(real(0.1), "0x1.999999999999ap-4");
  EXPECT_EQ(real(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(real(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Spelling, writes_the_smallest_integer_as_lua_reads_it) {
  std::string out;
  spelling::append_integer(out, INT64_MIN);
  EXPECT_EQ(out, "0x8000000000000000");
}

TEST(Spelling, escapes_strings) {
  std::string out;
  spelling::append_quoted(out, std::string_view("a\"b\\c\n\t\0z", 9));
  EXPECT_EQ(out, R"("a\"b\\c\n\009\000z")");
}

TEST(Spelling, calls_through_op_what_lua_or_the_chunk_means_otherwise) {
  for (auto name : {"add", "prims.add", "my_lib.f2"}) EXPECT_TRUE(spelling::is_bare(name)) << name;
  for (auto name : {"repeat", "and", "prims.not", "t", "f32", "bool", "cuda", "s0", "inf", "2d", "a..b", "", "a-b"})
    EXPECT_FALSE(spelling::is_bare(name)) << name;
}

}  // namespace
}  // namespace thunder
