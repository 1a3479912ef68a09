// Views and writes in place: the eager scope, the taped one and the tracing one agree on results and on inputs.
// covers: core/tracer/tracing_finish.cpp core/tracer/tracing_recorder.cpp
#include "support/interpret.h"

namespace thunder::tests {
namespace {

using Dims1 = std::vector<int64_t>;

MakeInputs one(std::initializer_list<Dim> shape) {
  return [shape = Shape(shape)] {
    TensorType type;
    type.dtype = DType::f32;
    type.shape = shape;
    auto t = Tensor::empty(default_allocator(), type);
    for (int64_t i = 0; i < t->elements(); i++) reinterpret_cast<float*>(t->data())[i] = static_cast<float>(i + 1);
    return std::vector{t};
  };
}

// A tensor of shape [columns, rows] whose memory is that of [rows, columns].
std::vector<Ref<Tensor>> transposed_input() {
  auto base = counting({2, 3});
  TensorType type = base->type();
  type.shape = {3, 2};
  return {Tensor::view(base->storage(), type, {1, 3}, 0)};
}

// Runs in all scopes; the expected values (outputs, then inputs) are stated by hand.
void expect_everywhere(const Function& f, const MakeInputs& make, const std::vector<Doubles>& expected) {
  for (const Outcome& o : {run_eagerly(f, make), run_eagerly(f, make, true), run_traced(f, make)}) {
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.values, expected);
  }
}
void expect_refused(const Function& f, const MakeInputs& make, std::string_view word) {
  for (const Outcome& o : {run_eagerly(f, make), run_eagerly(f, make, true), run_traced(f, make)})
    EXPECT_NE(o.error.find(word), o.error.npos) << "got: " << o.error;
}

TEST(Views, a_write_to_a_slice_is_visible_in_its_base) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* part = op("slice", {any(in[0]), any(0), any(1), any(3)});
    op("add_", {any(part), any(10)});
    return std::vector{part, op("mul", {any(in[0]), any(2)})};
  };
  expect_everywhere(f, one({4}), {{12, 13}, {2, 24, 26, 8}, {1, 12, 13, 4}});
}

TEST(Views, a_write_to_the_base_is_visible_in_its_views) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* part = op("slice", {any(in[0]), any(0), any(0), any(4), any(2)});
    Tensor* before = op("clone", {any(part)});
    op("mul_", {any(in[0]), any(10)});
    return std::vector{part, before};
  };
  expect_everywhere(f, one({4}), {{10, 30}, {1, 3}, {10, 20, 30, 40}});
}

TEST(Views, a_write_to_a_transpose_is_transposed) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* t = op("transpose", {any(in[0]), any(0), any(1)});
    op("mul_", {any(t), any(op("slice", {any(t), any(1), any(0), any(1)}))});
    return std::vector{t};
  };
  expect_everywhere(f, one({2, 3}), {{1, 4, 4, 10, 9, 18}, {1, 4, 9, 4, 10, 18}});
}

TEST(Views, copy_into_a_selected_slice_is_an_indexed_assignment) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* row = op("select", {any(op("slice", {any(in[0]), any(0), any(1)})), any(0), any(0)});
    op("copy_", {any(row), any(op("mul", {any(row), any(-1)}))});
    op("fill_", {any(op("select", {any(in[0]), any(1), any(2)})), any(7)});
    return std::vector{row};
  };
  expect_everywhere(f, one({3, 3}), {{-4, -5, 7}, {1, 2, 7, -4, -5, 7, 7, 8, 7}});
}

TEST(Views, a_reshape_that_must_copy_does_not_alias) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* flat = op("reshape", {any(op("transpose", {any(in[0]), any(0), any(1)})), any(Dims1{-1})});
    op("fill_", {any(flat), any(0)});
    return std::vector{flat};
  };
  expect_everywhere(f, one({2, 3}), {{0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6}});
}

