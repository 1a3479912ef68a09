// Plain numbers beside tensors, with values by hand.
#include <cmath>

#include "support/eager.h"

namespace thunder {
namespace {

constexpr int64_t kBig = (int64_t{1} << 53) + 1;  // no double

struct Numbers : testing::Test {
  Eager eager;
  Tensor* floats(const Doubles& v) { return eager.tensor({static_cast<int64_t>(v.size())}, v, DType::f64); }
  Tensor* halves(const Doubles& v) { return eager.tensor({static_cast<int64_t>(v.size())}, v, DType::f16); }
  Tensor* whole(const Doubles& v, DType dtype = DType::i64) { return eager.tensor({static_cast<int64_t>(v.size())}, v, dtype); }
  Tensor* mask(const Doubles& v) { return eager.tensor({static_cast<int64_t>(v.size())}, v, DType::boolean); }
  static int64_t first(const Tensor* t) { return *reinterpret_cast<const int64_t*>(t->data()); }
  static Any large() { return Any::integer(kBig); }
};

TEST_F(Numbers, that_are_stored_in_f64_keep_all_bits) {
  for (double v : {0.1, 1e300, 1e-300, 1.0 / 3}) {
    Tensor* at = whole({0});
    EXPECT_EQ(values(eager.run("fill", {any(floats({1, 2})), any(v)})), Doubles({v, v}));
    EXPECT_EQ(values(eager.run("masked_fill", {any(floats({1, 2})), any(mask({0, 1})), any(v)})), Doubles({1, v}));
    EXPECT_EQ(values(eager.run("index_fill", {any(floats({1, 2})), any(0), any(at), any(v)})), Doubles({v, 2}));
    EXPECT_EQ(values(eager.run("scatter", {any(floats({1, 2})), any(0), any(at), any(v)})), Doubles({v, 2}));
    EXPECT_EQ(values(eager.run("float_power", {any(floats({2})), any(0.1)})), Doubles({std::pow(2.0, 0.1)}));
  }
}

TEST_F(Numbers, that_are_integers_keep_64_bits) {
  for (const char* op : {"add", "bitwise_or", "bitwise_xor", "maximum"}) EXPECT_EQ(first(eager.run(op, {any(whole({0})), large()})), kBig) << op;
  EXPECT_EQ(first(eager.run("mul", {any(whole({1})), large()})), kBig);
  EXPECT_EQ(first(eager.run("sub", {large(), any(whole({0}))})), kBig);
  EXPECT_EQ(first(eager.run("pow", {large(), any(whole({1}))})), kBig);
  EXPECT_EQ(first(eager.run("clamp", {any(whole({0})), large()})), kBig);
  EXPECT_EQ(first(eager.run("full", {any(std::vector<int64_t>{1}), large()})), kBig);
  EXPECT_EQ(first(eager.run("masked_fill", {any(whole({0})), any(mask({1})), large()})), kBig);
  EXPECT_EQ(first(eager.run("where", {any(mask({1})), large(), any(whole({0}))})), kBig);
  EXPECT_EQ(first(eager.run("arange", {Any::integer(kBig), Any::integer(kBig + 2)})), kBig);
}

TEST_F(Numbers, beside_halves_are_no_halves) {
  EXPECT_EQ(values(eager.run("mul", {any(halves({0.001})), any(65536.0)})), Doubles({65.5625}));
  EXPECT_EQ(values(eager.run("mul_", {any(halves({0.001})), any(65536)})), Doubles({65.5625}));
  EXPECT_EQ(values(eager.run("div", {any(65536.0), any(halves({16}))})), Doubles({4096}));
  EXPECT_EQ(values(eager.run("lt", {any(halves({60000})), any(1e5)})), Doubles({1}));
  EXPECT_EQ(type(eager.run("mul", {any(halves({1})), any(65536.0)})), "f16[1]");
}

TEST_F(Numbers, that_no_such_integer_is_are_refused_with_both) {
  const auto refused = [&](const char* op, std::initializer_list<Any> args) {
    const std::string message = eager.refused(op, args);
    EXPECT_NE(message.find("the value 300 cannot be converted to uint8 without overflow"), message.npos) << op << ": " << message;
  };
  Tensor* x = whole({100}, DType::u8);
  for (const char* op : {"maximum", "gt", "eq", "floor_divide", "remainder", "pow", "fill", "threshold"}) {
    if (std::string_view(op) != "threshold") refused(op, {any(x), any(300)});
    else refused(op, {any(x), any(5), any(300)});
  }
  refused("clamp", {any(x), any(0), any(300)});
  refused("where", {any(mask({1})), any(300), any(x)});
  refused("full", {any(std::vector<int64_t>{1}), any(300), any(DType::u8)});
  refused("masked_fill", {any(x), any(mask({1})), any(300)});
}

TEST_F(Numbers, wrap_around_where_results_do) {
  Tensor* x = whole({100}, DType::u8);
  EXPECT_EQ(values(eager.run("add", {any(x), any(300)})), Doubles({144}));
  EXPECT_EQ(values(eager.run("mul", {any(x), any(300)})), Doubles({48}));
  EXPECT_EQ(values(eager.run("bitwise_and", {any(x), any(300)})), Doubles({36}));
  EXPECT_EQ(values(eager.run("fill", {any(x), any(-1)})), Doubles({255}));
}

TEST_F(Numbers, of_activations_beside_integers_are_integers) {
  Tensor* x = whole({16777217, -5}, DType::i32);
  EXPECT_EQ(values(eager.run("threshold", {any(x), any(2), any(2)})), Doubles({16777217, 2}));
}

TEST_F(Numbers, that_no_float_is_are_refused_by_options_that_are_floats) {
  const std::string message = eager.refused("addcmul", {any(whole({1})), any(whole({1})), any(whole({1})), large()});
  EXPECT_NE(message.find("argument 'value' is a float64, which does not hold the integer 9007199254740993"), message.npos) << message;
}

}  // namespace
}  // namespace thunder
