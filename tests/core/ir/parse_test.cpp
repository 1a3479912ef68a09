// Also covers cursor, terms and the reader: the text of a trace, round trips and what is refused.
// covers: core/ir/cursor.cpp core/ir/terms.cpp core/ir/trace.cpp
#include "ir/parse.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/print.h"
#include "support/traces.h"
#include "tracer/trace_reader.h"

namespace thunder {
namespace {

using tests::TraceMaker;
using tests::tensor_type;

const Registry& registry() {
  static const Registry* all = [] {
    auto* r = new Registry;
    r->add({.schema = "kinds(tensor x, tensor|number? y=None, tensor[] many=[], int n=-3, float f=0.5, bool flag=False, str text='a', int[]? "
                      "dims=None, float[] reals=[], dtype? dtype=None, device? device=None) -> tensor",
            .doc = "One argument of each kind.",
            .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
            .reference = [](const KernelArgs&) -> Status* { return nullptr; },
            .nondiff = "a test"});
    r->add({.schema = "until(tensor x) -> tensor", .doc = "A name that Lua means otherwise.",
            .decompose = [](Call& c) -> Results { return c.builder.call("prims.neg", {c.var(0)}); }});
    r->add({.schema = "prims.drawn(tensor state, int ordinal) -> tensor", .doc = "A random prim.",
            .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
            .reference = [](const KernelArgs&) -> Status* { return nullptr; }, .nondiff = "a test"});
    r->add({.schema = "drawing(tensor x) -> tensor", .doc = "A composite that draws.",
            .decompose = [](Call& c) -> Results {
              Draw d = c.builder.draw();
              return c.builder.call("prims.drawn", {d.state, d.ordinal});
            }});
    return r;
  }();
  return *all;
}

std::string chunk(std::string body, std::string inputs = "-- i[1] x: f32[2, 3]\n") {
  return "-- libthunder trace 1: f, after trace (0.250 ms)\n" + inputs + "return function(p, c, i)\n  local t = {}\n" + body + "end\n";
}

void round_trip(const std::string& text) { EXPECT_EQ(print(read_trace(text, registry())), text); }

std::string error_of(const std::string& text) {
  try {
    read_trace(text, registry());
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid_argument) << e.message();
    return e.message();
  }
  return "no error";
}

TEST(Parse, reads_back_what_print_wrote) {
  round_trip(chunk(
      "  t[1] = mul(i[1], 0x1.4p+1)  -- f32[2, 3] at app.c:12\n"
      "  t[2] = prims.matmul(t[1], p[1])  -- f32[2, 4] by host at a b.c:3\n"
      "  t[3] = prims.sum(t[2], {0, 1})  -- f32[] by one at two\n"
      "  t[4], t[5] = grad(t[3], {i[1], p[1]})  -- f32[2, 3], f32[3, 4]\n"
      "  t[6] = op[\"until\"](t[5])  -- f32[3, 4]\n"
      "  copy_(p[1], t[6])\n"
      "  return t[3], t[4], i[1]\n",
      "-- i[1] x: f32[2, 3]\n-- p[1] fc.weight: f32[3, 4]\n-- c[2]  odd: name: i64~[]\n-- i[3]: cuda(1) bf16[0]\n-- ~: a number, not a tensor: beside tensors its kind counts, not its width\n"));
}

TEST(Parse, reads_every_kind_of_argument) {
  round_trip(chunk(
      "  t[1] = kinds(i[1])  -- f32[2, 3]\n"
      "  t[2] = kinds(i[1], 3, {i[1], t[1]}, 0x8000000000000000, -inf, true, \"a\\\"\\\\\\n\\009\", {}, {0x0.0000000000001p-1022, nan}, bool, cuda(2))  -- f32[2, 3]\n"
      "  t[3] = kinds(i[1], -0x0p+0, {}, 9223372036854775807, inf, true, \"\", {-1, 2}, {}, i64, device(7, 1))  -- f32[2, 3]\n"
      "  t[4] = kinds(i[1], false, {}, -3, 0x1.999999999999ap-4)  -- f32[2, 3]\n"
      "  return\n"));
}

TEST(Parse, reads_what_a_person_writes) {
  Trace t = read_trace("\n\n-- libthunder trace 1: f (1 ms)\n-- i[7] x: f32[2]\r\nreturn function( p,c , i )\nlocal t={}\n\n  -- a remark\n"
                       "t[10]=kinds(i[7], nil, {}, 0x10, 1e-3)\n\nreturn t[10]\nend\n-- the end\n",
                       registry());
  EXPECT_EQ(t.function, "f");
  EXPECT_EQ(t.pass, "");
  EXPECT_EQ(t.inputs[0].index, 6u);
  EXPECT_EQ(t.nodes[0]->args[3].i, 16);
  EXPECT_EQ(t.nodes[0]->args[4].f, 1e-3);
}

TEST(Parse, passes_over_the_order_of_a_result_in_memory) {
  const std::string line = "  t[1] = prims.neg(i[1])  -- f32[2, 3, 4, 5]", inputs = "-- i[1] x: f32[2, 3, 4, 5]\n", rest = " at app.c:12\n  return t[1]\n";
  EXPECT_EQ(print(read_trace(chunk(line + "{1,3,2,0}" + rest, inputs), registry())), chunk(line + rest, inputs));
}

TEST(Parse, keeps_text_from_outside) {
  TraceMaker m;
  Var x = m.input(" x\n: \\ \x7f", {3});
  m.recorder.set_where("a\tb.c:1");
  Trace t = m.finish({m.call("neg", {x})});
  t.function = "f, after all\n (3 ms)";
  t.pass = "";
  Trace back = read_trace(print(t), registry());
  EXPECT_EQ(print(back), print(t));
  EXPECT_EQ(back.inputs[0].name, t.inputs[0].name);
  EXPECT_STREQ(back.nodes[0]->where, "a\tb.c:1");
}

TEST(Parse, derives_decompositions_anew) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Trace t = m.finish({m.call("add", {x, 2.0})});
  EXPECT_EQ(print(read_trace(print(t), registry()), {.bodies = true}), print(t, {.bodies = true}));
}

