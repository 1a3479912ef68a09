// The order of the passes as a table: every row explains itself, optional ones can be left out, required ones not.
#include "compile/stages.h"

#include <set>

#include "jit/reports/explain.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using Pipeline = CompiledTest;

void cube(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  Tensor* y = op(s, "mul", {any(op(s, "mul", {any(x), any(x)})), any(op(s, "mul", {any(x), Any::real(1)}))});
  Values wrt;
  wrt.push(Ref<Tensor>(x));
  out.push((*s.grad(op(s, "sum", {any(y)}), wrt))[0].tensor);
}

std::string refused(CompiledTest& t, const char* passes) {
  t.error.clear();
  auto options = make<CompileOptions>();
  options->set("disable_passes", Any::string(passes));
  auto x = t.tensor({1}, {1});
  t.run(*t.compile(cube, options.get()), {x.get()});
  return t.error;
}

TEST_F(Pipeline, names_are_unique_and_every_row_says_why) {
  std::set<std::string_view> names;
  for (const StageRow& row : stages()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.why.empty()) << row.name;
  }
}

TEST_F(Pipeline, gives_the_same_numbers_with_each_optional_pass_left_out) {
  auto x = tensor({3}, {1, 2, 3});
  for (const StageRow& row : stages()) {
    if (row.required) continue;
    auto options = make<CompileOptions>();
    options->set("disable_passes", Any::string(row.name));
    auto f = compile(cube, options.get());
    EXPECT_EQ(run(*f, {x.get()}), (Floats{3, 12, 27})) << row.name << ": " << error;
    for (const Trace& t : f->reports().traces()) EXPECT_NE(t.pass, row.name);
  }
}

TEST_F(Pipeline, lets_a_callers_pass_stand_before_and_behind_any_row) {
  auto x = tensor({3}, {1, 2, 3});
  for (const StageRow& row : stages())
    for (const bool behind : {false, true}) {
      size_t calls = 0;
      CustomPassDesc counting;
      counting.name = "counting";
      (behind ? counting.after : counting.before) = row.name;
      counting.run = [](Editor&, void* user) -> Status* { return ++*static_cast<size_t*>(user), nullptr; };
      counting.user = &calls;
      auto options = make<CompileOptions>();
      options->add_pass(make<CustomPass>(std::move(counting), context->registry()));
      auto f = compile(cube, options.get());
      EXPECT_EQ(run(*f, {x.get()}), (Floats{3, 12, 27})) << row.name << ": " << error;
      EXPECT_EQ(calls, 1u) << row.name;
      const std::string text = cat("\n", explain(*f, "stages"));
      const size_t own = text.find("\ncounting: "), of_row = text.find(cat("\n", row.name, ": "));
      ASSERT_NE(own, text.npos) << text;
      EXPECT_EQ(own < of_row, !behind) << row.name << " in" << text;
    }
}

TEST_F(Pipeline, keeps_and_times_each_stage) {
  auto x = tensor({3}, {1, 2, 3});
  auto f = compile(cube);
  run(*f, {x.get()});
  const auto traces = f->reports().traces();
  ASSERT_GE(traces.size(), 4u);
  EXPECT_EQ(traces.front().pass, "trace");
  EXPECT_EQ(traces.back().pass, "claim");
  for (const Trace& t : traces) EXPECT_GT(t.milliseconds, 0) << t.pass;
}

// Its loss and its gradient are of the same shifted input.
void weighted_log_softmax(Scope& s, const Values& in, Values& out) {
  Tensor *x = in[0].tensor.get(), *y = op(s, "log_softmax", {any(x), Any::integer(-1)});
  Values wrt;
  wrt.push(Ref<Tensor>(x));
  out.push((*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(in[1].tensor.get())}))}), wrt))[0].tensor);
  out.push(Ref<Tensor>(y));
}

TEST_F(Pipeline, computes_the_powers_of_log_softmax_and_its_gradient_once) {
  auto x = tensor({1, 2}, {0, 0}), weight = tensor({1, 2}, {4, 0});
  auto f = compile(weighted_log_softmax);
  EXPECT_EQ(run(*f, {x.get(), weight.get()}), (Floats{2, -2})) << error;
  int powers = 0;
  const std::vector<Trace> traces = f->reports().traces();
  for (const Node* n : traces.back().nodes) powers += n->op->name() == "prims.exp";
  EXPECT_EQ(powers, 1);
}

TEST_F(Pipeline, refuses_to_leave_out_what_is_required_or_unknown) {
  for (const StageRow& row : stages())
    EXPECT_EQ(refused(*this, std::string(row.name).c_str()),
              row.required ? cat("disable_passes: pass '", row.name, "' is required") : "");
  EXPECT_EQ(refused(*this, "cze"), "disable_passes: unknown pass 'cze' (did you mean 'cse'?)");
}

}  // namespace
}  // namespace thunder::test
