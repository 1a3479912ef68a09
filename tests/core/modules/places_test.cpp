// Failures inside of layers name the layer by its path, and the line that called it.
#include "modules/access.h"

#include "fixture.h"

namespace thunder {
namespace {

struct Places : Modules {
  Ref<Module> embedding() { return module("Embedding", {Any::integer(4), Any::integer(2)}); }
  Ref<Module> net = sequential({sequential({embedding()})});
  Ref<Tensor> wrong = integers({1}, {7});

  static test::Lambda::Body called(Ref<Module> m, const char* where) {
    return [m, where](Scope& s, const Values& in, Values& out) { out.assign(*module_call(s, *m, in, where)); };
  }
  std::string failure(Compiled& f, const Ref<Tensor>& in) {
    Tensor *given = in.get(), *out = nullptr;
    const auto failed = Ref<Status>::adopt(f.call_tensors(&given, 1, &out, 1));
    return failed ? failed->message() : "";
  }
};

TEST_F(Places, are_told_where_a_compiled_function_fails) {
  const std::string said = failure(*compile(called(net, "train.lua:3")), wrong);
  EXPECT_TRUE(said.starts_with("embedding: index 7 is out of range for dim 0 of size 4 [at train.lua:3, layer 0.0, run by executor '")) << said;
  EXPECT_NE(failure(*compile(net), wrong).find(" [at layer 0.0, run by"), std::string::npos);  // nobody's line
}

TEST_F(Places, are_told_where_an_eager_layer_fails) {
  eager(called(net, "train.lua:3"), {wrong});
  EXPECT_EQ(error, "embedding: index 7 is out of range for dim 0 of size 4 [at train.lua:3, layer 0.0]");
  eager(net, {wrong});
  EXPECT_EQ(error, "embedding: index 7 is out of range for dim 0 of size 4 [at layer 0.0]");
  eager(called(net, "train.lua:3"), {wrong, wrong});
  EXPECT_EQ(error, "Embedding: takes one tensor, got 2 values: *,* [at train.lua:3, layer 0.0]");
}

TEST_F(Places, are_told_where_tracing_fails) {
  auto model = module("Module");
  model->add("head", sequential({module("Linear", {Any::integer(3), Any::integer(2)})}));
  const std::string said = failure(*compile(called(model->children()[0].module, "train.lua:3")), tensor({1, 2}, {1, 2}));
  EXPECT_TRUE(said.ends_with(" [at train.lua:3, layer head.0]")) << said;  // from the topmost module, whoever was called
}

TEST_F(Places, stand_behind_the_lines_of_a_trace) {
  auto f = compile(called(net, "train.lua:3"));
  run(*f, {integers({1}, {1})});
  const std::vector<Trace> traces = f->reports().traces();
  for (const Node* n : traces[0].nodes) EXPECT_STREQ(n->where, "train.lua:3, layer 0.0");
}

TEST_F(Places, are_those_of_now) {
  auto first = embedding(), second = embedding();
  auto model = module("Module");
  model->add("a", first);
  model->add("b", first);
  EXPECT_EQ(first->place(), "a");
  model->add("a", second);
  EXPECT_EQ(first->place(), "b");
  EXPECT_EQ(second->place(), "a");
  model = nullptr;
  EXPECT_EQ(first->place(), "");
}

TEST_F(Places, end_with_the_forward) {
  const auto body = [&](Scope& s, const Values& in, Values& out) {
    module_call(s, *net, in, "train.lua:3");
    out.push(Ref<Tensor>(s.invoke("matmul", std::vector{test::any(in[0].tensor), test::any(in[0].tensor)}, nullptr, nullptr, 0, "train.lua:4")));
  };
  eager(body, {integers({1}, {1})});
  EXPECT_EQ(error.find("layer"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder
