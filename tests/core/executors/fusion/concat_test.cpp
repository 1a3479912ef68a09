// Slices and concatenations inside a kernel, where an index selects the operand.
// covers: core/executors/fusion/group_slices.cpp core/executors/fusion/lower_slices.cpp core/loops/llvm/selects.cpp
#include <limits>

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct Concats : FusedTest {
  static Tensor* join(Scope& s, std::vector<Tensor*> parts, int64_t dim, const char* op = "cat") {
    Any list;
    list.kind = ArgKind::values, list.count = static_cast<uint32_t>(parts.size()), list.ts = parts.data();
    return call(s, op, {list, arg(dim)});
  }
  static Tensor* part(Scope& s, Tensor* x, int64_t dim, int64_t begin, int64_t end) {
    return call(s, "slice", {arg(x), arg(dim), arg(begin), arg(end)});
  }
  static Tensor* rotated(Scope& s, Tensor* x, int64_t half) {
    return join(s, {call(s, "neg", {arg(part(s, x, -1, half, 2 * half))}), part(s, x, -1, 0, half)}, -1);
  }
};

TEST_F(Concats, join_along_any_dim) {
  for (int64_t dim : {0, 1, 2})
    for (int64_t n : {1, 4, 17, 64})
      for (int64_t parts : {2, 3, 5}) {
        SCOPED_TRACE(std::to_string(dim) + " " + std::to_string(n) + " " + std::to_string(parts));
        const auto made = agree([&](Scope& s, In t) {
          std::vector<Tensor*> list;
          for (int64_t i = 0; i < parts; i++) list.push_back(call(s, i % 2 ? "neg" : "exp", {arg(t[static_cast<size_t>(i % 2)])}));
          return std::vector{call(s, "sin", {arg(join(s, list, dim))})};
        }, {numbers({20, 60, n}), numbers({20, 60, n})}, 1);
        EXPECT_EQ(made.kernels, 1u) << made.text;
      }
}

TEST_F(Concats, support_every_dtype) {
  for (DType d : {DType::f64, DType::bf16, DType::f16, DType::i64, DType::u64, DType::i32, DType::i16, DType::u8, DType::i8, DType::boolean})
    agree([](Scope& s, In t) { return std::vector{call(s, "maximum", {arg(join(s, {t[0], t[1]}, 1)), arg(t[2])})}; },
          {numbers({3, 20}, d, 0, 2), numbers({3, 20}, d, 0, 2), numbers({3, 40}, d, 0, 2)}, 1, 0);
}

TEST_F(Concats, stack_along_a_new_dim) {
  for (int64_t dim : {0, 1, 2})
    agree([&](Scope& s, In t) { return std::vector{call(s, "exp", {arg(join(s, {t[0], call(s, "neg", {arg(t[1])})}, dim, "stack"))})}; },
          {numbers({6, 40}), numbers({6, 40})}, 1);
}

// Rotated halves, as in rotary position embeddings: one kernel, so that memory is read once.
TEST_F(Concats, rotate_the_two_halves_of_a_row_in_one_kernel) {
  for (int64_t half : {1, 3, 16, 32, 100}) {
    SCOPED_TRACE(half);
    const auto made = agree([half](Scope& s, In t) {
      Tensor* turned = call(s, "mul", {arg(rotated(s, t[0], half)), arg(t[2])});
      return std::vector{call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(turned)})};
    }, {numbers({4, 6, 50, 2 * half}), numbers({50, 2 * half}), numbers({50, 2 * half})}, 1);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

TEST_F(Concats, of_equal_parts_have_gradients) {
  agree([](Scope& s, In t) {
    Tensor* turned = call(s, "mul", {arg(rotated(s, t[0], 16)), arg(t[1])});
    return with_gradients(s, call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(turned)}), t, 2);
  }, {numbers({6, 5, 32}), numbers({5, 32}), numbers({6, 5, 32})}, 3);
}