TEST(Parse, gives_composites_the_draws_they_had) {
  const std::string text = chunk(
      "  t[1] = drawing(i[1])  -- i64[2] drawing 5 from c[1]\n"
      "  t[2] = prims.drawn(c[1], 6)  -- i64[2]\n  return t[1], t[2]\n",
      "-- i[1] x: f32[2, 3]\n-- c[1] random: i64[2]\n");
  round_trip(text);
  Trace t = read_trace(text, registry());
  EXPECT_EQ(t.nodes[0]->body[0]->args[1].i, 5);
  EXPECT_NE(error_of(chunk("  t[1] = drawing(i[1])\n  return\n")).find("trace:5:23: this operation draws random numbers"), std::string::npos);
}

TEST(Parse, reads_symbolic_sizes) {
  const std::string text = chunk(
      "  local s0 = 32\n  local s3 = 5\n"
      "  t[1] = prims.full({s0, (s3 * 4), ((s0 + 1) // 2)}, 0x0p+0, f32, cpu)  -- f32[s0, (s3 * 4), ((s0 + 1) // 2)]\n  return t[1]\n",
      "-- i[1] x: f32[s0, s3]\n");
  round_trip(text);
  EXPECT_EQ(hint(read_trace(text, registry()).nodes[0]->args[0].d[1]), 20);
}

