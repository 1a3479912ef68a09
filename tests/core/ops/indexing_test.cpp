// gather, index_put, embedding, masked_fill ... : values, gradients, messages for what data can get wrong.
#include <cmath>

#include "base/thread_pool.h"
#include "support/eager.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

Tensor* indices(Eager& e, Ints shape, const Doubles& v) { return e.tensor(std::move(shape), v, DType::i64); }
Any list(std::span<Tensor* const> tensors) {
  Any a;
  a.kind = ArgKind::values, a.count = static_cast<uint32_t>(tensors.size()), a.ts = tensors.data();
  return a;
}
Tensor* total(Eager& e, Tensor* t) { return e.run("prims.sum", {any(t), any(Ints{})}); }

TEST(Gather, reads_along_a_dim) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(e.run("gather", {any(x), any(1), any(indices(e, {2, 2}, {2, 0, 1, 1}))})), (Doubles{3, 1, 5, 5}));
  EXPECT_EQ(values(e.run("gather", {any(x), any(-2), any(indices(e, {1, 2}, {1, 0}))})), (Doubles{4, 2}));
}

TEST(Gather, adds_gradients_of_repeated_indices) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {1, 2, 3});
  Tensor* y = e.run("gather", {any(x), any(0), any(indices(e, {4}, {0, 2, 2, 2}))});
  EXPECT_EQ(values(e.grad(total(e, e.run("mul", {any(y), any(y)})), {x})[0]), (Doubles{2, 0, 18}));
}

TEST(Gather, names_an_index_that_is_out_of_range) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, Doubles(6));
  std::string message = e.refused("gather", {any(x), any(1), any(indices(e, {1, 1}, {3}))});
  EXPECT_EQ(message, "gather: index 3 is out of range for dim 1 of size 3");
  message = e.refused("gather", {any(e.tensor({2}, Doubles(2))), any(0), any(indices(e, {1}, {-1}))});
  EXPECT_NE(message.find("index -1 is out of range"), message.npos) << message;
}

TEST(ScatterAdd, sums_in_f32_for_bf16) {
  Eager e;
  // In bf16, 256 + 1 is 256: adding one by one would lose every summand.
  Tensor* x = e.tensor({1}, {256}, DType::bf16);
  Tensor* y = e.run("scatter_add", {any(x), any(0), any(indices(e, {8}, Doubles(8, 0))), any(e.tensor({8}, Doubles(8, 1), DType::bf16))});
  EXPECT_EQ(values(y), (Doubles{264}));
}

TEST(ScatterAdd, leaves_gradients_to_input_and_src) {
  Eager e(true);
  Tensor *x = e.tensor({3}, {1, 2, 3}), *src = e.tensor({4}, {1, 1, 1, 1});
  Tensor* y = e.run("scatter_add", {any(x), any(0), any(indices(e, {3}, {0, 0, 2})), any(src)});
  EXPECT_EQ(values(y), (Doubles{3, 2, 4}));
  auto g = e.grad(total(e, e.run("mul", {any(y), any(y)})), {x, src});
  EXPECT_EQ(values(g[0]), (Doubles{6, 4, 8}));
  EXPECT_EQ(values(g[1]), (Doubles{6, 6, 8, 0}));
}

TEST(IndexSelect, takes_slices) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(e.run("index_select", {any(x), any(1), any(e.tensor({2}, {2, 0}, DType::i32))})), (Doubles{3, 1, 6, 4}));
  EXPECT_EQ(type(e.run("index_select", {any(e.scalar(5)), any(0), any(indices(e, {1}, {0}))})), "f32[]");
}

TEST(Index, broadcasts_indices_and_counts_from_the_end) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor* both[] = {indices(e, {2, 1}, {0, -1}), indices(e, {2}, {0, -1})};
  Tensor* y = e.run("index", {any(x), list(both)});
  EXPECT_EQ(type(y), "f32[2, 2]");
  EXPECT_EQ(values(y), (Doubles{1, 3, 4, 6}));
  Tensor* wrong[] = {both[0], indices(e, {1}, {3})};
  EXPECT_NE(e.refused("index", {any(x), list(wrong)}).find("index 3 is out of range for dim 1 of size 3"), std::string::npos);
}

