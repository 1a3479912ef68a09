// What makes two calls the same program.
#include "cache/key.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace thunder {
namespace {

Ref<Tensor> tensor(DType dtype, Shape shape) {
  TensorType t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  return Tensor::empty(default_allocator(), t);
}

Inputs of(const Values& v) { return {&v, nullptr, v.size()}; }

std::string difference(const Values& now, const Values& before) {
  return Key(of(before)).matches(of(now)) ? "" : Key(of(now)).difference(Key(of(before)), now.paths());
}

Values values(std::initializer_list<Any> leaves) {
  Values v;
  for (auto& a : leaves) v.push(a);
  return v;
}

TEST(Key, tells_shape_dtype_and_layout_apart) {
  auto a = tensor(DType::f32, {2, 3}), b = tensor(DType::f32, {3, 2}), c = tensor(DType::f64, {2, 3});
  auto d = Tensor::view(b->storage(), a->type(), Sizes{1, 2}, 0);
  EXPECT_EQ(difference(values({Any::tensor(b.get())}), values({Any::tensor(a.get())})), "input '0': shape is [3, 2], was [2, 3]");
  EXPECT_EQ(difference(values({Any::tensor(c.get())}), values({Any::tensor(a.get())})), "input '0': dtype is f64, was f32");
  EXPECT_EQ(difference(values({Any::tensor(d.get())}), values({Any::tensor(a.get())})), "input '0': layout is strides [1, 2], was contiguous");
  EXPECT_EQ(difference(values({Any::tensor(a.get())}), values({Any::tensor(a.get())})), "");
}

TEST(Key, guards_integers_booleans_and_strings_by_value_but_not_floats) {
  EXPECT_EQ(difference(values({Any::integer(4)}), values({Any::integer(3)})), "input '0': value is 4, was 3");
  EXPECT_EQ(difference(values({Any::boolean(true)}), values({Any::boolean(false)})), "input '0': value is true, was false");
  EXPECT_EQ(difference(values({Any::string("sum")}), values({Any::string("mean")})), "input '0': value is 'sum', was 'mean'");
  EXPECT_EQ(difference(values({Any::real(4)}), values({Any::real(3)})), "");
  EXPECT_EQ(difference(values({Any::real(4)}), values({Any::integer(3)})), "input '0': kind is a float, was an integer");
}

TEST(Key, of_positional_tensors_is_that_of_their_values) {
  auto a = tensor(DType::f32, {2}), b = tensor(DType::i64, {});
  Tensor* in[] = {a.get(), b.get()};
  EXPECT_TRUE(Key(of(values({Any::tensor(a.get()), Any::tensor(b.get())}))).matches({nullptr, in, 2}));
  EXPECT_FALSE(Key(of(values({Any::tensor(a.get())}))).matches({nullptr, in, 2}));
  Tensor* const missing[] = {a.get(), nullptr};
  EXPECT_FALSE(Key(of(values({Any::tensor(a.get()), Any::tensor(b.get())}))).matches({nullptr, missing, 2}));
  std::vector<Tensor*> many(100, a.get());
  Values v;
  for (Tensor* t : many) v.push(Ref<Tensor>(t));
  EXPECT_TRUE(Key(of(v)).matches({nullptr, many.data(), many.size()}));
}

TEST(Key, includes_the_structure) {
  Values list, map;
  list.open(false, {});
  list.push(Any::integer(1));
  list.close();
  map.open(true, {});
  map.key("x");
  map.push(Any::integer(1));
  map.close();
  EXPECT_EQ(difference(list, map), "the inputs' structure is '[*]', was '{\"x\":*}'");
}

}  // namespace
}  // namespace thunder
