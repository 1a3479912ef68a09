// Lines that are alike for all values of the symbols.
#include "ir/alike_lines.h"

#include <gtest/gtest.h>

#include "ir/schema.h"

namespace thunder {
namespace {

struct AlikeLines : ::testing::Test {
  const Op add_op{parse_schema("add(tensor x, tensor y) -> tensor")};
  const Op scale_op{parse_schema("scale(tensor x, int by) -> tensor")};
  std::shared_ptr<Store> store = std::make_shared<Store>();
  const Dim s = store->dims().symbol(16);
  Trace trace;
  AlikeLines() { trace.store = store; }

  ValueId value(Shape shape) {
    TensorType type;
    type.dtype = DType::f32, type.shape = std::move(shape);
    return store->add(type);
  }
  ValueId add(ValueId x, ValueId y, const char* executor = "fusion") {
    const ValueId made = value(trace.type(x).shape);
    trace.nodes.push_back(
        store->node(&add_op, std::array{Arg::value(x), Arg::value(y)}, {&made, 1}, {}, nullptr, executor));
    return made;
  }
  ValueId scale(ValueId x, Dim by) {
    const ValueId made = value(trace.type(x).shape);
    trace.nodes.push_back(
        store->node(&scale_op, std::array{Arg::value(x), Arg::integer(by)}, {&made, 1}, {}, nullptr, "fusion"));
    return made;
  }
};

TEST_F(AlikeLines, are_of_one_op_on_values_of_the_same_types_and_arrangement) {
  const ValueId x = value({s, 3}), y = value({s, 3});
  const ValueId a = add(x, y);
  add(a, x);             // like the first
  add(x, x);             // of one value
  add(value({s, 4}), value({s, 4}));
  add(y, a, "host");     // run by another executor
  EXPECT_EQ(first_alike(trace), (std::vector<uint32_t>{0, 0, 2, 3, 4}));
}

TEST_F(AlikeLines, differ_where_a_symbol_and_a_number_are_equal_by_chance) {
  const ValueId x = value({s});
  scale(x, 16);
  scale(x, s);
  scale(x, 16);
  add(x, x);
  const ValueId fixed = value({16});
  add(fixed, fixed);
  EXPECT_EQ(first_alike(trace), (std::vector<uint32_t>{0, 1, 0, 3, 4}));
}

}  // namespace
}  // namespace thunder
