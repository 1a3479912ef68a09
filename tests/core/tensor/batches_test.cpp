#include "tensor/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

// Row k of x is {k, 10 k}; y is k.
std::vector<Ref<Tensor>> table(int64_t rows) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int64_t k = 0; k < rows; k++) {
    x.push_back(static_cast<float>(k));
    x.push_back(static_cast<float>(10 * k));
    y.push_back(k);
  }
  return {tensor_of(DType::f32, {rows, 2}, x), tensor_of(DType::i64, {rows}, y)};
}

// The rows of one epoch, batch by batch.
std::vector<std::vector<int64_t>> epoch(Batches& batches) {
  std::vector<std::vector<int64_t>> out;
  for (auto batch = batches.next(default_allocator()); !batch.empty(); batch = batches.next(default_allocator())) {
    auto x = values_of<float>(*batch[0]);
    out.push_back(values_of<int64_t>(*batch[1]));
    for (size_t i = 0; i < out.back().size(); i++) {
      EXPECT_EQ(x[2 * i], static_cast<float>(out.back()[i])) << "rows of different tensors must stay together";
      EXPECT_EQ(x[2 * i + 1], static_cast<float>(10 * out.back()[i]));
    }
  }
  return out;
}
std::vector<int64_t> flat(const std::vector<std::vector<int64_t>>& parts) {
  std::vector<int64_t> out;
  for (auto& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}

TEST(Batches, give_rows_as_they_lie_without_shuffling) {
  Batches batches(table(5), {.size = 2, .shuffle = false});
  EXPECT_EQ(batches.batches(), 3);
  const std::vector<std::vector<int64_t>> all = {{0, 1}, {2, 3}, {4}};
  EXPECT_EQ(epoch(batches), all);
  EXPECT_EQ(epoch(batches), all);
  EXPECT_EQ(batches.epoch(), 2);
}

TEST(Batches, leave_out_the_last_when_told) {
  Batches batches(table(5), {.size = 2, .shuffle = false, .drop_last = true});
  EXPECT_EQ(batches.batches(), 2);
  EXPECT_EQ(epoch(batches).size(), 2u);
}

TEST(Batches, visit_each_row_once_in_an_order_of_the_epoch) {
  Batches batches(table(100), {.size = 7, .seed = 3});
  auto first = flat(epoch(batches)), second = flat(epoch(batches));
  EXPECT_NE(first, second);
  for (auto order : {first, second}) {
    std::sort(order.begin(), order.end());
    std::vector<int64_t> every(100);
    std::iota(every.begin(), every.end(), 0);
    EXPECT_EQ(order, every);
  }
}

TEST(Batches, repeat_under_the_same_seed_only) {
  Batches a(table(50), {.size = 8, .seed = 1}), b(table(50), {.size = 8, .seed = 1}),
      c(table(50), {.size = 8, .seed = 2});
  auto order = epoch(a);
  EXPECT_EQ(order, epoch(b));
  EXPECT_NE(order, epoch(c));
}

TEST(Shuffled, is_the_same_on_every_machine_and_for_ever) {
  EXPECT_EQ(shuffled(8, 0, 0), (std::vector<int64_t>{7, 0, 6, 2, 1, 4, 5, 3}));
  EXPECT_EQ(shuffled(8, 42, 1), (std::vector<int64_t>{3, 1, 5, 2, 7, 6, 4, 0}));
  EXPECT_TRUE(shuffled(0, 1, 1).empty());
}

TEST(Shuffled, favours_no_order) {
  // 6 orders of 3 rows over 6000 epochs: each 1000 times, give or take five standard deviations.
  std::map<std::vector<int64_t>, int> count;
  for (int64_t e = 0; e < 6000; e++) count[shuffled(3, 7, e)]++;
  EXPECT_EQ(count.size(), 6u);
  for (auto& [order, n] : count) EXPECT_NEAR(n, 1000, 5 * 29);
}

TEST(Batches, resume_exactly_from_their_state) {
  Batches a(table(20), {.size = 3, .seed = 9});
  epoch(a);
  a.next(default_allocator());
  a.next(default_allocator());
  auto state = a.state(default_allocator());
  EXPECT_EQ(values_of<int64_t>(*state), (std::vector<int64_t>{9, 1, 6, 20}));
  Batches b(table(20), {.size = 3, .seed = 1});
  b.next(default_allocator());
  b.set_state(*state);
  EXPECT_EQ(epoch(a), epoch(b));
  EXPECT_EQ(epoch(a), epoch(b)) << "the next epoch too";
}

TEST(Batches, refuse_a_state_of_something_else) {
  Batches batches(table(4), {.size = 2});
  auto set = [&](std::vector<int64_t> values) {
    return failure_of(
        [&] { batches.set_state(*tensor_of(DType::i64, {static_cast<int64_t>(values.size())}, values)); });
  };
  EXPECT_PRED2(contains, set({0, 0, 0, 5}), "of 5 rows, but there are 4");
  EXPECT_PRED2(contains, set({0, -1, 0, 4}), "damaged: epoch -1");
  EXPECT_PRED2(contains, set({0, INT64_MAX, 0, 4}), "damaged");
  EXPECT_PRED2(contains, set({0, 0, 5, 4}), "5 of 4 rows");
  EXPECT_PRED2(contains, set({0, 0, 0}), "is i64[4] on the CPU, got i64[3]");
  EXPECT_EQ(epoch(batches).size(), 2u) << "a refused state changes nothing";
}

TEST(Batches, fill_the_tensors_given) {
  Batches batches(table(4), {.size = 2, .shuffle = false});
  auto x = Tensor::empty(default_allocator(), type_of(DType::f32, {2, 2}));
  auto wide = Tensor::empty(default_allocator(), type_of(DType::i64, {4}));
  auto y = Tensor::view(wide->storage(), type_of(DType::i64, {2}), Sizes{2}, 0);
  const std::vector<Ref<Tensor>> targets = {x, y};
  const uint64_t version = x->storage()->version();
  EXPECT_EQ(batches.next_into(targets), 2);
  EXPECT_EQ(batches.next_into(targets), 2);
  EXPECT_EQ(values_of<float>(*x), (std::vector<float>{2, 20, 3, 30}));
  EXPECT_EQ(values_of<int64_t>(*y), (std::vector<int64_t>{2, 3})) << "strided targets too";
  EXPECT_GT(x->storage()->version(), version);
  EXPECT_EQ(batches.next_into(targets), 0);
  EXPECT_EQ(batches.epoch(), 1);
}

TEST(Batches, stay_where_they_are_when_a_target_does_not_fit) {
  Batches batches(table(4), {.size = 2, .shuffle = false});
  auto small = Tensor::empty(default_allocator(), type_of(DType::f32, {1, 2}));
  auto y = Tensor::empty(default_allocator(), type_of(DType::i64, {2}));
  const std::vector<Ref<Tensor>> targets = {small, y};
  EXPECT_PRED2(contains, failure_of([&] { batches.next_into(targets); }), "is f32[1, 2], but the batch is f32[2, 2]");
  EXPECT_PRED2(contains, failure_of([&] { batches.next_into({}); }), "0 tensors to fill from 2");
  EXPECT_EQ(epoch(batches).size(), 2u);
}

TEST(Batches, gather_from_strided_sources) {
  auto base = tensor_of<float>(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto columns = Tensor::view(base->storage(), type_of(DType::f32, {3, 2}), Sizes{1, 3}, 0);
  Batches batches({columns}, {.size = 2, .shuffle = false});
  EXPECT_EQ(values_of<float>(*batches.next(default_allocator())[0]), (std::vector<float>{1, 4, 2, 5}));
}

TEST(Batches, of_no_rows_end_at_once) {
  Batches batches(table(0), {.size = 2});
  EXPECT_EQ(batches.batches(), 0);
  EXPECT_TRUE(batches.next(default_allocator()).empty());
}

TEST(Batches, refuse_tensors_that_do_not_belong_together) {
  auto make = [](std::vector<Ref<Tensor>> tensors, int64_t size = 1) {
    return failure_of([&] { Batches(std::move(tensors), {.size = size}); });
  };
  EXPECT_PRED2(contains, make({}), "no tensors");
  EXPECT_PRED2(contains, make(table(3), 0), "at least 1, got 0");
  EXPECT_PRED2(contains, make({table(3)[0], table(4)[1]}), "tensor 1 is f32[3, 2], tensor 2 is i64[4]");
  EXPECT_PRED2(contains, make({tensor_of<float>(DType::f32, {}, {1})}), "has no rows: its type is f32[]");
  EXPECT_PRED2(contains, make({Tensor::proxy(type_of(DType::f32, {1}), nullptr, 0)}), "has no data");
}

}  // namespace
}  // namespace thunder
