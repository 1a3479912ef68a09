// Integers of 8, 16 and 32 bits that kernels compute as wider ones, u64, and f16. Covers ops/widened,
// ops/convert_elements and ops/extremes.
// covers: core/ops/convert_elements.cpp core/ops/widened.cpp
#include <cmath>
#include <limits>

#include "ops/widened.h"
#include "support/eager.h"

namespace thunder {
namespace {

Tensor* two(Eager& e, const char* op, DType d, double a, double b) {
  return e.run(op, {any(e.tensor({1}, {a}, d)), any(e.tensor({1}, {b}, d))});
}
double result(Eager& e, const char* op, DType d, double a, double b) {
  Tensor* t = two(e, op, d, a, b);
  EXPECT_EQ(t->type().dtype, d) << op;
  return values(t)[0];
}

TEST(Narrow, integers_wrap_around) {
  Eager e;
  EXPECT_EQ(result(e, "add", DType::i8, 127, 1), -128);
  EXPECT_EQ(result(e, "sub", DType::i8, -128, 1), 127);
  EXPECT_EQ(result(e, "mul", DType::i8, 16, 9), -112);
  EXPECT_EQ(result(e, "add", DType::i16, 32767, 2), -32767);
  EXPECT_EQ(result(e, "sub", DType::u16, 0, 1), 65535);
  EXPECT_EQ(result(e, "mul", DType::u32, 65536, 65537), 65536);
  EXPECT_EQ(result(e, "sub", DType::u64, 0, 1), 0x1p64);
  EXPECT_EQ(values(e.run("neg", {any(e.tensor({1}, {-128}, DType::i8))})), (Doubles{-128}));
  EXPECT_EQ(values(e.run("abs", {any(e.tensor({1}, {-128}, DType::i8))})), (Doubles{-128}));
  EXPECT_EQ(values(e.run("bitwise_not", {any(e.tensor({1}, {0}, DType::u16))})), (Doubles{65535}));
}

TEST(Narrow, unsigned_integers_are_ordered_as_such) {
  Eager e;
  for (DType d : {DType::u16, DType::u32, DType::u64}) {
    const double most = info(d).largest == 0x1p64 ? 0x1p63 : info(d).largest;
    EXPECT_EQ(values(two(e, "gt", d, most, 1)), (Doubles{1})) << name(d);
    EXPECT_EQ(result(e, "maximum", d, most, 1), most);
    EXPECT_EQ(values(e.run("amin", {any(e.tensor({2}, {most, 3}, d))})), (Doubles{3}));
    Tensor* real = e.run("to", {any(e.tensor({1}, {most}, d)), any(DType::f64)});
    EXPECT_EQ(values(real), (Doubles{most}));
  }
}

TEST(Narrow, sums_of_integers_are_i64_and_products_of_matrices_wrap) {
  Eager e;
  EXPECT_EQ(type(e.run("sum", {any(e.tensor({3}, {100, 100, 100}, DType::i8))})), "i64[]");
  EXPECT_EQ(values(e.run("sum", {any(e.tensor({3}, {100, 100, 100}, DType::i8))})), (Doubles{300}));
  EXPECT_EQ(type(e.run("cumsum", {any(e.tensor({2}, {100, 100}, DType::u16)), any(0)})), "i64[2]");
  Tensor* product = e.run("matmul", {any(e.tensor({1, 2}, {100, 27}, DType::i8)), any(e.tensor({2, 1}, {2, 3}, DType::i8))});
  EXPECT_EQ(type(product), "i8[1, 1]");
  EXPECT_EQ(values(product), (Doubles{25})) << "281 - 256";
}

TEST(Narrow, a_mean_counts_more_than_its_dtype_does) {
  Eager e;
  Tensor* places = e.tensor({300}, Doubles(300, 0), DType::i64);
  Tensor* ones = e.tensor({300}, Doubles(300, 0), DType::i8);
  Tensor* mean = e.run("scatter_reduce", {any(e.tensor({1}, {100}, DType::i8)), any(0), any(places), any(ones), any("mean")});
  EXPECT_EQ(type(mean), "i8[1]");
  EXPECT_EQ(values(mean), (Doubles{0})) << "100 / 301";
  Tensor* sevens = e.tensor({18}, Doubles(18, 7), DType::i8);
  mean = e.run("scatter_reduce", {any(e.tensor({2}, {1, 9}, DType::i8)), any(0), any(e.tensor({18}, Doubles(18, 0), DType::i64)),
                                  any(sevens), any("mean"), any(false)});
  EXPECT_EQ(values(mean), (Doubles{7, 9}));
}

TEST(Narrow, padding_of_a_maximum_is_less_than_any_number) {
  Eager e;
  for (DType d : {DType::i8, DType::i16, DType::f16}) {
    Tensor* x = e.tensor({1, 1, 2, 2, 2}, {-7, -7, -7, -7, -7, -7, -7, -5}, d);
    Tensor* pooled = e.run("max_pool3d", {any(x), any(2), any(2), any(1)});
    EXPECT_EQ(values(pooled), (Doubles{-7, -7, -7, -7, -7, -7, -7, -5})) << name(d);
  }
}

TEST(Narrow, reals_saturate_and_then_wrap) {
  Eager e;
  const auto to = [&](DType d, double v) { return values(e.run("to", {any(e.tensor({1}, {v}, DType::f64)), any(d)}))[0]; };
  EXPECT_EQ(to(DType::i8, -3.9), -3);
  EXPECT_EQ(to(DType::u8, 300), 44);
  EXPECT_EQ(to(DType::u64, 0x1p63), 0x1p63);
  EXPECT_EQ(to(DType::u64, 1e30), 0x1p64);
  EXPECT_EQ(to(DType::u64, -1), 0x1p64) << "2^64 - 1, rounded";
  EXPECT_EQ(to(DType::u64, NAN), 0);
  EXPECT_EQ(to(DType::f16, 1e5), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to(DType::f16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(to(DType::f16, 2049), 2048);
}

TEST(Narrow, half_precision_is_rounded_once) {
  Eager e;
  EXPECT_EQ(result(e, "add", DType::f16, 2048, 1), 2048);
  EXPECT_EQ(result(e, "mul", DType::f16, 300, 300), std::numeric_limits<double>::infinity());
  Tensor* sum = e.run("sum", {any(e.tensor({3}, {2048, 1, 1}, DType::f16))});
  EXPECT_EQ(type(sum), "f16[]");
  EXPECT_EQ(values(sum), (Doubles{2050})) << "added up in a wider type";
}

// The kernel sees a copy of the view, and only the view's elements change.
TEST(Narrow, kernels_read_and_write_through_strides) {
  Registry registry;
  std::vector<int8_t> memory = {1, 9, 2, 9, 3, 9};
  const int64_t shape[] = {3}, strides[] = {2};
  Buffer b;
  b.data = memory.data(), b.shape = shape, b.strides = strides, b.rank = 1, b.dtype = DType::i8;
  const OpDef& add = registry.get("prims.add");
  const Buffer in[] = {b, b};
  EXPECT_EQ(run_reference(add, {in, {&b, 1}, {}, &add}), nullptr);
  EXPECT_EQ(memory, (std::vector<int8_t>{2, 9, 4, 9, 6, 9}));
}

TEST(Narrow, what_a_kernel_refuses_changes_nothing) {
  Registry registry;
  std::vector<int8_t> a = {1, 2}, zero = {1, 0}, out = {5, 6};
  const int64_t shape[] = {2}, strides[] = {1};
  const auto buffer = [&](std::vector<int8_t>& v) {
    Buffer b;
    b.data = v.data(), b.shape = shape, b.strides = strides, b.rank = 1, b.dtype = DType::i8;
    return b;
  };
  const OpDef& div = registry.get("prims.div");
  const Buffer in[] = {buffer(a), buffer(zero)}, to = buffer(out);
  Status* refused = run_reference(div, {in, {&to, 1}, {}, &div});
  ASSERT_NE(refused, nullptr);
  refused->release();
  EXPECT_EQ(out, (std::vector<int8_t>{5, 6}));
}

}  // namespace
}  // namespace thunder
