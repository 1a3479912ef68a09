// Traces as ONNX graphs. Also covers graph, line, op_types and wire; rows and its tables rows_elementwise, rows_index, rows_layer,
// rows_random, rows_reduction, rows_shape, rows_special and rows_window.
// covers: core/onnx/export/graph.cpp core/onnx/export/line.cpp core/onnx/export/op_types.cpp core/onnx/export/rows.cpp
// covers: core/onnx/export/rows_elementwise.cpp core/onnx/export/rows_index.cpp core/onnx/export/rows_layer.cpp
// covers: core/onnx/export/rows_random.cpp core/onnx/export/rows_reduction.cpp core/onnx/export/rows_shape.cpp
// covers: core/onnx/export/rows_special.cpp core/onnx/export/rows_window.cpp
#include "ir/prim.h"
#include "onnx/export/export.h"

#include <gtest/gtest.h>

#include "onnx/export/op_types.h"
#include "onnx/export/rows.h"
#include "support/context.h"
#include "support/failure.h"
#include "tracer/trace_reader.h"

namespace thunder::onnx_export {
namespace {

constexpr std::string_view kHeader = "-- libthunder trace 1: f, after trace (0.000 ms)\n";

struct Exported : testing::Test {
  Ref<Context> context = test::seeded_context();