TEST(Parse, reads_more_results_than_lua_can_assign_at_once) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var loss = m.call("prims.sum", {x, Shape{0}});
  ValueList wrt(150, x.id);
  std::vector<ValueId> results;
  for (int i = 0; i < 150; i++) results.push_back(m.recorder.store().add(x.type()));
  const Arg args[] = {Arg::value(loss.id), Arg::values(wrt)};
  m.recorder.nodes().push_back(m.recorder.store().node(&m.registry.get("grad"), args, results, {}, nullptr));
  Trace t = m.finish({});
  t.outputs = results;
  const std::string text = print(t);
  EXPECT_NE(text.find("  table.move({grad(t[1], {i[1], i[1], "), std::string::npos);
  EXPECT_NE(text.find("}, 1, 150, 2, t)  -- f32[3], "), std::string::npos);
  EXPECT_NE(text.find("return table.unpack({t[2], "), std::string::npos);
  round_trip(text);
}

TEST(Parse, takes_twenty_thousand_lines) {
  std::string body;
  for (int i = 1; i <= 20000; i++)
    body += cat("  t[", i, "] = prims.neg(", i == 1 ? std::string("i[1]") : cat("t[", i - 1, "]"), ")  -- f32[2, 3] by host at app.c:12\n");
  round_trip(chunk(body + "  return t[20000]\n"));
}

struct Refused {
  std::string text, message;
};

TEST(Parse, says_where_and_why_it_refuses) {
  const std::string nested = std::string(100, '(') + "1";
  const Refused cases[] = {
      {"", "trace:1:1: expected '-- libthunder trace 1: ', got the end of the line"},
      {"-- libthunder trace 2: f (1 ms)\n", "trace:1:1: expected '-- libthunder trace 1: '"},
      {"-- libthunder trace 1: f (one ms)\n", "expected a number of milliseconds, got 'one'"},
      {"-- libthunder trace 1: f ( ms)\n", "expected a number of milliseconds, got ''"},
      {"-- libthunder trace 1: f (nan ms)\n", "expected a number of milliseconds, got 'nan'"},
      {"-- libthunder trace 1: f (-1 ms)\n", "expected a number of milliseconds, got '-1'"},
      {"-- libthunder trace 1: f (1e999 ms)\n", "expected a number of milliseconds, got '1e999'"},
      {"-- libthunder trace 1: f (1 ms)\n", "trace:2:1: the text ends too early"},
      {chunk("  return\n", "-- q[1]: f32[]\n"), "trace:2:4: expected a value such as i[1]"},
      {chunk("  return\n", "-- i[0]: f32[]\n"), "places count from 1"},
      {chunk("  return\n", "-- i[1] x\n"), "expected ': TYPE'"},
      {chunk("  return\n", "-- i[1]: f33[]\n"), "trace:2:10: expected a dtype, got 'f33'"},
      {chunk("  return\n", "-- i[1]: f32[-1]\n"), "a size must not be negative, got -1"},
      {chunk("  return\n", "-- i[1]: f32[]\n-- i[1]: f32[]\n"), "i[1] is defined twice"},
      {chunk("  t[1] = prims.neg(i[1]\n  return\n"), "trace:5:24: expected ',', got the end of the line"},
      {chunk("  t[1] = nope(i[1])\n  return\n"), "trace:5:14: unknown op 'nope'"},
      {chunk("  t[1] = prims.neg(i[2])\n  return\n"), "i[2] is not defined"},
      {chunk("  t[1] = prims.neg(t[1])\n  return\n"), "t[1] is not defined"},
      {chunk("  t[1] = prims.neg(i[1], i[1])\n  return\n"), "prims.neg takes at most 1 arguments"},
      {chunk("  t[1] = prims.neg()\n  return\n"), "prims.neg: argument 'input' is missing"},
      {chunk("  t[1] = prims.neg(nil)\n  return\n"), "prims.neg: argument 'input' must not be nil"},
      {chunk("  t[1] = prims.neg(i[1])\n  t[1] = prims.neg(i[1])\n  return\n"), "t[1] is defined twice"},
      {chunk("  t[1], t[2] = prims.neg(i[1])\n  return\n"), "prims.neg has 1 results here, the line names 2"},
      {chunk("  t[1] = prims.neg(i[1])  -- f32[3, 2]\n  return\n"), "prims.neg: the comment says f32[3, 2], the result is f32[2, 3]"},
      {chunk("  t[1] = prims.matmul(i[1], i[1])\n  return\n"), "trace:5:34: prims.matmul: inner dimensions differ"},
      {chunk("  t[1] = kinds(i[1], nil, {}, 99999999999999999999)\n  return\n"), "this number cannot be read"},
      {chunk("  t[1] = kinds(i[1], nil, {}, 0x1p+0)\n  return\n"), "expected an integer"},
      {chunk("  t[1] = kinds(i[1], nil, {}, 1, 1, 1)\n  return\n"), "expected true or false for argument 'flag'"},
      {chunk("  t[1] = kinds(i[1], nil, {}, 1, 1, true, \"a\n  return\n"), "expected a closing '\"'"},
      {chunk("  t[1] = kinds(i[1], nil, {}, 1, 1, true, \"\\300\")\n  return\n"), "'\\300' is no byte"},
      {chunk("  t[1] = prims.sum(i[1], {" + nested + "})\n  return\n"), "a size is nested more than 64 deep"},
      {chunk("  t[1] = prims.sum(i[1], {s0})\n  return\n"), "size s0 is not declared"},
      {chunk("  t[1] = prims.sum(i[1], {(9223372036854775807 + 1)})\n  return\n"), "does not fit in 64 bits"},
      {chunk("  local s9999999 = 1\n  return\n"), "expected a number from 0 to 4096"},
      {chunk("  table.move({prims.neg(i[1])}, 1, 200000000, 1, t)\n  return\n"), "expected a number from 0 to"},
      {chunk("  copy_(t[1], i[1])\n  return\n"), "t[1] is not defined"},
      {chunk("  t[1] = prims.sum(i[1], {0})\n  copy_(i[1], t[1])\n  return\n"), "a write of f32[3] to an input that is f32[2, 3]"},
      {chunk("  copy_(i[1], i[1])\n  copy_(i[1], i[1])\n  return\n"), "an input is written twice"},
      {chunk("  return i[1] i[1]\n"), "expected the end of the line"},
      {chunk("  return\nend\n  os.exit()\n"), "trace:7:1: unexpected text after 'end'"},
  };
  for (const Refused& c : cases) EXPECT_NE(error_of(c.text).find(c.message), std::string::npos) << c.text << "\ngave: " << error_of(c.text);
}