TEST(Views, a_reshape_of_a_dense_tensor_aliases) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* flat = op("flatten", {any(op("unsqueeze", {any(in[0]), any(1)}))});
    op("add_", {any(op("slice", {any(flat), any(0), any(4)})), any(100)});
    return std::vector{flat};
  };
  expect_everywhere(f, one({2, 3}), {{1, 2, 3, 4, 105, 106}, {1, 2, 3, 4, 105, 106}});
}

TEST(Views, the_layout_of_an_input_decides_whether_a_reshape_aliases) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    // The write leaves the memory in its layout, so the later reshape still copies.
    op("add_", {any(in[0]), any(1)});
    Tensor* flat = op("reshape", {any(in[0]), any(Dims1{6})});
    op("fill_", {any(flat), any(0)});
    Tensor* dense = op("reshape", {any(op("transpose", {any(in[0]), any(0), any(1)})), any(Dims1{6})});
    op("mul_", {any(dense), any(2)});
    return std::vector{flat};
  };
  expect_everywhere(f, transposed_input, {{0, 0, 0, 0, 0, 0}, {4, 10, 6, 12, 8, 14}});
}

TEST(Views, contiguous_aliases_only_dense_tensors) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    op("fill_", {any(op("contiguous", {any(op("transpose", {any(in[0]), any(0), any(1)}))})), any(9)});
    op("add_", {any(op("contiguous", {any(in[0])})), any(1)});
    return std::vector<Tensor*>{};
  };
  expect_everywhere(f, one({2, 2}), {{2, 3, 4, 5}});
}

TEST(Views, view_rejects_shapes_that_reshape_would_copy) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    return std::vector{op("view", {any(op("transpose", {any(in[0]), any(0), any(1)})), any(Dims1{-1})})};
  };
  expect_refused(f, one({2, 3}), "without a copy; use reshape");
}

TEST(Views, two_views_of_one_base_see_each_others_writes) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor *left = op("slice", {any(in[0]), any(0), any(0), any(3)}), *right = op("slice", {any(in[0]), any(0), any(1), any(4)});
    op("add_", {any(left), any(10)});
    op("mul_", {any(right), any(left)});
    return std::vector{left, right, op("sub", {any(left), any(right)})};
  };
  expect_everywhere(f, one({4}), {{11, 132, 156}, {132, 156, 52}, {-121, -24, 104}, {11, 132, 156, 52}});
}

TEST(Views, one_input_given_twice_may_be_read_while_tracing_but_not_written) {
  MakeInputs tied = [] {
    auto t = counting({3});
    return std::vector{t, t};
  };
  Function reads = [](const Ops& op, std::span<Tensor* const> in) { return std::vector{op("add", {any(in[0]), any(in[1])})}; };
  Function writes = [](const Ops& op, std::span<Tensor* const> in) {
    op("mul_", {any(in[0]), any(2)});
    return std::vector{op("add", {any(in[0]), any(in[1])})};
  };
  expect_everywhere(reads, tied, {{2, 4, 6}, {1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(run_eagerly(writes, tied).values, (std::vector<Doubles>{{4, 8, 12}, {2, 4, 6}, {2, 4, 6}}));
  EXPECT_EQ(run_eagerly(writes, tied, true).values, run_eagerly(writes, tied).values);
  EXPECT_NE(run_traced(writes, tied).error.find("inputs 'x0' and 'x1' overlap in memory"), std::string::npos);
}

TEST(Views, writes_to_parts_of_a_split_reach_the_base) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    auto parts = op.list("split", {any(in[0]), any(2)}, 3);
    op("copy_", {any(parts[0]), any(parts[1])});
    op("add_", {any(parts[2]), any(parts[2])});
    return parts;
  };
  expect_everywhere(f, one({5}), {{3, 4}, {3, 4}, {10}, {3, 4, 3, 4, 10}});
}

TEST(Views, a_copy_does_not_alias_its_source) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor* fresh = op("mul", {any(in[0]), any(10)});
    op("copy_", {any(in[0]), any(fresh)});
    op("add_", {any(fresh), any(1)});
    op("sub_", {any(in[0]), any(5)});
    return std::vector{fresh};
  };
  expect_everywhere(f, one({2}), {{11, 21}, {5, 15}});
}

