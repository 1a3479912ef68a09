// Writes that a tape does not make, beside one: what it holds keeps its value, and what was written can be undone.
#include "support/eager.h"

namespace thunder {
namespace {

TEST(EagerWrites, of_other_scopes_leave_a_tape_its_values) {
  Eager tape(true), plain;
  Tensor *x = tape.tensor({2}, {1, 2}), *w = tape.tensor({2}, {3, 4});
  Tensor* before = tape.run("mul", {any(x), any(w)});
  plain.run("fill_", {any(x), any(9)});
  EXPECT_EQ(values(x), (Doubles{9, 9}));
  EXPECT_EQ(values(before), (Doubles{3, 8}));
  Tensor* loss = tape.run("sum", {any(tape.run("add", {any(before), any(tape.run("mul", {any(x), any(w)}))}))});
  const auto d = tape.grad(loss, {x, w});
  EXPECT_EQ(values(d[0]), (Doubles{6, 8})) << "both of what it was and of what it is";
  EXPECT_EQ(values(d[1]), (Doubles{10, 11}));
}

TEST(EagerWrites, through_views_reach_views_of_a_tape) {
  Eager tape(true), plain;
  Tensor* x = tape.tensor({3}, {1, 2, 3});
  Tensor* part = tape.run("slice", {any(x), any(0), any(1), any(3), any(1)});
  Tensor* squares = tape.run("mul", {any(part), any(part)});
  plain.run("fill_", {any(plain.run("slice", {any(x), any(0), any(2), any(3), any(1)})), any(7)});
  EXPECT_EQ(values(part), (Doubles{2, 7}));
  Tensor* loss = tape.run("sum", {any(tape.run("mul", {any(squares), any(part)}))});
  EXPECT_EQ(values(loss), (Doubles{8 + 63}));
  EXPECT_EQ(values(tape.grad(loss, {x})[0]), (Doubles{0, 12, 6 * 7 + 9}));
}

TEST(EagerWrites, are_undone_from_the_last_to_the_first) {
  Eager tape(true), plain;
  Tensor *known = tape.tensor({2}, {1, 2}), *other = tape.tensor({3}, {4, 5, 6});
  Tensor* y = tape.run("mul", {any(known), any(2)});
  auto& scope = static_cast<EagerScope&>(tape.scope());
  const size_t mark = scope.begin_undoable();
  Tensor* end = plain.run("slice", {any(other), any(0), any(1), any(3), any(1)});
  plain.run("fill_", {any(end), any(7)});
  plain.run("add_", {any(other), any(1)});
  tape.run("mul_", {any(end), any(2)});
  tape.run("mul_", {any(y), any(5)});
  plain.run("fill_", {any(y), any(0)});
  plain.run("fill_", {any(known), any(0)});
  scope.undo_writes(mark);
  scope.end_undoable();
  EXPECT_EQ(values(known), (Doubles{1, 2}));
  EXPECT_EQ(values(other), (Doubles{4, 5, 6}));
  EXPECT_EQ(values(y), (Doubles{2, 4}));
  EXPECT_EQ(values(tape.grad(tape.run("sum", {any(y)}), {known})[0]), (Doubles{2, 2}));
}

}  // namespace
}  // namespace thunder