TEST(Parse, never_fails_otherwise_on_damaged_text) {
  const std::string good = chunk(
      "  local s0 = 3\n  t[1] = kinds(i[1], nil, {i[1]}, 1, 0x1p+0, true, \"a\\n\", {(s0 + 2)}, {inf}, f32, cuda(0))  -- f32[2, 3] by a at b\n"
      "  t[2], t[3] = grad(i[2], {i[1], t[1]})\n  copy_(i[1], t[1])\n  return t[1]\n",
      "-- i[1] x: f32[2, 3]\n-- i[2] y: f32[]\n");
  ASSERT_EQ(error_of(good), "no error");
  uint64_t state = 1;
  auto draw = [&](uint64_t n) { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33 & 0x7fffffff % n; };
  const std::string alphabet = "()[]{},.-=*/%\"\\ \n\tts01x9pe";
  for (int round = 0; round < 3000; round++) {
    std::string text = good;
    for (uint64_t edits = 1 + draw(3); edits > 0; edits--) {
      const size_t at = draw(text.size()) % text.size();
      if (draw(2)) text[at] = alphabet[draw(alphabet.size()) % alphabet.size()];
      else text.erase(at, 1 + draw(4));
    }
    error_of(text);  // checks the code of the error
  }
}

}  // namespace
}  // namespace thunder