  Graph graph(const std::string& text, int64_t opset = 18) {
    trace = read_trace(text, context->registry());
    ExportRequest request{trace, {}, {}, {}, opset};
    for (const Input& in : trace.inputs) request.inputs.push_back({in.name, nullptr, false, false});
    for (size_t i = 0; i < trace.outputs.size(); i++)
      request.outputs.push_back({i ? cat("y", i) : "y", trace.outputs[i]});
    return export_graph(request);
  }
  std::vector<std::string> ops(const std::string& text, int64_t opset = 18) {
    std::vector<std::string> out;
    const Graph made = graph(text, opset);
    for (const GraphNode& n : made.all_nodes()) out.emplace_back(n.op);
    return out;
  }
  // A trace of one line of x and z.
  static std::string of(const std::string& line, const std::string& x = "f32[2, 3]", const std::string& z = "f32[3]") {
    return std::string(kHeader) + "-- i[1] x: " + x + "\n-- i[2] z: " + z + "\nreturn function(p, c, i)\n  local t = {}\n  " + line +
           "\n  return t[1]\nend\n";
  }
  Trace trace;
};
using Ops = std::vector<std::string>;

TEST_F(Exported, writes_an_op_with_a_row_as_one_node) {
  EXPECT_EQ(ops(of("t[1] = relu(i[1])")), Ops{"Relu"});
  EXPECT_EQ(ops(of("t[1] = softmax(i[1], -1)")), Ops{"Softmax"});
}

TEST_F(Exported, writes_an_op_without_a_row_as_its_body) {
  EXPECT_EQ(ops(of("t[1] = rsqrt(i[1])")), (Ops{"Sqrt", "Reciprocal"}));
}

TEST_F(Exported, repeats_nothing_where_onnx_broadcasts) {
  EXPECT_EQ(ops(of("t[1] = add(i[1], i[2])")), Ops{"Add"});
  EXPECT_EQ(ops(of("t[1] = mul(i[1], 0x1p+1)")), Ops{"Mul"});
  EXPECT_EQ(ops(of("t[1] = where(i[1], i[2], 0x0p+0)", "bool[2, 3]")), Ops{"Where"});
}

TEST_F(Exported, repeats_a_result_whose_operands_were_all_repeated) {
  const std::string text = std::string(kHeader) + "-- i[1] x: f32[3]\nreturn function(p, c, i)\n  local t = {}\n  t[1] = expand(i[1], {2, 3})\n"
                           "  t[2] = exp(t[1])\n  return t[2]\nend\n";
  EXPECT_EQ(ops(text), (Ops{"Exp", "Expand"}));
}

TEST_F(Exported, names_sizes_that_vary_after_their_symbols) {
  const std::string text = std::string(kHeader) + "-- i[1] x: f32[s0, 3]\nreturn function(p, c, i)\n  local t = {}\n  local s0 = 4\n"
                           "  t[1] = reshape(i[1], {(s0 * 3)})\n  return t[1]\nend\n";
  const Graph made = graph(text);
  EXPECT_EQ(made.inputs[0].shape[0].name, "s0");
  EXPECT_EQ(made.inputs[0].shape[1].number, 3);
  ASSERT_EQ(made.all_nodes().size(), 1u);  // one size that is left open needs no arithmetic
  EXPECT_EQ(made.all_nodes()[0].op, "Reshape");
}

TEST_F(Exported, widens_integers_that_runtimes_lack) {
  EXPECT_EQ(ops(of("t[1] = sum(i[1])", "i64[2, 3]")), Ops{"ReduceSum"});
  EXPECT_EQ(ops(of("t[1] = amax(i[1])", "i16[2, 3]")), (Ops{"Cast", "ReduceMax", "Cast"}));
}

TEST_F(Exported, takes_an_op_of_onnx_from_the_opset_that_has_it) {
  EXPECT_EQ(ops(of("t[1] = gelu(i[1])"), 20), Ops{"Gelu"});
  const Ops older = ops(of("t[1] = gelu(i[1])"), 18);
  EXPECT_EQ(std::count(older.begin(), older.end(), "Gelu"), 0);
  EXPECT_EQ(std::count(older.begin(), older.end(), "Erf"), 1);
}

TEST_F(Exported, says_which_opset_an_op_needs) {
  const std::string says = failure_of([&] { graph(of("t[1] = prims.bitwise_or(i[1], i[1])", "i64[2]"), 17); });
  EXPECT_PRED2(contains, says, "BitwiseOr, which opset 17 does not have so; opset = 18 does");
}

TEST_F(Exported, refuses_an_op_by_name_reason_and_line) {
  const std::string says = failure_of([&] { graph(of("t[1] = digamma(i[1])  -- f32[2, 3] at net.lua:7")); });
  EXPECT_PRED2(contains, says, "export_onnx: prims.digamma cannot be written: ONNX has no such function; net.lua:7");
}

TEST_F(Exported, leaves_out_what_no_output_depends_on) {
  const std::string text = std::string(kHeader) + "-- i[1] x: f32[3]\nreturn function(p, c, i)\n  local t = {}\n  t[1] = exp(i[1])\n"
                           "  t[2] = neg(i[1])\n  return t[2]\nend\n";
  EXPECT_EQ(ops(text), Ops{"Neg"});
}

TEST_F(Exported, gives_an_input_that_is_returned_a_name_of_its_own) {
  const Graph made = graph(std::string(kHeader) + "-- i[1] x: f32[3]\nreturn function(p, c, i)\n  local t = {}\n  return i[1], i[1]\nend\n");
  EXPECT_EQ(made.name(made.outputs[0].value), "y");
  EXPECT_EQ(made.name(made.outputs[1].value), "y1");
}

// A window that begins behind the image is none of PyTorch's; ONNX counts it before opset 22.
TEST_F(Exported, gives_ceil_mode_the_windows_of_pytorch_in_each_opset) {
  const auto attrs_of = [&](int64_t opset, std::string_view sizes, int64_t stride) {
    const std::string line = cat("t[1], t[2] = prims.max_pool2d(i[1], {4, 4}, {", stride, ", ", stride, "}, {2, 2}, {1, 1}, true)");
    const Graph made = graph(of(line, cat("f32[1, 1, ", sizes, "]")), opset);
    std::string text;
    for (const Attr& a : made.all_nodes().front().attrs)
      if (a.name == "pads")
        for (int64_t pad : a.ints) text += cat(pad, " ");
      else if (a.name == "ceil_mode")
        text += cat("ceil ", a.i);
    return text;
  };
  EXPECT_EQ(attrs_of(18, "6, 7", 3), "2 2 2 1 ceil 0");
  EXPECT_EQ(attrs_of(22, "6, 7", 3), "2 2 2 2 ceil 1");
  EXPECT_EQ(attrs_of(18, "6, 6", 2), "2 2 2 2 ceil 1");
}

// Each prim has a row, or the library does not link.
TEST_F(Exported, has_rows_that_write_or_say_why_not) {
  for (size_t i = 0; i < kPrims; i++) {
    const Row& row = row_of(static_cast<Prim>(i));
    EXPECT_NE(row.onnx.empty(), row.why_not.empty()) << name(static_cast<Prim>(i));
  }
  for (const CompositeRow& row : composite_rows()) EXPECT_NE(context->registry().find(row.op), nullptr) << row.op;
}

TEST(OpTypes, hold_every_number_of_what_they_widen) {
  EXPECT_EQ(choose_compute_dtype(op_types("ReduceMax", 18), DType::u16), DType::i32);
  EXPECT_EQ(choose_compute_dtype(op_types("ReduceMax", 18), DType::u64), std::nullopt);
  EXPECT_EQ(choose_compute_dtype(op_types("Add", 18), DType::bf16), DType::f32);
  EXPECT_EQ(choose_compute_dtype(op_types("Add", 18), DType::f64), DType::f64);
}

}  // namespace
}  // namespace thunder::onnx_export