// A part is walked again for each of the others; it must be stored once, and read before it is written.
TEST_F(Concats, keep_operands_that_other_nodes_read) {
  const auto made = agree([](Scope& s, In t) {
    Tensor *y = call(s, "exp", {arg(t[0])}), *z = call(s, "sin", {arg(t[1])});
    return std::vector{y, call(s, "tanh", {arg(join(s, {z, y}, 0))}), z};
  }, {numbers({16, 100}), numbers({16, 100})}, 3);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(Concats, of_equal_parts_can_be_reduced) {
  for (int64_t joined : {0, 1})
    for (int64_t reduced : {0, 1}) {
      SCOPED_TRACE(std::to_string(joined) + " " + std::to_string(reduced));
      agree([&](Scope& s, In t) {
        Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), t[1], call(s, "neg", {arg(t[0])})}, joined);
        return std::vector{y, call(s, "sum", {arg(y), arg(std::vector<int64_t>{reduced})}), call(s, "amax", {arg(y), arg(std::vector<int64_t>{1})}), call(s, "sum", {arg(y)}),
                           call(s, "softmax", {arg(y), arg(reduced)})};
      }, {numbers({40, 33}), numbers({40, 33})}, 5, 1e-5);
    }
}

// Sums of a part beside what it becomes part of.
TEST_F(Concats, join_values_that_are_also_reduced) {
  for (int64_t dim : {0, 1})
    agree([&](Scope& s, In t) {
      Tensor* y = call(s, "exp", {arg(t[0])});
      return std::vector{call(s, "sum", {arg(y), arg(std::vector<int64_t>{dim})}), call(s, "sin", {arg(join(s, {y, t[1]}, 1))}), call(s, "sum", {arg(y)}), y};
    }, {numbers({40, 33}), numbers({40, 33})}, 4, 1e-5);
}

// Vectors run along the axis that parts are chosen by, along which the sum of one is the same.
TEST_F(Concats, join_an_operand_of_a_single_column) {
  const auto made = agree([](Scope& s, In t) {
    Tensor *y = call(s, "exp", {arg(t[0])}), *z = join(s, {y, call(s, "sin", {arg(y)})}, 1);
    return std::vector{call(s, "amax", {arg(y), arg(std::vector<int64_t>{0})}), call(s, "amin", {arg(y), arg(std::vector<int64_t>{0})}),
                       call(s, "amax", {arg(z), arg(std::vector<int64_t>{0})}), call(s, "amin", {arg(z), arg(std::vector<int64_t>{0})})};
  }, {numbers({1100, 1})}, 4);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(Concats, join_results_of_reductions) {
  agree([](Scope& s, In t) {
    Tensor *y = call(s, "softmax", {arg(t[0]), arg(int64_t{1})}), *z = join(s, {y, call(s, "layer_norm", {arg(t[1]), arg(std::vector<int64_t>{70})})}, 0);
    return std::vector{z, y, join(s, {call(s, "mean", {arg(y), arg(std::vector<int64_t>{1}), Any::boolean(true)}), call(s, "amax", {arg(y), arg(std::vector<int64_t>{1}), Any::boolean(true)})}, 1)};
  }, {numbers({30, 70}), numbers({30, 70})}, 3, 1e-5);
}

// The dim that the parts lie along is split by what reads them.
TEST_F(Concats, can_be_reshaped) {
  agree([](Scope& s, In t) {
    Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), t[1], t[0], t[1]}, 0);
    return std::vector{call(s, "mul", {arg(call(s, "reshape", {arg(y), arg(std::vector<int64_t>{2, 12, 10})})), arg(t[2])})};
  }, {numbers({6, 10}), numbers({6, 10}), numbers({2, 12, 10})}, 1);
}

TEST_F(Concats, join_operands_of_different_sizes) {
  for (int64_t dim : {0, 1, 2})
    for (int64_t n : {1, 4, 17, 64, 65}) {
      SCOPED_TRACE(std::to_string(dim) + " " + std::to_string(n));
      std::vector<int64_t> shapes[3] = {{20, 60, n}, {20, 60, n}, {20, 60, n}};
      shapes[1][static_cast<size_t>(dim)] = 1, shapes[2][static_cast<size_t>(dim)] = 33;
      const auto made = agree([&](Scope& s, In t) {
        return std::vector{call(s, "sin", {arg(join(s, {call(s, "exp", {arg(t[0])}), t[1], call(s, "neg", {arg(t[2])}), t[0]}, dim))})};
      }, {numbers(shapes[0]), numbers(shapes[1]), numbers(shapes[2])}, 1);
      EXPECT_EQ(made.kernels, 1u) << made.text;
    }
}

