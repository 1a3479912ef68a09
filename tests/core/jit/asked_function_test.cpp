// The options `name` and `sharp_edges`: programs on which they make a difference. Covers jit/asked_function.
#include "jit/asked_function.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

struct AskedFunction : CompiledTest {
  static void keep(int32_t, const char* component, const char* text, size_t bytes, void* user) {
    static_cast<std::string*>(user)->append(cat(component, ": ", std::string_view(text, bytes), "\n"));
  }
  AskedFunction() {
    ContextHooks hooks;
    hooks.log = keep, hooks.user = &log;
    context = make<Context>(hooks);
  }
  Ref<Compiled> compile_with(std::string_view option, std::string_view value, Lambda::Body body) {
    auto options = only("host");
    options->set(option, Any::string(value));
    return compile(std::move(body), options.get());
  }
  static void doubled(Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(2)})));
  }
  // With a clock that it looks at.
  static void clocked(Scope& s, const Values& in, Values& out) {
    if (s.wants_edges()) s.add_edge({"time() is called once, while the function is traced", "model:3"});
    doubled(s, in, out);
  }

  std::string log;
};

TEST_F(AskedFunction, a_name_stands_in_traces_errors_and_logs) {
  context->set_logs("memory");
  auto f = compile_with("name", "decoder", doubled);
  run(*f, {random({3}, 1).get()});
  EXPECT_EQ(f->function().name(), "decoder");
  EXPECT_EQ(f->reports().traces().back().function, "decoder");
  EXPECT_NE(log.find(" decoder at here:1: "), std::string::npos) << log;
  result(*f, {nullptr});
  EXPECT_EQ(error, "decoder: input 0 is NULL");
  EXPECT_EQ(compile(doubled)->function().name(), "f");
}

TEST_F(AskedFunction, allows_edges_and_asks_for_none) {
  auto f = compile(clocked);
  EXPECT_EQ(run(*f, {tensor({1}, {3}).get()}), Floats({6}));
  EXPECT_EQ(log, "");
}

TEST_F(AskedFunction, warns_of_an_edge_once_a_trace_with_the_users_line) {
  auto f = compile_with("sharp_edges", "warn", clocked);
  for (int i = 0; i < 2; i++) EXPECT_EQ(run(*f, {tensor({1}, {3}).get()}), Floats({6}));
  EXPECT_EQ(log.substr(0, 13), "sharp_edges: ");
  const std::string_view expected = " f at model:3: time() is called once, while the function is traced\n";
  EXPECT_EQ(log.size(), 13 + 12 + expected.size()) << log;  // behind the time of the day
  EXPECT_TRUE(std::string_view(log).ends_with(expected)) << log;
}

TEST_F(AskedFunction, an_edge_is_the_error_of_the_call_where_that_is_asked_for) {
  auto f = compile_with("sharp_edges", "error", clocked);
  run(*f, {tensor({1}, {3}).get()});
  EXPECT_EQ(error,
            "f: sharp_edges: time() is called once, while the function is traced [at model:3]; give it as an argument, "
            "or take it out of the function");
  EXPECT_EQ(run(*compile_with("sharp_edges", "error", doubled), {tensor({1}, {3}).get()}), Floats({6}));
}

TEST_F(AskedFunction, edges_of_a_gradient_inside_are_its_functions) {
  auto f = compile_with("sharp_edges", "error", [](Scope& s, const Values& in, Values& out) {
    auto inner = Ref<Function>::adopt(new Lambda([](Scope& scope, const Values& x, Values& loss) {
      Values made;
      clocked(scope, x, made);
      loss.push(Ref<Tensor>(op(scope, "sum", {any(made[0].tensor)})));
    }));
    Values* both = apply(s, *value_and_grad(inner, "", {}), in);
    if (!s.status()) out.push((*both)[1].tensor);
  });
  run(*f, {tensor({1}, {3}).get()});
  EXPECT_NE(error.find("sharp_edges: time() is called once"), std::string::npos) << error;
}

TEST_F(AskedFunction, another_value_is_refused_with_those_that_are_there) {
  try {
    compile_with("sharp_edges", "forbid", doubled);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "compile: option 'sharp_edges' must be \"allow\", \"warn\" or \"error\", got \"forbid\"");
  }
}

}  // namespace
}  // namespace thunder::test