// Of every element, the additions have one order, whoever does them.
TEST(Adding, gives_the_same_bits_on_any_number_of_threads) {
  Eager e;
  for (const char* name : {"prims.take_add", "prims.scatter_add"})
    for (int64_t dim : {0, 1}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(dim));
      const bool takes = std::string_view(name) == "prims.take_add";
      Ints taken = {300, 300};
      taken[static_cast<size_t>(dim)] = 701;
      Doubles numbers(90000), more(701 * 300), at;
      for (size_t i = 0; i < numbers.size(); i++) numbers[i] = std::sin(static_cast<double>(i));
      for (size_t i = 0; i < more.size(); i++) more[i] = std::cos(static_cast<double>(i));
      for (int64_t i = 0; i < (takes ? 701 : 701 * 300); i++) at.push_back(static_cast<double>(i * 7919 % 300));
      Tensor *x = e.tensor({300, 300}, numbers), *src = e.tensor(taken, more), *index = takes ? indices(e, {701}, at) : indices(e, taken, at);
      const Buffer in[] = {x->buffer(), index->buffer(), src->buffer()};
      const Arg args[] = {Arg(), Arg::integer(dim), Arg(), Arg()};
      Doubles first;
      for (size_t threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        Tensor* y = e.tensor({300, 300}, Doubles(90000));
        const Buffer out = y->buffer();
        EXPECT_EQ(e.registry().get(name).reference({in, {&out, 1}, args, nullptr, &pool}), nullptr);
        if (first.empty()) first = values(y);
        EXPECT_EQ(values(y), first);
        // In place.
        Tensor* z = e.tensor({300, 300}, numbers);
        const Buffer both[] = {z->buffer(), in[1], in[2]};
        EXPECT_EQ(e.registry().get(name).reference({both, {both, 1}, args, nullptr, &pool}), nullptr);
        EXPECT_EQ(values(z), first);
      }
    }
}

TEST(IndexPut, stores_or_adds) {
  Eager e;
  Tensor* x = e.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor* rows[] = {indices(e, {3}, {0, -1, 0})};
  Tensor* v = e.tensor({3, 1}, {10, 20, 30});
  EXPECT_EQ(values(e.run("index_put", {any(x), list(rows), any(v)})), (Doubles{30, 30, 3, 4, 20, 20}));
  EXPECT_EQ(values(e.run("index_put", {any(x), list(rows), any(v), any(true)})), (Doubles{41, 42, 3, 4, 25, 26}));
  EXPECT_EQ(values(x), (Doubles{1, 2, 3, 4, 5, 6}));
  e.run("index_put_", {any(x), list(rows), any(0)});
  EXPECT_EQ(values(x), (Doubles{0, 0, 3, 4, 0, 0}));
}

TEST(Embedding, adds_gradients_and_spares_the_padding) {
  Eager e(true);
  Tensor* weight = e.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor* tokens = indices(e, {2, 2}, {0, 2, 2, 1});
  Tensor* y = e.run("embedding", {any(tokens), any(weight), any(-3)});
  EXPECT_EQ(type(y), "f32[2, 2, 2]");
  EXPECT_EQ(values(y), (Doubles{1, 2, 5, 6, 5, 6, 3, 4}));
  EXPECT_EQ(values(e.grad(total(e, y), {weight})[0]), (Doubles{0, 0, 1, 1, 2, 2}));
}

TEST(OneHot, marks_one_class_each) {
  Eager e;
  Tensor* y = e.run("one_hot", {any(indices(e, {2}, {2, 0})), any(3)});
  EXPECT_EQ(type(y), "i64[2, 3]");
  EXPECT_EQ(values(y), (Doubles{0, 0, 1, 1, 0, 0}));
}

TEST(MaskedFill, keeps_the_dtype_of_its_input) {
  Eager e;
  Tensor* x = e.tensor({2, 2}, {1, 2, 3, 4}, DType::i32);
  Tensor* y = e.run("masked_fill", {any(x), any(e.tensor({2}, {0, 1}, DType::boolean)), any(-7)});
  EXPECT_EQ(type(y), "i32[2, 2]");
  EXPECT_EQ(values(y), (Doubles{1, -7, 3, -7}));
}

TEST(Triangles, keep_one_side_of_a_diagonal) {
  Eager e(true);
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(e.run("tril", {any(x)})), (Doubles{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values(e.run("tril", {any(x), any(-1)})), (Doubles{0, 0, 0, 4, 0, 0}));
  Tensor* upper = e.run("triu", {any(x), any(1)});
  EXPECT_EQ(values(upper), (Doubles{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(values(e.grad(total(e, e.run("mul", {any(upper), any(upper)})), {x})[0]), (Doubles{0, 4, 6, 0, 0, 12}));
}

}  // namespace
}  // namespace thunder