TEST_F(Concats, of_different_sizes_support_every_dtype) {
  for (DType d : {DType::f64, DType::bf16, DType::f16, DType::i64, DType::u64, DType::i32, DType::i16, DType::u8, DType::i8, DType::boolean})
    agree([](Scope& s, In t) {
      Tensor* y = join(s, {call(s, "maximum", {arg(t[0]), arg(t[0])}), t[1]}, 1);
      return std::vector{call(s, "pad", {arg(call(s, "maximum", {arg(y), arg(t[2])})), arg(std::vector<int64_t>{3, 2}), Any::string("constant"), arg(1.0)})};
    }, {numbers({3, 20}, d, 0, 2), numbers({3, 7}, d, 0, 2), numbers({3, 27}, d, 0, 2)}, 1, 0);
}

// Rows of odd widths, whose halves differ.
TEST_F(Concats, rotate_slices_in_one_kernel) {
  for (int64_t width : {3, 5, 31, 33, 77, 773}) {
    SCOPED_TRACE(width);
    const auto made = agree([width](Scope& s, In t) {
      Tensor* half[] = {part(s, t[0], -1, 0, width / 2), part(s, t[0], -1, width / 2, width)};
      Tensor* turned = join(s, {call(s, "neg", {arg(half[1])}), half[0]}, -1);
      return std::vector{call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(call(s, "mul", {arg(turned), arg(t[2])}))})};
    }, {numbers({4, 50, width}), numbers({50, width}), numbers({50, width})}, 1);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

// What was cut is put together where it was, or elsewhere, and added to what stands there.
TEST_F(Concats, slice_values_of_the_kernel) {
  for (int64_t width : {3, 32, 33, 773})
    for (int64_t dim : {0, 1}) {
      SCOPED_TRACE(std::to_string(width) + " " + std::to_string(dim));
      const std::vector<int64_t> shape = dim ? std::vector<int64_t>{40, width} : std::vector<int64_t>{width, 40};
      const auto made = agree([&](Scope& s, In t) {
        Tensor* y = call(s, "exp", {arg(t[0])});
        Tensor* turned = join(s, {call(s, "neg", {arg(part(s, y, dim, width / 2, width))}), call(s, "sin", {arg(part(s, y, dim, 0, width / 2))})}, dim);
        return std::vector{call(s, "add", {arg(call(s, "mul", {arg(t[1]), arg(t[1])})), arg(turned)}), y};
      }, {numbers(shape), numbers(shape)}, 2);
      EXPECT_EQ(made.kernels, 1u) << made.text;
    }
}

// A slice is stored in its own interval, a single index at the beginning.
TEST_F(Concats, store_slices_that_other_nodes_read) {
  for (int64_t dim : {0, 1}) {
    const auto made = agree([&](Scope& s, In t) {
      Tensor *y = call(s, "exp", {arg(t[0])}), *some = call(s, "sin", {arg(part(s, y, dim, 3, 20))}), *one = call(s, "sin", {arg(part(s, y, dim, 5, 6))});
      Tensor* z = call(s, "neg", {arg(t[1])});
      return std::vector{y, some, one, z, join(s, {z, some, one}, dim)};
    }, {numbers({33, 40}), numbers({33, 40})}, 5);
    EXPECT_LE(made.kernels, 2u) << made.text;
  }
}

