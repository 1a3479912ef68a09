// Models as functions: eager, compiled, with gradients, sizes that vary; and what they refuse. Also covers
// program_call, importer, node, load, signature, table and the rows that these models have.
// covers: core/onnx/export/rows.cpp core/onnx/load.cpp core/onnx/node.cpp core/onnx/program_call.cpp
// covers: core/onnx/signature.cpp core/onnx/table.cpp
#include "onnx/program.h"
#include "jit/reports/explain.h"

#include "jit/programs/load_program.h"
#include "support/failure.h"
#include "support/functions.h"
#include "support/onnx_writer.h"

namespace thunder::onnx::test {
namespace {

using thunder::test::CompiledTest;
using thunder::test::Floats;

struct Imported : CompiledTest {
  Ref<Compiled> load(const std::string& bytes, const CompileOptions* options = nullptr) {
    const LoadedProgram p = load_program(context, std::as_bytes(std::span(bytes)), options);
    return make<Compiled>(context, p.function, p.options.get());
  }
  Ref<CompileOptions> option(std::string_view name, const Any& value) {
    auto o = make<CompileOptions>();
    o->set(name, value);
    return o;
  }
  // The first result; null, and `error`, after a failure.
  Ref<Tensor> call(Compiled& f, std::vector<Ref<Tensor>> in) {
    auto given = make<Values>(), out = make<Values>();
    for (auto& t : in) given->push(std::move(t));
    if (Status* failed = f.call(*given, *out)) {
      error = failed->message();
      failed->release();
      return nullptr;
    }
    return (*out)[0].tensor;
  }
  std::string refusal(Compiled& f, std::vector<Ref<Tensor>> in) {
    error = "no error";
    call(f, std::move(in));
    return error;
  }
  static size_t lines(const Compiled& f) { return f.reports().traces().front().nodes.size(); }
};

// y = relu(x @ w + b), w and b being weights.
std::string layer_model() {
  GraphText g;
  g.nodes = {node("Gemm", {"x", "fc.weight", "fc.bias"}, {"h"}, {attribute("transB", int64_t{1})}, "fc"),
             node("Relu", {"h"}, {"y"})};
  g.initializers = {floats("fc.weight", {2, 3}, {1, 2, 3, -1, -2, -3}), floats("fc.bias", {2}, {0.5, 0.5})};
  g.inputs = {value_info("x", kFloat, {"batch", 3})};
  g.outputs = {value_info("y", kFloat, {"batch", 2})};
  return model(g);
}

TEST_F(Imported, computes_op_by_op_and_compiled) {
  const Ref<Tensor> x = tensor({2, 3}, {1, 0, 0, 0, 1, 1});
  const Floats expected = {1.5, 0, 5.5, 0};
  for (const bool eager : {true, false}) {
    const Ref<Compiled> f = load(layer_model(), option("disable", Any::boolean(eager)).get());
    const Ref<Tensor> y = call(*f, {x});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(data(*y), expected);
  }
}

TEST_F(Imported, has_weights_under_their_names_which_calls_follow) {
  const Ref<Compiled> f = load(layer_model());
  auto& program = dynamic_cast<Program&>(*f->shared_function());
  const Module::NamedSlot* bias = program.module()->find_tensor("fc.bias");
  ASSERT_TRUE(bias);
  EXPECT_EQ(bias->role, Role::parameter);
  const Ref<Tensor> x = tensor({1, 3}, {1, 0, 0});
  EXPECT_EQ(data(*call(*f, {x})), (Floats{1.5, 0}));
  reinterpret_cast<float*>(bias->tensor->data())[1] = 7;
  bias->tensor->bump();
  EXPECT_EQ(data(*call(*f, {x})), (Floats{1.5, 6}));
  program.module()->find("fc")->set_tensor("bias", tensor({2}, {0, 0}), Role::parameter);
  EXPECT_EQ(data(*call(*f, {x})), (Floats{1, 0}));
}

TEST_F(Imported, takes_inputs_by_name) {
  const Ref<Compiled> f = load(layer_model());
  auto in = make<Values>(), out = make<Values>();
  in->open(true, "");
  in->key("x"), in->push(tensor({1, 3}, {1, 0, 0}));
  in->close();
  EXPECT_EQ(f->call(*in, *out), nullptr);
  EXPECT_EQ(data(*(*out)[0].tensor), (Floats{1.5, 0}));
  in = make<Values>();
  in->open(true, "");
  in->key("z"), in->push(tensor({1, 3}, {1, 0, 0}));
  in->close();
  Status* failed = f->call(*in, *out);
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message().find("there is no input 'z'; the model has 1: x"), std::string::npos)
      << failed->message();
  failed->release();
}

// y = x * scale + shift, where a call may give the scale; the shift is a weight that no input names.
std::string model_with_a_default() {
  GraphText g;
  g.nodes = {node("Mul", {"x", "scale"}, {"h"}), node("Add", {"h", "shift"}, {"y"})};
  g.initializers = {floats("scale", {1}, {2}), floats("shift", {1}, {1})};
  g.inputs = {value_info("scale", kFloat, {1}), value_info("x", kFloat, {"n"})};
  g.outputs = {value_info("y", kFloat, {"n"})};
  return model(g);
}

TEST_F(Imported, takes_inputs_that_have_an_initializer_or_that) {
  const Ref<Tensor> x = tensor({2}, {1, 2}), scale = tensor({1}, {10});
  for (const bool eager : {true, false}) {
    const Ref<Compiled> f = load(model_with_a_default(), option("disable", Any::boolean(eager)).get());
    EXPECT_EQ(data(*call(*f, {x})), (Floats{3, 5})) << error;
    EXPECT_EQ(data(*call(*f, {x, scale})), (Floats{11, 21})) << error;
    auto in = make<Values>(), out = make<Values>();
    in->open(true, "");
    in->key("scale"), in->push(scale);
    in->key("x"), in->push(x);
    in->close();
    EXPECT_EQ(f->call(*in, *out), nullptr);
    EXPECT_EQ(data(*(*out)[0].tensor), (Floats{11, 21}));
    EXPECT_EQ(data(*call(*f, {x})), (Floats{3, 5})) << error;
    const std::string signature = dynamic_cast<const Program&>(f->function()).signature();
    EXPECT_NE(signature.find("\"optional_inputs\":[{\"name\":\"scale\""), std::string::npos) << signature;
    EXPECT_NE(refusal(*f, {}).find("input 'x' is missing"), std::string::npos) << error;
  }
}

TEST_F(Imported, is_traced_once_for_sizes_that_vary) {
  const Ref<Compiled> f = load(layer_model(), option("dynamic", Any::boolean(true)).get());
  for (int64_t batch : {2, 5, 9}) {
    const Ref<Tensor> y = call(*f, {random({batch, 3}, 1)});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(y->sizes()[0], batch);
  }
  EXPECT_NE(explain(*f, "guards").find("size(0, 0) == s0"), std::string::npos) << explain(*f, "guards");
}

// x of [batch, length, 4] as [batch, length, 2, 2], by the arithmetic that exporters write.
std::string shape_arithmetic_model() {
  GraphText g;
  g.initializers = {ints("zero", {}, {0}),      ints("one", {}, {1}),    ints("axes", {1}, {0}),
                    ints("heads", {2}, {2, 2}), ints("minus", {}, {-1}), ints("half", {1}, {2})};
  g.nodes = {node("Shape", {"x"}, {"s"}),
             node("Gather", {"s", "zero"}, {"b"}, {attribute("axis", int64_t{0})}),
             node("Gather", {"s", "one"}, {"l"}, {attribute("axis", int64_t{0})}),
             node("Mul", {"b", "l"}, {"rows"}),
             node("Div", {"rows", "b"}, {"l2"}),
             node("Unsqueeze", {"b", "axes"}, {"b1"}),
             node("Unsqueeze", {"l2", "axes"}, {"l1"}),
             node("Concat", {"b1", "l1", "heads"}, {"shape"}, {attribute("axis", int64_t{0})}),
             node("Reshape", {"x", "shape"}, {"y"})};
  g.inputs = {value_info("x", kFloat, {"batch", "length", 4})};
  g.outputs = {value_info("y", kFloat, {"batch", "length", 2, 2})};
  return model(g);
}

TEST_F(Imported, leaves_no_line_of_shape_arithmetic) {
  for (const bool dynamic : {false, true}) {
    const Ref<Compiled> f = load(shape_arithmetic_model(), option("dynamic", Any::boolean(dynamic)).get());
    ASSERT_TRUE(call(*f, {random({3, 5, 4}, 1)})) << error;
    EXPECT_EQ(lines(*f), 1u);
    const Ref<Tensor> y = call(*f, {random({2, 7, 4}, 1)});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(y->sizes()[1], 7);
  }
}

// Positions, zeros and an enlarged image, as large as the input.
TEST_F(Imported, keeps_sizes_of_data_as_formulas) {
  GraphText g;
  std::vector<int64_t> positions(64);
  for (size_t i = 0; i < positions.size(); i++) positions[i] = static_cast<int64_t>(i);
  g.initializers = {ints("positions", {1, 64}, positions), ints("zero", {1}, {0}), ints("one", {1}, {1}), ints("twice", {2}, {8, 8})};
  g.nodes = {node("Shape", {"x"}, {"s"}),
             node("Slice", {"s", "zero", "one"}, {"batch"}),
             node("Slice", {"positions", "zero", "batch", "one"}, {"p"}),
             node("Cast", {"p"}, {"places"}, {attribute("to", int64_t{kFloat})}),
             node("Concat", {"one", "batch"}, {"row"}, {attribute("axis", int64_t{0})}),
             node("ConstantOfShape", {"row"}, {"zeros"}),
             node("Add", {"places", "zeros"}, {"y"}),
             node("Slice", {"s", "zero", "half"}, {"front"}),
             node("Concat", {"front", "twice"}, {"large"}, {attribute("axis", int64_t{0})}),
             node("Resize", {"x", "", "", "large"}, {"z"}, {text_attribute("mode", "nearest")})};
  g.initializers.push_back(ints("half", {1}, {2}));
  g.inputs = {value_info("x", kFloat, {"batch", 1, 4, 4})};
  g.outputs = {value_info("y", kFloat, {1, "batch"}), value_info("z", kFloat, {"batch", 1, 8, 8})};
  const Ref<Compiled> f = load(model(g), option("dynamic", Any::boolean(true)).get());
  for (int64_t batch : {3, 5}) {
    const Ref<Tensor> y = call(*f, {random({batch, 1, 4, 4}, 1)});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(y->sizes()[1], batch);
    EXPECT_EQ(data(*y).back(), static_cast<float>(batch - 1));
  }
  EXPECT_NE(explain(*f, "guards").find("size(0, 0) == s0"), std::string::npos) << explain(*f, "guards");
}

// Nothing is recorded before the first node, and the second call repeats the first one's script.
TEST_F(Imported, breaks_at_sizes_that_are_computed_from_data) {
  GraphText g;
  g.initializers = {ints("start", {}, {0}), ints("step", {}, {1}), ints("axes", {1}, {0})};
  g.nodes = {node("Range", {"start", "n", "step"}, {"r"}), node("Add", {"r", "r"}, {"s"}), node("Add", {"s", "x"}, {"y"})};
  g.inputs = {value_info("n", kInt64, {}), value_info("x", kInt64, {1})};
  g.outputs = {value_info("y", kInt64, {"n"})};
  const Ref<Compiled> f = load(model(g), option("fullgraph", Any::boolean(false)).get());
  for (const int64_t n : {3, 3, 5}) {
    const Ref<Tensor> y = call(*f, {integers({}, {n}), integers({1}, {7})});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(y->elements(), n);
  }
  GraphText bad;
  bad.nodes = {node("Relu", {"none"}, {"y"})};
  bad.outputs = {value_info("y", kInt64, {2})};
  EXPECT_NE(refusal(*load(model(bad), option("fullgraph", Any::boolean(false)).get()), {}).find("model:1 Relu"), std::string::npos) << error;
}

TEST_F(Imported, gives_nothing_where_a_range_leads_away) {
  for (const bool down : {false, true}) {
    GraphText g;
    g.initializers = {ints("start", {}, {down ? 1 : 5}), ints("limit", {}, {down ? 5 : 1}), ints("step", {}, {down ? -1 : 1})};
    g.nodes = {node("Range", {"start", "limit", "step"}, {"r"}), node("Identity", {"r"}, {"y"})};
    g.outputs = {value_info("y", kInt64, {"n"})};
    const Ref<Tensor> y = call(*load(model(g), option("disable", Any::boolean(true)).get()), {});
    ASSERT_TRUE(y) << error;
    EXPECT_EQ(y->elements(), 0);
  }
}

// Wherever their bytes lie: these are copied, or borrowed.
TEST_F(Imported, reads_weights_when_they_are_first_used) {
  for (const char* name : {"w", "ww", "www", "wwww"}) {
    std::vector<float> values(2048, 1);
    values.back() = 7;
    GraphText g;
    g.initializers = {floats(name, {2048}, values)};
    g.nodes = {node("Add", {"x", name}, {"y"})};
    g.inputs = {value_info("x", kFloat, {2048})};
    g.outputs = {value_info("y", kFloat, {2048})};
    const Ref<Tensor> y = call(*load(model(g)), {random({2048}, 1)});
    const Ref<Tensor> x = random({2048}, 1);
    ASSERT_TRUE(y) << error;
    EXPECT_FLOAT_EQ(data(*y).front(), data(*x).front() + 1);
    EXPECT_FLOAT_EQ(data(*y).back(), data(*x).back() + 7);
  }
}

TEST_F(Imported, has_gradients_of_its_weights) {
  const Ref<Compiled> f = load(layer_model());
  auto& program = dynamic_cast<Program&>(*f->shared_function());
  const Ref<Tensor> weight = program.module()->find_tensor("fc.weight")->tensor;
  auto wrt = make<Values>();
  wrt->push(weight);
  const Ref<Function> model = f->shared_function();
  auto loss = Ref<Function>::adopt(new thunder::test::Lambda([model](Scope& s, const Values& in, Values& out) {
    Tensor* y = (*apply(s, *model, in))[0].tensor.get();
    out.push(Ref<Tensor>(thunder::test::op(s, "sum", {thunder::test::any(y)})));
  }));
  auto grad = make<Compiled>(context, value_and_grad(loss, "", wrt), nullptr);
  auto in = make<Values>(), out = make<Values>();
  in->push(tensor({1, 3}, {1, 2, 3}));
  Status* failed = grad->call(*in, *out);
  ASSERT_FALSE(failed) << failed->message();
  EXPECT_EQ(data(*(*out)[1].tensor), (Floats{1, 2, 3, 0, 0, 0}));
}

TEST_F(Imported, says_file_node_and_name_in_errors) {
  GraphText g;
  g.nodes = {node("Relu", {"x"}, {"h"}), node("MatMul", {"h", "w"}, {"y"}, {}, "/layer/matmul")};
  g.initializers = {floats("w", {4, 2}, Floats(8, 1))};
  g.inputs = {value_info("x", kFloat, {"n", "m"})};
  g.outputs = {value_info("y", kFloat, {"n", 2})};
  const Ref<Compiled> f = load(model(g));
  const std::string message = refusal(*f, {random({2, 3}, 1)});
  EXPECT_NE(message.find("matmul"), std::string::npos) << message;
  EXPECT_NE(message.find("[at model:2 MatMul /layer/matmul]"), std::string::npos) << message;
  ASSERT_TRUE(call(*f, {random({2, 4}, 1)})) << error;
  EXPECT_STREQ(f->reports().traces().front().nodes.back()->where, "model:2 MatMul /layer/matmul");
}

TEST_F(Imported, refuses_ops_by_name_where_they_are_needed) {
  GraphText g;
  g.nodes = {node("StringConcat", {"x", "x"}, {"y"}, {}, "cat")};
  g.inputs = {value_info("x", kFloat, {2})};
  g.outputs = {value_info("y", kFloat, {2})};
  const Ref<Compiled> f = load(model(g, 20));
  const std::string message = refusal(*f, {random({2}, 1)});
  EXPECT_NE(message.find("StringConcat: the op is not imported"), std::string::npos) << message;
  EXPECT_NE(message.find("model:1 StringConcat cat"), std::string::npos) << message;
  const std::string signature = dynamic_cast<const Program&>(f->function()).signature();
  EXPECT_NE(signature.find("\"unsupported\":[{\"node\":1,\"op\":\"StringConcat\""), std::string::npos) << signature;
}

TEST_F(Imported, refuses_inputs_that_the_model_does_not_take) {
  const Ref<Compiled> f = load(layer_model());
  EXPECT_NE(refusal(*f, {integers({1, 3}, {1, 2, 3})}).find("input 'x' is i64[1, 3], the model takes f32"),
            std::string::npos)
      << error;
  EXPECT_NE(refusal(*f, {random({1, 4}, 1)}).find("the model takes 3 in dim 1"), std::string::npos) << error;
  EXPECT_NE(refusal(*f, {random({3}, 1)}).find("the model takes one of 2 dims"), std::string::npos) << error;
  EXPECT_NE(refusal(*f, {}).find("input 'x' is missing"), std::string::npos) << error;
}

TEST_F(Imported, gives_the_values_that_the_option_outputs_names) {
  const Ref<Compiled> f = load(layer_model(), option("outputs", Any::string("h")).get());
  EXPECT_EQ(data(*call(*f, {tensor({1, 3}, {1, 0, 0})})), (Floats{1.5, -0.5}));
}

std::string branch(float value) {
  GraphText g;
  g.nodes = {node("Constant", {}, {"c"}, {tensor_attribute("value", floats("", {}, {value}))}),
             node("Mul", {"x", "c"}, {"r"})};
  g.outputs = {value_info("r", kFloat, {"n"})};
  return g.text();
}

TEST_F(Imported, takes_the_branch_of_a_known_condition_and_refuses_an_unknown_one) {
  GraphText g;
  g.initializers = {ints("two", {}, {2})};
  g.nodes = {node("Size", {"x"}, {"size"}), node("Greater", {"size", "two"}, {"large"}),
             node("If", {"large"}, {"y"},
                  {graph_attribute("then_branch", branch(10)), graph_attribute("else_branch", branch(2))})};
  g.inputs = {value_info("x", kFloat, {"n"})};
  g.outputs = {value_info("y", kFloat, {"n"})};
  Ref<Compiled> f = load(model(g));
  EXPECT_EQ(data(*call(*f, {tensor({2}, {1, 2})})), (Floats{2, 4}));
  EXPECT_EQ(data(*call(*f, {tensor({3}, {1, 2, 3})})), (Floats{10, 20, 30}));

  g.initializers = {floats("zero", {}, {0})};
  g.nodes[0] = node("ReduceSum", {"x"}, {"sum"}, {attribute("keepdims", int64_t{0})});
  g.nodes[1] = node("Greater", {"sum", "zero"}, {"large"});
  f = load(model(g));
  const std::string message = refusal(*f, {tensor({2}, {1, 2})});
  EXPECT_NE(message.find("If: its input 1, the condition, must be known while the model is traced"), std::string::npos)
      << message;
  f = load(model(g), option("disable", Any::boolean(true)).get());  // op by op it is known
  EXPECT_EQ(data(*call(*f, {tensor({2}, {1, 2})})), (Floats{10, 20}));
}

std::string loop_model(int64_t trips) {
  GraphText body;
  body.nodes = {node("Add", {"a", "x"}, {"a_out"}), node("Identity", {"go"}, {"go_out"})};
  body.inputs = {value_info("i", kInt64, {}), value_info("go", kBool, {}), value_info("a", kFloat, {2})};
  body.outputs = {value_info("go_out", kBool, {}), value_info("a_out", kFloat, {2})};
  GraphText g;
  g.initializers = {ints("trips", {}, {trips})};
  g.nodes = {node("Loop", {"trips", "", "x"}, {"y"}, {graph_attribute("body", body.text())}, "loop")};
  g.inputs = {value_info("x", kFloat, {2})};
  g.outputs = {value_info("y", kFloat, {2})};
  return model(g);
}

TEST_F(Imported, unrolls_short_loops_and_refuses_long_ones) {
  EXPECT_EQ(data(*call(*load(loop_model(3)), {tensor({2}, {1, 2})})), (Floats{4, 8}));
  const std::string message = refusal(*load(loop_model(int64_t{1} << 62)), {tensor({2}, {1, 2})});
  EXPECT_NE(message.find("Loop: it makes 4611686018427387904 trips; at most 1024 are unrolled"), std::string::npos)
      << message;
}

TEST_F(Imported, inlines_local_functions_and_refuses_those_that_call_themselves) {
  GraphText g;
  g.nodes = {node("twice", {"x"}, {"y"}, {}, "", "local")};
  g.inputs = {value_info("x", kFloat, {2})};
  g.outputs = {value_info("y", kFloat, {2})};
  const std::string twice = function("twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"b"})});
  EXPECT_EQ(data(*call(*load(model(g, 18, {twice})), {tensor({2}, {1, 2})})), (Floats{2, 4}));
  const std::string cycle = function("twice", {"a"}, {"b"}, {node("twice", {"a"}, {"b"}, {}, "", "local")});
  const std::string message = refusal(*load(model(g, 18, {cycle})), {tensor({2}, {1, 2})});
  EXPECT_NE(message.find("the function calls itself"), std::string::npos) << message;
}

TEST_F(Imported, refuses_what_is_too_large_before_it_is_made) {
  GraphText g;
  g.initializers = {ints("shape", {1}, {int64_t{1} << 40})};
  g.nodes = {node("ConstantOfShape", {"shape"}, {"big"}, {}, "big"), node("ReduceSum", {"big"}, {"y"})};
  g.outputs = {value_info("y", kFloat, {1})};
  const std::string message = refusal(*load(model(g)), {});
  EXPECT_NE(message.find("ConstantOfShape: it makes 1099511627776 elements"), std::string::npos) << message;
  g.initializers = {ints("shape", {2}, {int64_t{1} << 40, int64_t{1} << 40})};
  EXPECT_NE(refusal(*load(model(g)), {}).find("ConstantOfShape big"), std::string::npos) << error;
}

TEST_F(Imported, names_values_that_nothing_gives) {
  GraphText g;
  g.nodes = {node("Relu", {"nothing"}, {"y"})};
  g.outputs = {value_info("y", kFloat, {1})};
  EXPECT_NE(refusal(*load(model(g)), {}).find("no node before it gives 'nothing'"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::onnx::test
