// Functions of the caller's that a compile calls: how far it is, and which guards are kept.
#include "jit/compile/callers_hooks.h"

#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using Body = std::function<void(Scope&, const Values&, Values&)>;
Ref<Function> function(Body body) { return Ref<Function>::adopt(new Lambda(std::move(body))); }

struct CallersHooks : CompiledTest {
  Ref<Compiled> with(std::string_view name, Body hook, Body body) {
    auto options = by_line();
    options->set_function(name, function(std::move(hook)));
    return compile(std::move(body), options.get());
  }
};

TEST_F(CallersHooks, are_told_each_stage_with_its_parts_and_cancel_by_an_error) {
  std::vector<std::string> stages;
  bool enough = true;
  auto f = with("progress", [&](Scope&, const Values& in, Values&) {
    stages.push_back(in[0].text);
    EXPECT_LT(in[1].i, in[2].i);
    if (enough && in[0].text == "claim") fail(Code::internal, "enough");
  }, [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); });
  EXPECT_TRUE(run(*f, {tensor({1}, {0}).get()}).empty());
  EXPECT_PRED2(contains, error, "enough");
  EXPECT_EQ(f->reports().statistics().entries, 0u);
  enough = false, stages.clear();
  EXPECT_EQ(run(*f, {tensor({1}, {0}).get()}), (Floats{1}));
  EXPECT_EQ(stages.front(), "trace");
  EXPECT_NE(std::find(stages.begin(), stages.end(), "prepare"), stages.end());
  stages.clear();
  EXPECT_EQ(run(*f, {tensor({1}, {0}).get()}), (Floats{1}));
  EXPECT_TRUE(stages.empty());
}

TEST_F(CallersHooks, drop_guards_of_integers_and_of_floats_that_were_read) {
  std::vector<std::string> asked;
  bool keep = false;
  const auto filter = [&](Scope&, const Values& in, Values& out) {
    for (size_t i = 0; i < in.size(); i++) asked.push_back(in[i].kind == ArgKind::string ? in[i].text : std::to_string(in[i].i));
    for (size_t i = 0; i < in.size() / 3; i++) out.push(Any::boolean(keep));
  };
  const auto scaled = [](Scope& s, const Values& in, Values& out) {
    in.note_read(1), in.note_read(2);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(static_cast<double>(in[1].i) * in[2].f)})));
  };
  const auto call_with = [&](Compiled& f, int64_t n, double x) {
    Values in, out;
    in.push(tensor({1}, {1})), in.push(Any::integer(n)), in.push(Any::real(x));
    Status* failed = f.call(in, out);
    EXPECT_EQ(failed, nullptr) << failed->message();
    return data(*out[0].tensor)[0];
  };
  auto f = with("guard_filter_fn", filter, scaled);
  EXPECT_EQ(call_with(*f, 2, 3), 6);
  EXPECT_EQ(asked.size(), 6u);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "CONSTANT_MATCH"), asked.end());
  EXPECT_NE(std::find(asked.begin(), asked.end(), "FLOAT_MATCH"), asked.end());
  EXPECT_EQ(call_with(*f, 5, 7), 6);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  keep = true;
  auto g = with("guard_filter_fn", filter, scaled);
  EXPECT_EQ(call_with(*g, 2, 3), 6);
  EXPECT_EQ(call_with(*g, 5, 7), 35);
}

TEST_F(CallersHooks, are_refused_under_other_names_and_as_other_values) {
  const auto nothing = [](Scope&, const Values&, Values&) {};
  EXPECT_PRED2(contains, failure_of([&] { with("progres", nothing, nothing); }), "option 'progres' cannot be a function (did you mean 'progress'?)");
  auto options = by_line();
  options->set("guard_filter_fn", Any::integer(1));
  EXPECT_PRED2(contains, failure_of([&] { compile(nothing, options.get()); }), "option 'guard_filter_fn' must be a function");
}

}  // namespace
}  // namespace thunder::test
