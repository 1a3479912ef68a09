// Tensors joined inside a kernel: the one that counts is chosen by where the loops stand. Also covers choices of the emitter.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct Joins : FusedTest {
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

TEST_F(Joins, along_any_dim) {
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

TEST_F(Joins, of_any_dtype) {
  for (DType d : {DType::f64, DType::bf16, DType::i64, DType::i32, DType::u8, DType::boolean})
    agree([](Scope& s, In t) { return std::vector{call(s, "maximum", {arg(join(s, {t[0], t[1]}, 1)), arg(t[2])})}; },
          {numbers({3, 20}, d, 0, 2), numbers({3, 20}, d, 0, 2), numbers({3, 40}, d, 0, 2)}, 1, 0);
}

TEST_F(Joins, stack_along_a_new_dim) {
  for (int64_t dim : {0, 1, 2})
    agree([&](Scope& s, In t) { return std::vector{call(s, "exp", {arg(join(s, {t[0], call(s, "neg", {arg(t[1])})}, dim, "stack"))})}; },
          {numbers({6, 40}), numbers({6, 40})}, 1);
}

// Halves turned round, as positions are rotated into queries and keys: one kernel, which is what the memory can do.
TEST_F(Joins, turn_halves_round_in_one_kernel) {
  for (int64_t half : {1, 3, 16, 32, 100}) {
    SCOPED_TRACE(half);
    const auto made = agree([half](Scope& s, In t) {
      Tensor* turned = call(s, "mul", {arg(rotated(s, t[0], half)), arg(t[2])});
      return std::vector{call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(turned)})};
    }, {numbers({4, 6, 50, 2 * half}), numbers({50, 2 * half}), numbers({50, 2 * half})}, 1);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

TEST_F(Joins, have_their_gradients) {
  agree([](Scope& s, In t) {
    Tensor* turned = call(s, "mul", {arg(rotated(s, t[0], 16)), arg(t[1])});
    return with_gradients(s, call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(turned)}), t, 2);
  }, {numbers({6, 5, 32}), numbers({5, 32}), numbers({6, 5, 32})}, 3);
}

// A part is walked again for each of the others; it must be stored once, and read before it is written.
TEST_F(Joins, leave_parts_that_others_read) {
  const auto made = agree([](Scope& s, In t) {
    Tensor *y = call(s, "exp", {arg(t[0])}), *z = call(s, "sin", {arg(t[1])});
    return std::vector{y, call(s, "tanh", {arg(join(s, {z, y}, 0))}), z};
  }, {numbers({16, 100}), numbers({16, 100})}, 3);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(Joins, are_reduced) {
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
TEST_F(Joins, of_parts_that_are_reduced_themselves) {
  for (int64_t dim : {0, 1})
    agree([&](Scope& s, In t) {
      Tensor* y = call(s, "exp", {arg(t[0])});
      return std::vector{call(s, "sum", {arg(y), arg(std::vector<int64_t>{dim})}), call(s, "sin", {arg(join(s, {y, t[1]}, 1))}), call(s, "sum", {arg(y)}), y};
    }, {numbers({40, 33}), numbers({40, 33})}, 4, 1e-5);
}

// Vectors run along the axis that parts are chosen by, along which the sum of one is the same.
TEST_F(Joins, of_a_part_whose_sum_is_one_number) {
  const auto made = agree([](Scope& s, In t) {
    Tensor *y = call(s, "exp", {arg(t[0])}), *z = join(s, {y, call(s, "sin", {arg(y)})}, 1);
    return std::vector{call(s, "amax", {arg(y), arg(std::vector<int64_t>{0})}), call(s, "amin", {arg(y), arg(std::vector<int64_t>{0})}),
                       call(s, "amax", {arg(z), arg(std::vector<int64_t>{0})}), call(s, "amin", {arg(z), arg(std::vector<int64_t>{0})})};
  }, {numbers({1100, 1})}, 4);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(Joins, of_rows_that_were_reduced) {
  agree([](Scope& s, In t) {
    Tensor *y = call(s, "softmax", {arg(t[0]), arg(int64_t{1})}), *z = join(s, {y, call(s, "layer_norm", {arg(t[1]), arg(std::vector<int64_t>{70})})}, 0);
    return std::vector{z, y, join(s, {call(s, "mean", {arg(y), arg(std::vector<int64_t>{1}), Any::boolean(true)}), call(s, "amax", {arg(y), arg(std::vector<int64_t>{1}), Any::boolean(true)})}, 1)};
  }, {numbers({30, 70}), numbers({30, 70})}, 3, 1e-5);
}

// The dim that the parts lie along is split by what reads them.
TEST_F(Joins, read_under_another_shape) {
  agree([](Scope& s, In t) {
    Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), t[1], t[0], t[1]}, 0);
    return std::vector{call(s, "mul", {arg(call(s, "reshape", {arg(y), arg(std::vector<int64_t>{2, 12, 10})})), arg(t[2])})};
  }, {numbers({6, 10}), numbers({6, 10}), numbers({2, 12, 10})}, 1);
}

TEST_F(Joins, of_parts_that_differ_in_size_are_left_to_others) {
  agree([](Scope& s, In t) { return std::vector{call(s, "exp", {arg(join(s, {call(s, "neg", {arg(t[0])}), t[1]}, 0))})}; }, {numbers({6, 10}), numbers({1, 10})}, 1);
}

// What is joined is read elsewhere than it is written.
TEST_F(Joins, are_written_to_what_they_read) {
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "add", {arg(t[0]), arg(rotated(s, t[0], 20))});
    call(s, "copy_", {arg(t[0]), arg(y)});
    return std::vector<Tensor*>();
  }, {numbers({30, 40})}, 0);
}

TEST_F(Joins, pick_from_what_they_join) {
  agree([](Scope& s, In t) {
    Tensor* y = join(s, {call(s, "exp", {arg(t[0])}), t[1]}, 1);
    return std::vector{y, call(s, "gather", {arg(y), arg(int64_t{1}), arg(t[2])})};
  }, {numbers({30, 1}), numbers({30, 1}), numbers({30, 1}, DType::i64, 0, 2)}, 2);
}

}  // namespace
}  // namespace thunder::fusion
