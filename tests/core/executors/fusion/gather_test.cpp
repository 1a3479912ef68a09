// Gathers inside a kernel.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct Gathers : FusedTest {};

// One element is no vector, though the row is divided as vectors.
TEST_F(Gathers, read_from_a_normalized_row) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* p = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
    return std::vector{p, call(s, "gather", {arg(p), arg(int64_t{1}), arg(t[1])})};
  }, {numbers({64, 100}), numbers({64, 1}, DType::i64, 0, 100)}, 2);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

// Rows of a table that a normalised sum begins with: one kernel, and no copy of them.
TEST_F(Gathers, read_rows_of_a_table) {
  for (DType index : {DType::i64, DType::i32})
    for (int64_t n : {2, 17, 64}) {
      SCOPED_TRACE(std::to_string(n) + std::string(name(index)));
      const auto made = agree([n](Scope& s, In t) {
        Tensor* x = call(s, "add", {arg(call(s, "embedding", {arg(t[1]), arg(t[0])})), arg(t[2])});
        return std::vector{x, call(s, "layer_norm", {arg(x), arg(std::vector<int64_t>{n})})};
      }, {numbers({30, n}), numbers({4, 7}, index, 0, 30), numbers({7, n})}, 2, 1e-5);
      EXPECT_EQ(made.kernels, 1u) << made.text;
    }
}

TEST_F(Gathers, read_slices_along_any_dim) {
  for (int64_t dim : {0, 1, 2})
    for (DType d : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::u8, DType::i8, DType::boolean})
      agree([dim](Scope& s, In t) {
        Tensor* taken = call(s, "index_select", {arg(t[0]), arg(dim), arg(t[1])});
        return std::vector{call(s, "maximum", {arg(taken), arg(taken)}), call(s, "eq", {arg(taken), arg(taken)})};
      }, {numbers({5, 6, 40}, d, 0, 2), numbers({9}, DType::i64, 0, 5)}, 2, 0);
}

TEST_F(Gathers, read_several_elements_of_a_row) {
  for (int64_t dim : {0, 1})
    agree([dim](Scope& s, In t) { return std::vector{call(s, "exp", {arg(call(s, "gather", {arg(t[0]), arg(dim), arg(t[1])}))})}; },
          {numbers({8, 8}), numbers({dim ? 8 : 20, dim ? 20 : 8}, DType::i64, 0, 8)}, 1);
}

TEST_F(Gathers, read_tables_of_any_layout) {
  agree([](Scope& s, In t) {
    Tensor* turned = call(s, "transpose", {arg(t[0]), arg(int64_t{0}), arg(int64_t{1})});
    return std::vector{call(s, "exp", {arg(call(s, "index_select", {arg(turned), arg(int64_t{0}), arg(t[1])}))})};
  }, {numbers({20, 12}), numbers({70}, DType::i64, 0, 12)}, 1);
}

// What the host says of a bad index, and as little done.
TEST_F(Gathers, reject_the_same_indices_as_the_reference_executor) {
  for (int64_t wrong : {30, -1}) {
    auto table = numbers({30, 16});
    const auto before = values(*table);
    const Body body = [](Scope& s, In t) {
      Tensor* x = call(s, "exp", {arg(call(s, "embedding", {arg(t[1]), arg(t[0])}))});
      call(s, "mul_", {arg(t[0]), arg(2.0)});
      return std::vector{x};
    };
    const Tensors in = {table, integers({3}, {0, wrong, 4})};
    const std::string said = "embedding: index " + std::to_string(wrong) + " is out of range for dim 0 of size 30";
    for (const char* executors : {"fusion", "host"}) {
      EXPECT_NE(outcome(body, in, 1, executors).error.find(said), std::string::npos) << executors;
      EXPECT_EQ(values(*table), before) << executors;
    }
  }
}

}  // namespace
}  // namespace thunder::fusion
