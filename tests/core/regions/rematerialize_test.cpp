// Which lines a region computes for itself rather than read their results.
// covers: core/regions/derivation.cpp
#include "regions/rematerialize.h"

#include "ir/verify.h"
#include "support/functions.h"
#include "support/pieces.h"
#include "support/regions.h"
#include "support/traces.h"

namespace thunder::test {
namespace {

using Lines = std::vector<std::string>;

struct Rematerialize : testing::Test {
  tests::TraceMaker maker;
  Pieces choice{.fits = [](std::span<const Node* const>) { return true; }};
  Device device = cuda(0);

  Var input(std::initializer_list<Dim> shape, DType dtype = DType::f32) {
    TensorType type = tests::tensor_type(shape, dtype);
    type.device = device;
    return maker.input("x", type);
  }
  Var prim(std::string_view op, std::initializer_list<In> args) { return maker.call(op, args); }
  Trace rematerialized_trace(std::initializer_list<Var> outputs) {
    ExecutorDesc everywhere = pieces_executor(choice)->desc();
    everywhere.any_device = true;
    everywhere.begins_region = [](const Node& n) { return n.op->name() != "prims.convert"; };
    const Ref<Executor> executor = make<Executor>(everywhere);
    Trace trace = claimed_by(*executor, maker.finish(outputs));
    RegionStates states;
    form_regions(trace, {executor}, maker.registry.get("region"), states);
    rematerialize(trace, {executor}, maker.registry.get("region"), states);
    verify(trace);
    return trace;
  }
  Lines lines(std::initializer_list<Var> outputs) { return tests::ops_of_lines(rematerialized_trace(outputs)); }
  // Two regions that read the conversion to f32 of a value, which neither took.
  Lines with_conversion(DType from, bool is_returned = false) {
    choice.takes = [](const Node& n) { return n.op->name() != "prims.convert"; };
    Var line = prim("prims.convert", {input({64, 64}, from), DType::f32}), y = input({64, 64});
    Var a = prim("prims.sin", {prim("prims.mul", {y, line})}), m = prim("prims.matmul", {a, a});
    Var b = prim("prims.cos", {prim("prims.mul", {m, line})});
    return is_returned ? lines({b, line}) : lines({b});
  }
};

TEST_F(Rematerialize, converts_a_narrow_value_in_each_region_that_reads_it) {
  EXPECT_EQ(with_conversion(DType::bf16), (Lines{"convert mul sin", "matmul", "convert mul cos"}));
}

TEST_F(Rematerialize, leaves_lines_alone_whose_results_are_returned) {
  EXPECT_EQ(with_conversion(DType::bf16, true), (Lines{"convert", "mul sin", "matmul", "mul cos"}));
}

TEST_F(Rematerialize, leaves_lines_alone_that_read_more_than_they_make) {
  EXPECT_EQ(with_conversion(DType::f64), (Lines{"convert", "mul sin", "matmul", "mul cos"}));
}

TEST_F(Rematerialize, leaves_the_cpu_alone) {
  device = Device::cpu;
  EXPECT_EQ(with_conversion(DType::bf16), (Lines{"convert", "mul sin", "matmul", "mul cos"}));
}

TEST_F(Rematerialize, leaves_lines_alone_where_a_region_does_not_take_them) {
  choice.fits = [](std::span<const Node* const> nodes) { return nodes.back()->op->name() != "prims.cos"; };
  EXPECT_EQ(with_conversion(DType::bf16), (Lines{"convert", "mul sin", "matmul", "mul cos"}));
}

// As a backward needs to know where an activation was zero, whose operand it reads for another reason: the activation's
// result is stored for the product, but not read again.
TEST_F(Rematerialize, computes_a_value_from_others_that_the_region_reads_anyway) {
  Var x = input({64, 64}), few = input({1, 64}), spread = prim("prims.expand", {few, Shape{64, 64}});
  Var z = prim("prims.sub", {x, spread}), y = prim("prims.abs", {z}), m = prim("prims.matmul", {y, y});
  Var a = prim("prims.mul", {m, y}), b = prim("prims.add", {a, x});
  EXPECT_EQ(lines({b}), (Lines{"expand sub abs", "matmul", "expand", "sub abs mul add"}));
}

TEST_F(Rematerialize, reads_a_value_that_takes_another_large_one_to_make) {
  Var x = input({64, 64}), other = input({64, 64});
  Var z = prim("prims.sub", {x, other}), y = prim("prims.abs", {z}), m = prim("prims.matmul", {y, y});
  Var a = prim("prims.mul", {m, y}), b = prim("prims.add", {a, x});
  EXPECT_EQ(lines({b}), (Lines{"sub abs", "matmul", "mul add"}));
}

TEST_F(Rematerialize, reads_a_value_that_takes_many_instructions) {
  Var x = input({64, 64});
  Var z = prim("prims.tanh", {x}), y = prim("prims.exp", {z}), m = prim("prims.matmul", {y, y});
  Var a = prim("prims.mul", {m, y}), b = prim("prims.add", {a, x});
  EXPECT_EQ(lines({b}), (Lines{"tanh exp", "matmul", "mul add"}));
}

// As it takes three reads to make, it was stored for the second region, which reads these anyway.
TEST_F(Rematerialize, drops_results_that_are_not_read_any_more) {
  Var x = input({64, 64}), y = input({64, 64}), z = input({64, 64});
  Var sum = prim("prims.add", {prim("prims.add", {x, y}), z}), a = prim("prims.sin", {sum});
  Var m = prim("prims.matmul", {a, a}), b = prim("prims.mul", {m, sum});
  Var c = prim("prims.sub", {prim("prims.sub", {prim("prims.sub", {b, x}), y}), z});
  const Trace trace = rematerialized_trace({c});
  ASSERT_EQ(trace.nodes.size(), 3u);
  EXPECT_EQ(trace.nodes[0]->results.size(), 1u);
  EXPECT_EQ(trace.nodes[2]->body.size(), 6u);
}

}  // namespace
}  // namespace thunder::test