TEST_F(Concats, pad_along_several_dims) {
  for (double around : {0.0, 1.5, -std::numeric_limits<double>::infinity()}) {
    const auto made = agree([around](Scope& s, In t) {
      Tensor* y = call(s, "pad", {arg(call(s, "exp", {arg(t[0])})), arg(std::vector<int64_t>{1, 2, 3, 0}), Any::string("constant"), arg(around)});
      return std::vector{call(s, "maximum", {arg(y), arg(t[1])})};
    }, {numbers({6, 30, 20}), numbers({6, 33, 23})}, 1);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

TEST_F(Concats, of_slices_have_gradients) {
  for (int64_t width : {5, 33, 64, 77}) {
    SCOPED_TRACE(width);
    const auto made = agree([width](Scope& s, In t) {
      Tensor* half[] = {part(s, t[0], -1, 0, width / 2), part(s, t[0], -1, width / 2, width)};
      Tensor* turned = call(s, "mul", {arg(join(s, {call(s, "neg", {arg(half[1])}), half[0]}, -1)), arg(t[1])});
      return with_gradients(s, call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(turned)}), t, 2);
    }, {numbers({6, 50, width}), numbers({50, width}), numbers({6, 50, width})}, 3, 1e-5);
    EXPECT_LE(made.kernels, width < 33 ? 3u : 2u) << made.text;
  }
}

TEST_F(Concats, of_slices_can_be_reduced) {
  for (int64_t joined : {0, 1})
    for (int64_t reduced : {0, 1}) {
      SCOPED_TRACE(std::to_string(joined) + " " + std::to_string(reduced));
      agree([&](Scope& s, In t) {
        Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), part(s, t[0], joined, 0, 7), part(s, call(s, "sin", {arg(t[0])}), joined, 9, 30)}, joined);
        return std::vector{y, call(s, "sum", {arg(y), arg(std::vector<int64_t>{reduced})}), call(s, "amax", {arg(y), arg(std::vector<int64_t>{1})}), call(s, "sum", {arg(y)}),
                           call(s, "softmax", {arg(y), arg(reduced)})};
      }, {numbers({40, 33})}, 5, 1e-5);
    }
}

// Parts of rows after they were reduced: the numbers of a row are known along all of it.
TEST_F(Concats, slice_normalized_rows) {
  for (int64_t width : {8, 33, 200})
    agree([width](Scope& s, In t) {
      Tensor* y = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
      return std::vector{join(s, {part(s, y, 1, 3, width), call(s, "exp", {arg(part(s, y, 1, 0, 3))})}, 1), y};
    }, {numbers({30, width})}, 2, 1e-5);
}

// What is joined is read elsewhere than it is written.
TEST_F(Concats, can_be_written_to_their_operand) {
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "add", {arg(t[0]), arg(rotated(s, t[0], 20))});
    call(s, "copy_", {arg(t[0]), arg(y)});
    return std::vector<Tensor*>();
  }, {numbers({30, 40})}, 0);
}

TEST_F(Concats, gather_from_their_result) {
  agree([](Scope& s, In t) {
    Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), t[1]}, 1);
    return std::vector{y, call(s, "gather", {arg(y), arg(int64_t{1}), arg(t[2])})};
  }, {numbers({30, 1}), numbers({30, 1}), numbers({30, 1}, DType::i64, 0, 2)}, 2);
}

// The gradient by the input and those by what it is turned with read the same, and nothing of each other.
TEST_F(Concats, rotate_with_gradients_in_one_kernel) {
  for (const auto& [rows, half] : {std::pair(7, 5), std::pair(64, 32), std::pair(256, 200), std::pair(1021, 387), std::pair(1500, 384)}) {
    SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(half));
    const auto made = agree([half = half](Scope& s, In t) {
      Tensor* other = rotated(s, call(s, "mul", {arg(t[0]), arg(t[3])}), half);
      return std::vector{call(s, "sub", {arg(call(s, "mul", {arg(t[0]), arg(t[2])})), arg(other)}),
                         call(s, "sum", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(int64_t{0})}),
                         call(s, "sum", {arg(call(s, "mul", {arg(t[0]), arg(rotated(s, t[1], half))})), arg(int64_t{0})})};
    }, {numbers({rows, 2 * half}), numbers({rows, 2 * half}), numbers({2 * half}), numbers({2 * half})}, 3, 1e-5);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

}  // namespace
}  // namespace thunder::fusion
