// What a node may have: attributes, inputs and outputs, by ONNX's own schemas; and nodes that have odd ones. Also covers node, attributes, slices, windows
// and the rows of all ops, which get what no exporter writes.
// covers: core/onnx/attributes.cpp core/onnx/export/rows.cpp core/onnx/node.cpp core/onnx/slices.cpp
// covers: core/onnx/windows.cpp
#include "onnx/schema.h"

#include <gtest/gtest.h>

#include "onnx/rows.h"
#include "support/generator.h"
#include "support/onnx_trace.h"
#include "support/onnx_writer.h"

namespace thunder::onnx::test {
namespace {

std::string refusal(const std::string& bytes) {
  const Ref<Context> context = thunder::test::seeded_context();
  try {
    load_and_trace(*context, bytes);
  } catch (const Error& e) {
    return std::string(e.message());
  }
  return "none";
}

// A node of x, f32[2, 3].
std::string of_x(const std::string& op, const std::vector<std::string>& attributes, int64_t opset, const std::vector<std::string>& inputs = {"x"},
                 const std::vector<std::string>& outputs = {"y"}) {
  GraphText g;
  g.inputs = {value_info("x", kFloat, {2, 3})};
  g.outputs = {value_info("y", kFloat, {2, 3})};
  g.initializers = {ints("axes", {1}, {1})};
  g.nodes = {node(op, inputs, outputs, attributes, "here")};
  return model(g, opset);
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(message.find(word), message.npos) << word << " is not in: " << message;
}

TEST(Schemas, know_of_each_op_the_newest_version_that_is_not_newer) {
  EXPECT_EQ(find_schema("", "ReduceMean", 17)->since, 13);
  EXPECT_EQ(find_schema("", "ReduceMean", 18)->since, 18);
  EXPECT_EQ(find_schema("", "Gelu", 19), nullptr);
  EXPECT_EQ(find_schema("elsewhere", "Gelu", 20), nullptr);
  EXPECT_EQ(find_schema("com.microsoft", "MatMulNBits", 1)->least_inputs, 3u);
}

// Of every row that runs, in every opset in which it stands.
TEST(Schemas, are_there_for_every_op_that_is_imported) {
  for (const ImportTable* table : import_tables()) {
    for (const ImportRow& row : table->rows) {
      if (row.run) EXPECT_NE(find_schema(table->domain, row.op, row.until), nullptr) << row.op;
    }
  }
}

TEST(Attributes, that_an_opset_lacks_are_refused_by_node_name_and_opset) {
  expect_words(refusal(of_x("ReduceMean", {attribute("axes", std::vector<int64_t>{1})}, 18)), {"ReduceMean", "here", "opset 18", "'axes'"});
  expect_words(refusal(of_x("Relu", {attribute("alpha", 0.5f)}, 14)), {"Relu", "'alpha'", "it has none"});
  EXPECT_EQ(refusal(of_x("ReduceMean", {attribute("axes", std::vector<int64_t>{1})}, 17)), "none");
  EXPECT_EQ(refusal(of_x("Relu", {}, 14)), "none");
}

TEST(Attributes, of_another_kind_or_missing_or_there_twice_are_refused) {
  expect_words(refusal(of_x("Softmax", {attribute("axis", 1.0f)}, 13)), {"'axis'", "a number", "an integer"});
  expect_words(refusal(of_x("Cast", {}, 13)), {"'to'", "missing"});
  expect_words(refusal(of_x("Softmax", {attribute("axis", int64_t{0}), attribute("axis", int64_t{1})}, 13)), {"two attributes 'axis'"});
}

TEST(Inputs, too_many_or_too_few_are_refused) {
  expect_words(refusal(of_x("Neg", {}, 13, {"x", "x"})), {"Neg", "2 inputs", "opset 13"});
  expect_words(refusal(of_x("Add", {}, 14, {"x"})), {"1 inputs", "has 2"});
  expect_words(refusal(of_x("Neg", {}, 13, {"x"}, {"y", "z"})), {"2 outputs"});
  expect_words(refusal(of_x("ReduceMean", {}, 13, {"x", "axes"})), {"2 inputs"});
  EXPECT_EQ(refusal(of_x("ReduceMean", {}, 18, {"x", "axes"})), "none");
  EXPECT_EQ(refusal(of_x("Clip", {}, 13, {"x", "", ""})), "none");
}

TEST(Functions, of_one_name_or_called_with_what_they_lack_are_refused) {
  const auto twice = function("twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"b"})});
  GraphText g;
  g.inputs = {value_info("x", kFloat, {2, 3})};
  g.outputs = {value_info("y", kFloat, {2, 3})};
  g.nodes = {node("twice", {"x"}, {"y"}, {}, "", "local")};
  EXPECT_EQ(refusal(model(g, 18, {twice})), "none");
  expect_words(refusal(model(g, 18, {twice, twice})), {"two functions", "'twice'"});
  g.nodes = {node("twice", {"x"}, {"y"}, {attribute("alpha", 1.0f)}, "", "local")};
  expect_words(refusal(model(g, 18, {twice})), {"'alpha'", "none of the function's"});
}

TEST(Ranks, that_an_op_cannot_take_are_refused) {
  GraphText g;
  g.inputs = {value_info("x", kFloat, {4})};
  g.outputs = {value_info("y", kFloat, {4})};
  g.nodes = {node("RotaryEmbedding", {"x", "x", "x", "x"}, {"y"}, {}, "", "com.microsoft")};
  expect_words(refusal(model(g, 18)), {"RotaryEmbedding", "rank 1"});
}

TEST(Sizes, that_no_memory_holds_are_refused_by_the_node_that_asks_for_them) {
  GraphText g;
  g.inputs = {value_info("x", kFloat, {2})};
  g.outputs = {value_info("y", kFloat, {2})};
  g.initializers = {ints("from", {}, {0}), ints("to", {}, {int64_t{1} << 50}), ints("step", {}, {1})};
  g.nodes = {node("Range", {"from", "to", "step"}, {"r"}), node("ReduceMax", {"r"}, {"m"}), node("Cast", {"m"}, {"f"}, {attribute("to", int64_t{1})}),
             node("Add", {"x", "f"}, {"y"})};
  expect_words(refusal(model(g, 18)), {"Range", "'r'", "elements"});
  g.nodes = {node("Split", {"x"}, {"y"}, {attribute("num_outputs", int64_t{1000000000})})};
  expect_words(refusal(model(g, 18)), {"Split", "1000000000 parts"});
}

TEST(Counts, that_would_divide_by_zero_are_refused) {
  GraphText g;
  g.inputs = {value_info("x", kFloat, {2, 3})};
  g.outputs = {value_info("y", kFloat, {2, 2})};
  g.initializers = {tensor_text<uint8_t>("b", 2, {2, 1, 2}, {1, 1, 1, 1}), floats("s", {2}, {1, 1})};
  g.nodes = {node("MatMulNBits", {"x", "b", "s"}, {"y"},
                  {attribute("K", int64_t{3}), attribute("N", int64_t{2}), attribute("bits", int64_t{4}), attribute("block_size", int64_t{0})}, "",
                  "com.microsoft")};
  expect_words(refusal(model(g, 18)), {"MatMulNBits", "'block_size' is 0"});
}

// ---- nodes by chance ----

template <class T>
const T& one_of(std::mt19937_64& g, const std::vector<T>& list) {
  return list[tests::below(g, list.size())];
}

int64_t odd_integer(std::mt19937_64& g) {
  return tests::one_in(g, 4) ? tests::hostile_integer(g) : static_cast<int64_t>(tests::below(g, 6)) - 1;
}
std::vector<int64_t> odd_integers(std::mt19937_64& g) {
  std::vector<int64_t> list(tests::below(g, 6));
  for (int64_t& i : list) i = odd_integer(g);
  return list;
}
float odd_real(std::mt19937_64& g) {
  static const std::vector<float> values = {0, -0.0f, 1, -1, 0.5f, 2, 1e30f, -1e30f, 1e-40f, INFINITY, -INFINITY, NAN};
  return one_of(g, values);
}
std::string odd_text(std::mt19937_64& g) {
  static const std::vector<std::string> words = {
      "", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "linear", "nearest", "cubic", "constant", "reflect", "edge", "wrap", "add", "mul", "max",
      "min", "none", "forward", "reverse", "bidirectional", "DCR", "CRD", "tanh", "ij,jk->ik", "i->", "...", "mean", "sum", "zeros", "border",
      "align_corners", "asymmetric", "tf_crop_and_resize", "half_pixel_symmetric", "not_larger", "floor", "LEFT", "RIGHT", "?"};
  return one_of(g, words);
}

std::string odd_tensor(std::mt19937_64& g, const std::string& name) {
  std::vector<int64_t> dims;
  size_t count = 1;
  for (size_t d = tests::below(g, 3); d-- > 0; count *= static_cast<size_t>(dims.back())) dims.push_back(static_cast<int64_t>(tests::below(g, 5)));
  if (tests::one_in(g, 3)) {
    std::vector<float> values(count);
    for (float& v : values) v = odd_real(g);
    return floats(name, dims, values);
  }
  std::vector<int64_t> values(count);
  for (int64_t& v : values) v = odd_integer(g);
  if (!tests::one_in(g, 4)) return ints(name, dims, values);
  return tensor_text<uint8_t>(name, tests::one_in(g, 2) ? 2 : kBool, dims, std::vector<uint8_t>(count, 1));
}

std::string odd_graph(std::mt19937_64& g) {
  GraphText body;
  const size_t inputs = tests::below(g, 4), outputs = tests::below(g, 4);
  for (size_t i = 0; i < inputs; i++) body.inputs.push_back(value_info("i" + std::to_string(i), kFloat, {2}));
  for (size_t i = 0; i < outputs; i++) {
    const std::string name = "o" + std::to_string(i);
    body.nodes.push_back(node("Identity", {inputs > i ? "i" + std::to_string(i) : "a"}, {name}));
    body.outputs.push_back(value_info(name, kFloat, {2}));
  }
  return body.text();
}

std::string odd_attribute(std::mt19937_64& g, const std::string& name, char letter) {
  if (tests::one_in(g, 30)) letter = "fistFIS"[tests::below(g, 7)];
  switch (letter) {
    case 'f': return attribute(name, odd_real(g));
    case 'i': return attribute(name, odd_integer(g));
    case 's': return text_attribute(name, odd_text(g));
    case 't': return tensor_attribute(name, odd_tensor(g, ""));
    case 'g': return graph_attribute(name, odd_graph(g));
    case 'F': return attribute(name, std::vector<float>(tests::below(g, 5), odd_real(g)));
    case 'I': return attribute(name, odd_integers(g));
    default: return attribute(name, std::vector<std::string>(tests::below(g, 4), odd_text(g)));
  }
}

std::vector<std::string> odd_attributes(std::mt19937_64& g, std::string_view declared) {
  std::vector<std::string> out;
  while (!declared.empty()) {
    const std::string_view one = declared.substr(0, declared.find(' '));
    declared.remove_prefix(std::min(declared.size(), one.size() + 1));
    const size_t colon = one.find(':');
    const bool required = one.back() == '!';
    if (required ? !tests::one_in(g, 40) : tests::one_in(g, 3)) out.push_back(odd_attribute(g, std::string(one.substr(0, colon)), one[colon + 1]));
  }
  return out;
}

// A model of one node of an op that is imported, with inputs of any rank and dtype, some of them constants.
std::string odd_model(std::mt19937_64& g, std::string& op) {
  const auto tables = import_tables();
  const ImportTable& table = *tables[tests::below(g, tables.size())];
  const ImportRow& row = table.rows[tests::below(g, table.rows.size())];
  op = row.op;
  const int64_t opset = row.since + static_cast<int64_t>(tests::below(g, static_cast<size_t>(row.until - row.since) + 1));
  const Schema* schema = find_schema(table.domain, row.op, opset);
  if (!schema) return "";
  GraphText graph;
  graph.inputs.push_back(value_info("a", kFloat, {2}));
  std::vector<std::string> inputs;
  const size_t most = std::min<size_t>(schema->most_inputs, schema->least_inputs + 4);
  for (size_t i = 0, count = schema->least_inputs + tests::below(g, most - schema->least_inputs + 1); i < count; i++) {
    const std::string name = "x" + std::to_string(i);
    inputs.push_back(tests::one_in(g, 12) ? "" : name);
    if (inputs.back().empty()) continue;
    if (tests::one_in(g, 3)) {
      graph.initializers.push_back(odd_tensor(g, name));
      continue;
    }
    std::vector<DeclaredDim> dims;
    for (size_t d = tests::below(g, 6); d-- > 0;) dims.emplace_back(static_cast<int>(tests::below(g, 6)));
    static const std::vector<int32_t> dtypes = {kFloat, kFloat, kFloat, kInt64, kInt32, kBool, 2, 10};
    graph.inputs.push_back(value_info(name, one_of(g, dtypes), dims));
  }
  std::vector<std::string> outputs;
  for (size_t i = 0, count = std::max<size_t>(1, schema->least_outputs + tests::below(g, 2)); i < count; i++) outputs.push_back("y" + std::to_string(i));
  graph.nodes = {node(op, inputs, outputs, odd_attributes(g, schema->attributes), "", std::string(table.domain))};
  graph.outputs = {value_info("y0", kFloat, {2})};
  return model(graph, table.domain.empty() ? opset : 18);
}

// THUNDER_TRIES says how many; a build with ASan and UBSan makes their findings failures.
TEST(Nodes, with_odd_attributes_and_inputs_do_no_worse_than_fail) {
  const Ref<Context> context = thunder::test::seeded_context();
  uint64_t traced = 0;
  tests::for_each_seed(4000, [&](std::mt19937_64& g) {
    std::string op;
    const std::string bytes = odd_model(g, op);
    SCOPED_TRACE(op);
    try {
      load_and_trace(*context, bytes);
      traced++;
    } catch (const Error& e) {
      EXPECT_NE(e.message(), "");
    }
  });
  EXPECT_GT(traced, 0u);
}

}  // namespace
}  // namespace thunder::onnx::test
