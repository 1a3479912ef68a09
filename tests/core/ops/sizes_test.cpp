// Sizes near 2^63: what is a product, a sum or a difference of them fits in 64 bits or is refused, naming op and
// values.
// covers: core/base/checked.cpp core/ir/type.cpp core/ops/place_view.cpp
#include <deque>

#include "ir/shape.h"
#include "ops/place_view.h"
#include "ops/registry.h"
#include "support/generator.h"
#include "support/interpret.h"
#include "support/traces.h"

namespace thunder::tests {
namespace {

using Generator = std::mt19937_64;
constexpr int64_t kHuge = int64_t{1} << 62;

TEST(Sizes, whose_product_does_not_fit_are_refused_naming_op_and_type) {
  Eager e;
  Tensor* x = e.tensor({1, 1}, {1});
  const int64_t sizes[] = {4, kHuge};
  const std::string message = e.refused("expand", {any(x), Any::dims(sizes)});
  EXPECT_EQ(message, "expand: a result of type f32[4, 4611686018427387904] would not fit in memory");
}

TEST(Sizes, of_bytes_are_checked_as_those_of_elements) {
  Eager e;
  Tensor* x = e.tensor({1}, {1}, DType::f64);
  const int64_t fits[] = {(kHuge >> 2) - 1}, too_many[] = {kHuge >> 1};
  EXPECT_EQ(e.refused("expand", {any(x), Any::dims(fits)}), "");
  EXPECT_NE(e.refused("expand", {any(x), Any::dims(too_many)}).find("would not fit"), std::string::npos);
}

TEST(Sizes, of_an_empty_tensor_count_as_one_where_strides_are_made_of_them) {
  Eager e;
  Tensor* x = e.tensor({1, 1, 1}, {1});
  const int64_t sizes[] = {kHuge, 4, 0};
  EXPECT_NE(e.refused("expand", {any(x), Any::dims(sizes)}).find("would not fit"), std::string::npos);
}

TEST(Sizes, that_sum_to_too_much_are_refused_naming_both) {
  Eager e;
  Tensor* x = e.tensor({2}, {1, 2});
  const int64_t amounts[] = {INT64_MAX, 1}, sizes[] = {INT64_MAX, INT64_MAX};
  EXPECT_NE(e.refused("pad", {any(x), Any::dims(amounts)}).find("size 9223372036854775807 + 2 does not fit"), std::string::npos);
  EXPECT_NE(e.refused("split", {any(x), Any::dims(sizes)}).find("does not fit in 64 bits"), std::string::npos);
}

TEST(Sizes, make_no_more_parts_than_memory_holds) {
  Eager e;
  const int64_t many[] = {int64_t{1} << 40};
  const Ref<Tensor> wide(e.run("expand", {any(e.tensor({1}, {1})), Any::dims(many)}));
  const int64_t one[] = {1};
  for (const std::string& message : {e.refused("split", {any(wide.get()), Any::dims(one)}), e.refused("chunk", {any(wide.get()), Any::integer(int64_t{1} << 40)})})
    EXPECT_NE(message.find("parts of 1 make 1099511627776 of dim 0"), std::string::npos) << message;
}

TEST(Sizes, let_one_element_be_taken_by_a_step_of_any_length) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(e.run("slice", {any(x), any(1), any(1), any(3), Any::integer(INT64_MAX)})), (Doubles{2, 5}));
  EXPECT_EQ(values(e.run("slice", {any(x), any(0), Any::integer(INT64_MIN), Any::integer(INT64_MAX), Any::integer(kHuge)})), (Doubles{1, 2, 3}));
}

TEST(Sizes, of_ranges_are_counted_without_overflow) {
  Eager e;
  const Doubles four = values(e.run("arange", {Any::integer(INT64_MIN), Any::integer(INT64_MAX), Any::integer(kHuge)}));
  EXPECT_EQ(four, (Doubles{-0x1p63, -0x1p62, 0, 0x1p62}));
  EXPECT_EQ(values(e.run("arange", {Any::integer(INT64_MAX), Any::integer(INT64_MIN), Any::integer(INT64_MIN)})).size(), 2u);
  EXPECT_NE(e.refused("arange", {Any::integer(INT64_MIN), Any::integer(INT64_MAX), any(1)}).find("too far apart"), std::string::npos);
}

