// What is made again, and what is stored.
#include "regions/recompute.h"

#include "loops/target.h"

#include "support/functions.h"
#include "support/traces.h"

namespace thunder::test {
namespace {

struct RecomputeTest : testing::Test {
  tests::TraceMaker maker;
  std::vector<uint8_t> stored = std::vector<uint8_t>(64, 0);
  std::vector<uint32_t> uses = std::vector<uint32_t>(64, 0);
  std::vector<ValueId> spread_from = std::vector<ValueId>(64, kNoValue);

  Var input(std::initializer_list<Dim> shape) { return maker.input("x", shape); }
  Var prim(std::string_view op, std::initializer_list<In> args) { return maker.call(op, args); }
  // Whether the line that made the value last is made again where others read it.
  bool is_profitable(size_t most_instructions = loops::Capabilities().recomputed_instructions) {
    const auto& lines = maker.recorder.nodes();
    const Recompute recompute(maker.recorder.store(), lines, stored, uses, spread_from, most_instructions);
    return recompute.is_cheaper(*lines.back());
  }
};

TEST_F(RecomputeTest, recomputes_a_cheap_addition) {
  prim("prims.add", {input({64, 64}), input({64, 64})});
  EXPECT_TRUE(is_profitable());
}

TEST_F(RecomputeTest, stores_values_that_take_many_instructions) {
  Var x = prim("prims.exp", {input({64, 64})});
  EXPECT_FALSE(is_profitable());
  for (int i = 0; i < 5; i++) x = prim("prims.neg", {i == 0 ? input({64, 64}) : x});
  EXPECT_FALSE(is_profitable());
}

TEST_F(RecomputeTest, recomputes_functions_if_the_instruction_limit_allows_it) {
  prim("prims.tanh", {prim("prims.mul", {input({64, 64}), input({64, 64})})});
  EXPECT_FALSE(is_profitable());
  EXPECT_TRUE(is_profitable(64));
}

TEST_F(RecomputeTest, stores_values_with_too_many_operands) {
  prim("prims.add", {prim("prims.add", {input({64, 64}), input({64, 64})}), input({64, 64})});
  EXPECT_FALSE(is_profitable());
}

TEST_F(RecomputeTest, stores_values_that_must_be_in_memory) {
  Var y = prim("prims.neg", {input({64, 64})});
  stored[y.id] = 1;
  EXPECT_FALSE(is_profitable());
}

TEST_F(RecomputeTest, reads_expensive_operands_only_if_they_are_stored_anyway) {
  Var dear = prim("prims.exp", {input({64, 64})});
  prim("prims.neg", {dear});
  EXPECT_FALSE(is_profitable());  // storing the exponential would cost as much
  uses[dear.id] = 1;
  EXPECT_TRUE(is_profitable());
}

TEST_F(RecomputeTest, ignores_operands_that_are_small_beside_the_result) {
  Var row = prim("prims.reshape", {prim("prims.sum", {input({64, 64}), Shape{1}}), Shape{64, 1}});
  prim("prims.mul", {input({64, 64}), prim("prims.expand", {row, Shape{64, 64}})});
  EXPECT_TRUE(is_profitable());
}

TEST_F(RecomputeTest, counts_broadcast_operands_by_their_own_size) {
  Var x = input({64, 64}), mean = input({1, 64}), spread = input({64, 64});
  prim("prims.mul", {prim("prims.sub", {x, spread}), prim("prims.add", {x, input({64, 64})})});
  EXPECT_FALSE(is_profitable());
  spread_from[spread.id] = mean.id;
  EXPECT_TRUE(is_profitable());
}

// Of a GELU's derivative the exponential is read twice.
TEST_F(RecomputeTest, counts_shared_operands_once_on_devices) {
  for (const Device device : {Device::cpu, cuda(0)}) {
    const Var x = maker.input("x", {DType::f32, device, false, {64, 64}});
    const Var e = prim("prims.exp", {x}), r = prim("prims.reciprocal", {e});
    prim("prims.mul", {prim("prims.add", {r, e}), prim("prims.sub", {r, e})});
    EXPECT_EQ(is_profitable(64), device != Device::cpu);
  }
}

// A residual stream of three parts is stored for its next reader: a norm's difference from the mean reads that one.
TEST_F(RecomputeTest, reads_a_stored_operand_rather_than_its_many_operands_on_devices) {
  for (const Device device : {Device::cpu, cuda(0)}) {
    const auto part = [&] { return maker.input("x", {DType::f32, device, false, {64, 64}}); };
    const Var stream = prim("prims.add", {prim("prims.add", {part(), part()}), part()});
    prim("prims.neg", {stream});
    EXPECT_FALSE(is_profitable());
    uses[stream.id] = 1;
    EXPECT_EQ(is_profitable(), device != Device::cpu);
  }
}

}  // namespace
}  // namespace thunder::test