TEST(Views, a_tensor_copied_onto_its_transpose_reads_old_values) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    op("copy_", {any(in[0]), any(op("transpose", {any(in[0]), any(0), any(1)}))});
    return std::vector{in[0]};
  };
  expect_everywhere(f, one({2, 2}), {{1, 3, 2, 4}, {1, 3, 2, 4}});
}

TEST(Views, every_in_place_op_writes_through_views) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    Tensor *rows = op("slice", {any(in[0]), any(0), any(1)}), *index = in[1];
    Tensor* list[] = {index};
    Any indices;
    indices.kind = ArgKind::values, indices.count = 1, indices.ts = list;
    op("index_put_", {any(rows), indices, any(50)});
    op("scatter_add_", {any(op("select", {any(in[0]), any(0), any(0)})), any(0), any(index), any(op("mul", {any(in[2]), any(100)}))});
    op("masked_fill_", {any(in[0]), any(op("eq", {any(in[0]), any(50)})), any(0)});
    return std::vector<Tensor*>{};
  };
  MakeInputs make = [] {
    TensorType type;
    type.dtype = DType::i64;
    type.shape = {1};
    auto index = Tensor::empty(default_allocator(), type);
    *reinterpret_cast<int64_t*>(index->data()) = 1;
    return std::vector{counting({3, 2}), index, counting({1})};
  };
  expect_everywhere(f, make, {{1, 102, 3, 4, 0, 0}, {1}, {1}});
}

TEST(Views, expanded_tensors_cannot_be_written) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    return std::vector{op("add_", {any(op("expand", {any(in[0]), any(Dims1{2, 3})})), any(1)})};
  };
  expect_refused(f, one({3}), "clone it first");
}

TEST(Views, an_expansion_that_repeats_nothing_can_be_written) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    op("add_", {any(op("expand", {any(in[0]), any(Dims1{1, 3})})), any(1)});
    return std::vector<Tensor*>{};
  };
  expect_everywhere(f, one({3}), {{2, 3, 4}});
}

TEST(Views, inputs_that_overlap_and_are_written_are_refused_while_tracing) {
  MakeInputs overlapping = [] {
    auto base = counting({4});
    TensorType type = base->type();
    type.shape = {3};
    return std::vector{Tensor::view(base->storage(), type, {1}, 0), Tensor::view(base->storage(), type, {1}, 4)};
  };
  Function writes = [](const Ops& op, std::span<Tensor* const> in) { return std::vector{op("add_", {any(in[0]), any(in[1])})}; };
  Function reads = [](const Ops& op, std::span<Tensor* const> in) { return std::vector{op("add", {any(in[0]), any(in[1])})}; };
  EXPECT_NE(run_traced(writes, overlapping).error.find("inputs 'x0' and 'x1' overlap in memory"), std::string::npos);
  EXPECT_EQ(run_traced(reads, overlapping).values, run_eagerly(reads, overlapping).values);
}

TEST(Views, memory_that_is_read_only_cannot_be_written) {
  MakeInputs make = [] {
    auto t = counting({3});
    t->set_read_only();
    return std::vector{t};
  };
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    return std::vector{op("add_", {any(op("slice", {any(in[0]), any(0), any(1)})), any(1)})};
  };
  expect_refused(f, make, "read-only");
}

TEST(Views, empty_views_write_nothing) {
  Function f = [](const Ops& op, std::span<Tensor* const> in) {
    op("add_", {any(op("slice", {any(in[0]), any(0), any(2), any(2)})), any(1)});
    return std::vector<Tensor*>{};
  };
  expect_everywhere(f, one({2, 2}), {{1, 2, 3, 4}});
}

