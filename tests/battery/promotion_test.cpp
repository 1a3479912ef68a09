// Result dtypes of operands of every dtype and strength, eagerly and compiled, against PyTorch's rules told another way.
#include "battery/battery.h"

namespace thunder::battery {
namespace {

// ---- torch.promote_types and torch.result_type, by category and bits ----

int category(DType d) { return d == DType::boolean ? 0 : static_cast<int>(d) >> 8 >= 2 ? 2 : 1; }
int bits(DType d) { return d == DType::boolean ? 1 : static_cast<int>(d) & 0xff; }
bool is_wide_unsigned(DType d) { return static_cast<int>(d) >> 8 == 1 && bits(d) > 8; }
// One of the two, or what holds both. None: refused.
DType promoted_types(DType a, DType b) {
  if (a != b && category(a) < 2 && category(b) < 2 && (is_wide_unsigned(a) || is_wide_unsigned(b))) return DType::none;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (bits(a) == bits(b) && a != b) return bits(a) == 8 ? DType::i16 : DType::f32;
  return bits(a) > bits(b) ? a : b;
}

// The second operand: a tensor with dimensions, a 0-d tensor, or a number.
enum class Second { tensor, scalar, number };
DType result_type(DType a, bool a_has_dims, DType b, Second second) {
  const DType number = category(b) == 2 ? DType::f32 : b;
  if (second == Second::number) return category(b) > category(a) ? number : a;
  if (a_has_dims == (second == Second::tensor)) return promoted_types(a, b);
  const DType with_dims = a_has_dims ? a : b, without = a_has_dims ? b : a;
  if (category(with_dims) == 0) return promoted_types(with_dims, without);
  return category(without) > category(with_dims) ? without : with_dims;
}

// ---- ops ----

enum class Gives { common, real, boolean };
struct Row {
  const char* op;
  Gives gives;
  bool takes_booleans = true;
};
constexpr Row kRows[] = {{"add", Gives::common}, {"mul", Gives::common}, {"sub", Gives::common, false}, {"maximum", Gives::common},
                         {"minimum", Gives::common}, {"div", Gives::real}, {"lt", Gives::boolean}, {"eq", Gives::boolean}};

struct Promotions : Battery {
  Case case_of(const Row& row, DType a, bool a_has_dims, DType b, Second second) {
    const Ints with = {2}, without = {};
    auto spec = [](DType d, const Ints& shape) { return TensorSpec{shape, d, 1, 1}; };
    Case c{&context->registry().get(row.op), {}, row.op, ""};
    c.sample.args.push_back({spec(a, a_has_dims ? with : without)});
    if (second != Second::number) c.sample.args.push_back({spec(b, second == Second::tensor ? with : without)});
    else if (b == DType::boolean) c.sample.args.push_back({true});
    else if (b == DType::i64) c.sample.args.push_back({int64_t{1}});
    else c.sample.args.push_back({1.0});
    return c;
  }
  // By an error that names the op and both dtypes.
  void check_refused(const Row& row, DType a, bool a_has_dims, DType b, Second second) {
    const Case c = case_of(row, a, a_has_dims, b, second);
    const Tensors tensors = make_tensors(c);
    for (const Outcome& got : {run_eager(*context, c, tensors), run_compiled(*context, c, tensors, 1)})
      for (std::string_view word : {std::string_view(row.op), std::string_view("promotion of uint16"), name(a), name(b)})
        EXPECT_NE(got.error.find(word), got.error.npos) << row.op << " of " << name(a) << " and " << name(b) << ": " << got.error;
    tally()["refused promotions"]++;
  }
  void check(const Row& row, DType a, bool a_has_dims, DType b, Second second) {
    const DType common = result_type(a, a_has_dims, b, second);
    if (!row.takes_booleans && (a == DType::boolean || b == DType::boolean)) return;
    if (common == DType::none) return check_refused(row, a, a_has_dims, b, second);
    const DType expected = row.gives == Gives::boolean ? DType::boolean
                           : row.gives == Gives::real && category(common) < 2 ? DType::f32 : common;
    const Case c = case_of(row, a, a_has_dims, b, second);
    const Tensors tensors = make_tensors(c);
    for (const Outcome& got : {run_eager(*context, c, tensors), run_compiled(*context, c, tensors, 1)}) {
      ASSERT_EQ(got.error, "") << row.op << " of " << name(a) << " and " << name(b);
      EXPECT_EQ(name(got.types[0].dtype), name(expected))
          << row.op << " of " << name(a) << (a_has_dims ? "[2]" : "[]") << " and " << name(b)
          << (second == Second::tensor ? "[2]" : second == Second::scalar ? "[]" : ", a number");
    }
    tally()["promoted"]++;
  }
};

TEST_F(Promotions, are_torchs) {
  for (const Row& row : kRows)
    for (const DTypeInfo& first : all_dtypes())
      for (bool a_has_dims : {true, false})
        for (const DTypeInfo& other : all_dtypes()) {
          const DType a = first.dtype, b = other.dtype;
          check(row, a, a_has_dims, b, Second::tensor);
          check(row, a, a_has_dims, b, Second::scalar);
          // Only these are numbers.
          if (b == DType::boolean || b == DType::i64 || b == DType::f64) check(row, a, a_has_dims, b, Second::number);
        }
}

}  // namespace
}  // namespace thunder::battery
