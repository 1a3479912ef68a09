#include "ir/verify.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;
using tests::tensor_type;

std::string failure_of(const Trace& t) {
  try {
    verify(t);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::internal);
    return e.message();
  }
  return "";
}

class Verify : public ::testing::Test {
 protected:
  void SetUp() override {
    x = m.input("x", {2, 3});
    y = m.call("add", {x, 1.0});
    z = m.call("prims.neg", {y});
    t = m.finish({z});
    t.pass = "cse";
  }
  // Line `i` with other parts.
  void replace(size_t i, std::vector<Arg> args, std::vector<ValueId> results, std::span<const Node* const> body) {
    t.nodes[i] = t.store->node(t.nodes[i]->op, args, results, body, nullptr);
  }
  TraceMaker m;
  Var x, y, z;
  Trace t;
};

TEST_F(Verify, accepts_a_recorded_trace) { EXPECT_EQ(failure_of(t), ""); }

TEST_F(Verify, names_the_pass_and_the_line_of_a_use_before_the_definition) {
  std::swap(t.nodes[0], t.nodes[1]);
  EXPECT_EQ(failure_of(t), "internal error, please report it: after cse, line 1, t[1] = prims.neg(undefined(" + std::to_string(y.id) +
                               ")): prims.neg: value " + std::to_string(y.id) + " is used before it is defined");
}

TEST_F(Verify, refuses_a_second_definition) {
  t.nodes.push_back(t.nodes[1]);
  EXPECT_NE(failure_of(t).find("is defined twice"), std::string::npos);
}

TEST_F(Verify, refuses_a_use_of_what_is_inside_another_line) {
  const ValueId inner = t.nodes[0]->body[0]->results[0];
  replace(1, {Arg::value(inner)}, {z.id}, {});
  EXPECT_NE(failure_of(t).find("belongs to the inside of another line"), std::string::npos);
}

TEST_F(Verify, refuses_a_decomposition_without_the_result) {
  replace(0, {t.nodes[0]->args.begin(), t.nodes[0]->args.end()}, {y.id}, t.nodes[0]->body.first(1));
  EXPECT_NE(failure_of(t).find("the decomposition does not define result"), std::string::npos);
}

TEST_F(Verify, refuses_an_argument_of_another_kind) {
  replace(1, {Arg::string("x")}, {z.id}, {});
  EXPECT_NE(failure_of(t).find("argument 'input' is not of kind tensor"), std::string::npos);
}

TEST_F(Verify, refuses_a_wrong_number_of_arguments) {
  replace(1, {}, {z.id}, {});
  EXPECT_NE(failure_of(t).find("prims.neg has 0 arguments, its schema 1"), std::string::npos);
}

TEST_F(Verify, refuses_an_undefined_output) {
  t.outputs = {999};
  EXPECT_NE(failure_of(t).find("return: value 999 is used before it is defined"), std::string::npos);
}

TEST_F(Verify, refuses_a_write_of_another_type) {
  t.writes = {{0, m.recorder.store().add(tensor_type({7}))}};
  EXPECT_NE(failure_of(t).find("copy_: value"), std::string::npos);
  Var s = m.call("prims.sum", {x, Shape{0}});
  t = m.finish({});
  t.writes = {{0, s.id}};
  EXPECT_NE(failure_of(t).find("a write of f32[3] to an input that is f32[2, 3]"), std::string::npos);
}

TEST_F(Verify, refuses_an_input_without_a_dtype) {
  m.input("broken", TensorType{});
  EXPECT_NE(failure_of(m.finish({})).find("has no dtype"), std::string::npos);
}

TEST_F(Verify, refuses_two_inputs_in_one_place) {
  t.inputs.push_back({m.recorder.store().add(tensor_type({1})), Source::argument, 0, "again"});
  EXPECT_NE(failure_of(t).find("two inputs have the same place, i[1]"), std::string::npos);
}

}  // namespace
}  // namespace thunder