TEST(Sizes, of_diagonals_far_outside_change_nothing_more) {
  Eager e;
  Tensor* x = e.tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(e.run("tril", {any(x), Any::integer(INT64_MAX)})), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(values(e.run("triu", {any(x), Any::integer(INT64_MAX)})), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(values(e.run("tril", {any(x), Any::integer(INT64_MIN)})), (Doubles{0, 0, 0, 0}));
}

TEST(PlaceView, makes_what_has_no_elements_dense) {
  Registry registry;
  const Shape starts{0, 0}, ends{0, 5}, steps{kHuge, 1};
  const Arg args[] = {Arg::value(0), Arg::dims(starts), Arg::dims(ends), Arg::dims(steps)};
  ViewOf view{.strides = {INT64_MAX, INT64_MAX}};
  EXPECT_TRUE(place_view(registry.get("prims.slice"), std::array<int64_t, 2>{2, 5}, args, std::array<int64_t, 2>{0, 5}, view));
  EXPECT_EQ(view.offset, 0);
  EXPECT_EQ(view.strides, (Sizes{5, 1}));
}

// ---- every op, on sizes and numbers at random ----

struct Arguments {
  std::vector<Any> args;
  std::deque<std::vector<int64_t>> lists;
  std::deque<std::vector<Tensor*>> tensors;
};

Tensor* some_tensor(TracingScope& scope, Generator& g) {
  constexpr DType dtypes[] = {DType::f32, DType::f32, DType::f32, DType::i64, DType::u8, DType::boolean};
  TensorType type;
  do {
    type.dtype = dtypes[below(g, std::size(dtypes))];
    type.shape.clear();
    for (size_t i = below(g, 6); i > 0; i--) {
      const int64_t size = one_in(g, 3) ? hostile_integer(g) : static_cast<int64_t>(1 + below(g, 3));
      type.shape.push_back(size < 0 ? -(size + 1) : size);
    }
  } while (!fits_in_memory(type));
  return scope.argument_proxy(type, "x", nullptr);
}

Any some_argument(const Param& p, TracingScope& scope, Arguments& out, Generator& g) {
  if (p.optional && one_in(g, 3)) return Any{};
  switch (p.kind) {
    case ParamKind::tensor: return Any::tensor(some_tensor(scope, g));
    case ParamKind::tensors: {
      auto& list = out.tensors.emplace_back();
      Tensor* first = some_tensor(scope, g);
      for (size_t i = 1 + below(g, 3); i > 0; i--) list.push_back(one_in(g, 3) ? some_tensor(scope, g) : first);
      Any a;
      a.kind = ArgKind::values, a.count = static_cast<uint32_t>(list.size()), a.ts = list.data();
      return a;
    }
    case ParamKind::integer: return Any::integer(hostile_integer(g));
    case ParamKind::boolean: return Any::boolean(one_in(g, 2));
    case ParamKind::real: return Any::real(one_in(g, 2) ? 0.5 : static_cast<double>(hostile_integer(g)));
    case ParamKind::dims: {
      auto& list = out.lists.emplace_back();
      for (size_t i = below(g, 5); i > 0; i--) list.push_back(hostile_integer(g));
      return Any::dims(list);
    }
    default: return Any{};
  }
}

// Refused ones name the op; of those that are recorded every size and every stride fits.
TEST(Sizes, at_random_are_refused_by_every_op_or_make_types_that_fit) {
  const Registry registry;
  const std::vector<const OpDef*> ops = registry.all();
  Eager e;
  size_t recorded = 0, tried = 0;
  for_each_seed(200, [&](Generator& g) {
    TracingScope scope(e.scope().environment(), "f");
    for (int i = 0; i < 100; i++) {
      const OpDef& op = *ops[below(g, ops.size())];
      Arguments given;
      for (const Param& p : op.schema.params) given.args.push_back(some_argument(p, scope, given, g));
      while (!given.args.empty() && given.args.back().kind == ArgKind::none) given.args.pop_back();
      Values* made = scope.invoke_all(op.name(), given.args, nullptr, nullptr);
      tried++;
      if (scope.status()) {
        EXPECT_NE(scope.status()->code(), Code::internal) << op.name() << ": " << scope.status()->message();
        EXPECT_NE(scope.status()->message(), "");
        scope.reset();
        continue;
      }
      recorded++;
      for (size_t k = 0; k < made->size(); k++) {
        const TensorType& type = (*made)[k].tensor->type();
        EXPECT_TRUE(fits_in_memory(type)) << op.name() << " makes " << std::string(name(type));
      }
    }
  });
  RecordProperty("recorded", std::to_string(recorded));
  EXPECT_GT(recorded * 20, tried);  // enough gets through for views of views
}

}  // namespace
}  // namespace thunder::tests