TEST(Views, a_captured_tensor_is_written_too) {
  Eager e;
  auto state = counting({2, 2});
  TracingScope scope(e.scope().environment(), "f");
  const Ops op{scope};
  op("add_", {any(op("select", {any(state.get()), any(0), any(1)})), any(1)});
  Tensor* out = op("mul", {any(state.get()), any(2)});
  ASSERT_FALSE(scope.status()) << scope.status()->message();
  const Trace trace = scope.finish(std::array{out});
  EXPECT_EQ(values(state.get()), (Doubles{1, 2, 3, 4})) << "tracing runs nothing";
  EXPECT_EQ(values(Interpreter(trace).run({}, scope.captured())[0].get()), (Doubles{2, 4, 8, 10}));
  EXPECT_EQ(values(state.get()), (Doubles{1, 2, 4, 5}));
}

// Handles come and go while a function is traced, and one may lie where another one of other memory was.
TEST(Views, a_capture_is_of_memory_rather_than_of_a_handle) {
  Eager e;
  const auto a = counting({2, 2}), b = counting({2, 2});
  TracingScope scope(e.scope().environment(), "f");
  const Ops op{scope};
  const auto with = [&](const char* name, Tensor* sum, const Tensor& t) {
    return op(name, {any(sum), any(Tensor::view(t.storage(), t.type(), t.strides(), 0).get())});
  };
  Tensor* sum = op("mul", {any(a.get()), any(b.get())});
  for (int i = 0; i < 20; i++) sum = with("mul", with("sub", with("add", sum, *a), *b), *b);
  ASSERT_FALSE(scope.status()) << scope.status()->message();
  const Trace trace = scope.finish(std::array{sum});
  EXPECT_EQ(scope.captured().size(), 2);
  for (const Node* n : trace.nodes) EXPECT_EQ(n->args[1].v, trace.inputs[n->op->name() == "add" ? 0 : 1].value);
}

// d/dx of sum((2x with its tail squared in place)^2) and the like: the tape follows writes through views.
TEST(TapedViews, gradients_flow_through_writes_to_views) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {1, 2, 3});
  Tensor* y = e.run("mul", {any(x), any(2)});
  Tensor* tail = e.run("slice", {any(y), any(0), any(1)});
  e.run("mul_", {any(tail), any(tail)});
  Tensor* loss = e.run("prims.sum", {any(y), any(std::vector<int64_t>{0})});
  EXPECT_EQ(values(loss), (Doubles{2 + 16 + 36}));
  EXPECT_EQ(values(e.grad(loss, {x})[0]), (Doubles{2, 16, 24}));
}

TEST(TapedViews, gradients_with_respect_to_a_written_view_exist) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {1, 2, 3});
  Tensor* head = e.run("slice", {any(x), any(0), any(0), any(2)});
  e.run("add_", {any(x), any(1)});
  Tensor* loss = e.run("prims.sum", {any(e.run("mul", {any(head), any(head)})), any(std::vector<int64_t>{0})});
  EXPECT_EQ(values(e.grad(loss, {head})[0]), (Doubles{4, 6}));
}

TEST(TapedViews, gradients_with_respect_to_a_value_written_since_are_rejected) {
  Eager e(true);
  Tensor* x = e.tensor({2}, {1, 2});
  Tensor* loss = e.run("prims.sum", {any(e.run("mul", {any(x), any(x)})), any(std::vector<int64_t>{0})});
  e.run("add_", {any(x), any(1)});
  e.grad(loss, {x});
  ASSERT_TRUE(e.scope().status());
  EXPECT_NE(e.scope().status()->message().find("before the write"), std::string::npos) << e.scope().status()->message();
}

}  // namespace
}  // namespace thunder::tests
