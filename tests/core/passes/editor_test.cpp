// Also covers custom and guard: passes of the caller's on hand-made traces; tests/c/pass.c has them in programs.
// covers: core/passes/custom.cpp
#include "passes/editor.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/custom.h"
#include "support/traces.h"

namespace thunder {
namespace {

struct Editing : testing::Test {
  tests::TraceMaker m;
  Var x = m.input("x", {2});
  ScopeEnvironment environment;

  void SetUp() override { environment.registry = &m.registry; }
  Trace exp_then_neg() {
    m.recorder.nodes().clear();
    Var y = m.call("exp", {x});
    return m.finish({m.call("neg", {y})});
  }
  std::string refused(auto&& edit) {
    const Trace trace = exp_then_neg();
    Editor editor(trace, environment, "p");
    try {
      edit(editor);
      editor.finish();
    } catch (const Error& e) {
      return e.message();
    }
    return editor.scope().status() ? editor.scope().status()->message() : "nothing";
  }
};

Any any(Tensor* t) { return Any::tensor(t); }
Tensor* op(Scope& s, std::string_view name, std::vector<Any> args) { return s.invoke(name, args, nullptr, nullptr, 0, nullptr); }

TEST_F(Editing, without_edits_gives_nothing) {
  const Trace trace = exp_then_neg();
  EXPECT_FALSE(Editor(trace, environment, "p").finish());
}

TEST_F(Editing, insertions_stand_before_their_line_and_replacements_are_followed) {
  const Trace trace = exp_then_neg();
  Editor editor(trace, environment, "p");
  // From the back: what is inserted before the second line is rewritten with what replaces the first.
  editor.before(1);
  Tensor* e = editor.scope().wrap(trace.nodes[0]->results[0]);
  Tensor* twice = op(editor.scope(), "mul", {any(e), any(e)});
  editor.replace(1, {twice->value()});
  editor.before(0);
  Tensor* s = op(editor.scope(), "sqrt", {any(editor.scope().wrap(x.id))});
  editor.replace(0, {s->value()});
  const Trace made = *editor.finish();
  verify(made);
  ASSERT_EQ(made.nodes.size(), 2u);
  EXPECT_EQ(made.nodes[0]->op->name(), "sqrt");
  EXPECT_EQ(made.nodes[1]->op->name(), "mul");
  EXPECT_EQ(made.nodes[1]->args[0].v, s->value());
  EXPECT_EQ(made.outputs[0], twice->value());
}

TEST_F(Editing, refuses_what_would_not_be_a_trace) {
  auto result = [](Editor& e, size_t line) { return e.scope().wrap(e.trace().nodes[line]->results[0]); };
  EXPECT_NE(refused([&](Editor& e) { op(e.scope(), "neg", {any(result(e, 1))}); }).find("made later"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.remove(0); }).find("neg reads its result"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.replace(0, {x.id}), e.replace(0, {x.id}); }).find("replaced twice"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.replace(0, {e.trace().nodes[1]->results[0]}); }).find("comes after it"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.replace(0, {}); }).find("has 1 results, it is replaced by 0"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.before(9); }).find("no line 9"), std::string::npos);
  EXPECT_NE(refused([&](Editor& e) { e.remove(1), e.remove(0); }).find("its result is returned"), std::string::npos);
}

TEST_F(Editing, a_rule_holds_where_its_guard_does) {
  const Trace trace = exp_then_neg();
  PassContext context{m.registry};
  for (auto [guard, holds] : {std::pair{"a.rank == 1", true}, {"a.rank == 1 and a.size(0) == 3", false}, {"a.dtype == f32", true}}) {
    CustomPassDesc desc;
    desc.name = "p";
    desc.rules = {cat("neg(exp(a)) -> neg(sqrt(a)) if ", guard)};
    auto pass = make<CustomPass>(std::move(desc), m.registry);
    const auto made = pass->run(trace, context, environment);
    EXPECT_EQ(made.has_value(), holds) << guard;
    if (made) { EXPECT_EQ(made->nodes[0]->op->name(), "sqrt") << print(*made); }
  }
}

}  // namespace
}  // namespace thunder
