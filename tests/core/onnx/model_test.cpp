// Files that are no models, or damaged ones, do no worse than raise an error. Also covers tensors, wire and types.
// covers: core/onnx/tensors.cpp core/onnx/types.cpp
#include "onnx/model.h"

#include "onnx/program.h"
#include "support/bytes.h"
#include "support/context.h"
#include "support/failure.h"
#include "support/onnx_writer.h"
#include "tracer/eager.h"

namespace thunder::onnx::test {
namespace {

std::string small_model() {
  GraphText g;
  g.initializers = {floats("w", {2, 2}, {1, 2, 3, 4}), ints("shape", {2}, {1, -1})};
  GraphText inner;
  inner.nodes = {node("Neg", {"h"}, {"r"})};
  inner.outputs = {value_info("r", kFloat, {"n"})};
  g.nodes = {node("MatMul", {"x", "w"}, {"h"}, {}, "m"),
             node("Constant", {}, {"yes"}, {tensor_attribute("value", tensor_text<uint8_t>("", kBool, {}, {1}))}),
             node("If", {"yes"}, {"b"},
                  {graph_attribute("then_branch", inner.text()), graph_attribute("else_branch", inner.text())}),
             node("Reshape", {"b", "shape"}, {"y"})};
  g.inputs = {value_info("x", kFloat, {"n", 2})};
  g.outputs = {value_info("y", kFloat, {1, "n"})};
  return model(g);
}

struct Models : testing::Test {
  Ref<Context> context = thunder::test::seeded_context();
  Ref<Program> load_bytes(const std::string& bytes) {
    return load(std::as_bytes(std::span(bytes)), context->module_environment());
  }
  std::string refusal(const std::string& bytes) {
    try {
      load_bytes(bytes);
    } catch (const Error& e) {
      return e.message();
    }
    return "no error";
  }
};

TEST_F(Models, survive_damage) {
  expect_survives_damage(
      small_model(),
      [&](const std::string& path) {
        Ref<Program> p = load(path, context->module_environment());
        // What loads may be called, too.
        EagerScope scope(context->scope_environment(), false);
        Values in;
        TensorType type;
        type.dtype = DType::f32, type.shape = {3, 2};
        in.push(Tensor::empty(default_allocator(), type));
        apply(scope, *p, in);
      },
      true);
}

TEST_F(Models, have_nodes_with_ops_and_an_opset) {
  EXPECT_NE(refusal("").find("it does not say which opset it uses"), std::string::npos);
  EXPECT_NE(refusal(message_of([](protozero::pbf_writer& w) {
              w.add_int64(1, 8);
              w.add_message(7, message_of([](protozero::pbf_writer& g) { g.add_message(1, std::string()); }));
            })).find("node 1 has no op_type"),
            std::string::npos);
}

TEST_F(Models, are_nested_no_deeper_than_is_safe) {
  std::string graph;
  for (int i = 0; i < 100; i++) {
    GraphText g;
    g.nodes = {node("If", {"c"}, {"y"}, {graph_attribute("then_branch", graph)})};
    graph = g.text();
  }
  GraphText g;
  g.nodes = {node("If", {"c"}, {"y"}, {graph_attribute("then_branch", graph)})};
  EXPECT_NE(refusal(model(g)).find("nested more than 32 deep"), std::string::npos);
}

TEST_F(Models, have_tensors_with_the_bytes_that_their_shapes_say) {
  GraphText g;
  const auto with = [&](const std::string& tensor) {
    g.initializers = {tensor};
    return refusal(model(g));
  };
  EXPECT_NE(with(floats("w", {3}, {1, 2})).find("tensor 'w' has 8 bytes of data, its shape and dtype need 12"),
            std::string::npos);
  EXPECT_NE(with(floats("w", {int64_t{1} << 62, 4}, {1})).find("tensor 'w'"), std::string::npos);
  EXPECT_NE(with(floats("w", {-1}, {1})).find("tensor 'w' has a dim of -1"), std::string::npos);
  EXPECT_NE(with(tensor_text<float>("w", 99, {1}, {1})).find("tensor 'w' has the dtype 99, which ONNX does not have"),
            std::string::npos);
  EXPECT_NE(with(tensor_text<float>("w", 8, {1}, {1})).find("tensor 'w' is of STRING"), std::string::npos);
  // No data at all: of a terabyte nothing is made.
  EXPECT_NE(with(message_of([](protozero::pbf_writer& w) {
              w.add_int64(1, int64_t{1} << 40);
              w.add_int32(2, kFloat);
              w.add_string(8, "w");
            })).find("tensor 'w' has fewer elements than its shape says"),
            std::string::npos);
  // Five bytes are no floats.
  EXPECT_NE(with(message_of([](protozero::pbf_writer& w) {
              w.add_int64(1, 2);
              w.add_int32(2, kFloat);
              w.add_bytes(4, "12345");
              w.add_string(8, "w");
            })).find("tensor 'w' is damaged"),
            std::string::npos);
}

TEST_F(Models, read_external_data_within_its_file) {
  Folder folder;
  write_file(folder / "w.bin", std::string(64, 'x'));
  const auto with = [&](std::vector<std::pair<std::string, std::string>> entries) -> std::string {
    GraphText g;
    g.initializers = {external("w", {4}, std::move(entries))};
    write_file(folder / "m.onnx", model(g));
    try {
      load(folder / "m.onnx", context->module_environment());
    } catch (const Error& e) {
      return e.message();
    }
    return "no error";
  };
  EXPECT_EQ(with({{"location", "w.bin"}, {"offset", "48"}, {"length", "16"}}), "no error");
  EXPECT_NE(with({{"location", "w.bin"}, {"offset", "49"}, {"length", "16"}})
                .find("go past the end of 'w.bin', which has 64"),
            std::string::npos);
  EXPECT_NE(with({{"location", "w.bin"}, {"offset", "18446744073709551615"}}).find("no offset or length"),
            std::string::npos);
  EXPECT_NE(with({{"location", "w.bin"}, {"offset", "9223372036854775807"}}).find("go past the end"),
            std::string::npos);
  EXPECT_NE(with({{"location", "w.bin"}, {"length", "8"}}).find("has 8 bytes, it needs 16"), std::string::npos);
  EXPECT_NE(with({{"location", "../w.bin"}}).find("without '..'"), std::string::npos);
}

TEST_F(Models, are_told_from_other_files) {
  EXPECT_TRUE(looks_like_model(small_model()));
  EXPECT_FALSE(looks_like_model(""));
  EXPECT_FALSE(looks_like_model(std::string("\x08\0\0\0\0\0\0\0{}", 10)));
  EXPECT_FALSE(looks_like_model("#!/usr/bin/lua"));
}

}  // namespace
}  // namespace thunder::onnx::test
