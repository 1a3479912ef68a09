// The trace of one call as a function, and what its check finds: ten planted faults, each by its name.
#include "jit/programs/jit_trace.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct JitTrace : CompiledTest {
  // Runs `body` with the number of its run: 1 when it is traced, more when it is checked.
  Ref<Function> counted(std::function<void(Scope&, const Values&, Values&, int)> body) {
    return Ref<Function>::adopt(new Lambda([this, body = std::move(body)](Scope& s, const Values& in, Values& out) { body(s, in, out, ++runs); }));
  }
  static Ref<Values> call(const std::vector<Ref<Tensor>>& in) {
    auto values = make<Values>();
    for (auto& t : in) values->push(t);
    return values;
  }
  TraceRequest request(Ref<Function> f, const std::vector<Ref<Tensor>>& in) { return {context, std::move(f), call(in), {}}; }
  // What the check says; "" if it finds nothing.
  std::string fault(const TraceRequest& r) {
    try {
      traced = make<Compiled>(context, trace_function(r), nullptr);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::failed_precondition) << e.message();
      return e.message();
    }
  }
  std::string fault(std::function<void(Scope&, const Values&, Values&, int)> body) {
    runs = 0;
    return fault(request(counted(std::move(body)), {x}));
  }
  static Tensor* at(Scope& s, const char* where, std::string_view name, std::vector<Any> args) { return s.invoke(name, args, nullptr, nullptr, 0, where); }

  Ref<Tensor> x = tensor({4, 3}, Floats{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12});
  Ref<Compiled> traced;
  int runs = 0;
};

TEST_F(JitTrace, is_a_function_that_never_runs_the_one_it_was_made_of) {
  ASSERT_EQ(fault([](Scope& s, const Values& in, Values& out, int) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }), "");
  const int before = runs;
  EXPECT_EQ(run(*traced, {x.get()})[1], 2.0f) << error;
  EXPECT_EQ(run(*traced, {tensor({2, 5}, Floats(10, 3)).get()}), Floats(10, -3)) << error;
  EXPECT_EQ(runs, before);
}

TEST_F(JitTrace, finds_a_number_that_changes_with_both_lines) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int run) {
    Tensor* y = at(s, "f.lua:2", "neg", {any(in[0].tensor)});
    out.push(Ref<Tensor>(at(s, run % 2 ? "f.lua:3" : "f.lua:4", "mul", {any(y), Any::integer(run)})));
  });
  EXPECT_PRED2(contains, found, "f: jit.trace: the trace is not what the function does: graphs differ: the first op that differs, number 2:");
  EXPECT_PRED2(contains, found, "[at f.lua:3]");
  EXPECT_PRED2(contains, found, "[at f.lua:4]");
}

TEST_F(JitTrace, finds_another_op) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int run) {
    out.push(Ref<Tensor>(at(s, "f.lua:7", run == 1 ? "relu" : "abs", {any(in[0].tensor)})));
  });
  EXPECT_PRED2(contains, found, "in the trace\n    t[1] = relu(i[1])   [at f.lua:7]");
  EXPECT_PRED2(contains, found, "traced again\n    t[1] = abs(i[1])   [at f.lua:7]");
}

TEST_F(JitTrace, finds_more_ops) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int run) {
    Tensor* y = at(s, "f.lua:1", "neg", {any(in[0].tensor)});
    for (int i = 1; i < run; i++) y = at(s, "f.lua:2", "exp", {any(y)});
    out.push(Ref<Tensor>(y));
  });
  EXPECT_PRED2(contains, found, "traced again it has ops more, the first of them\n    t[2] = exp(t[1])   [at f.lua:2]");
}

TEST_F(JitTrace, finds_a_captured_tensor_that_changes) {
  const std::string found = fault([&](Scope& s, const Values& in, Values& out, int run) {
    out.push(Ref<Tensor>(at(s, "f.lua:5", "add", {any(in[0].tensor), any(tensor({3}, Floats{1, 2, static_cast<float>(run)}))})));
  });
  EXPECT_PRED2(contains, found, "the constant c[1] differs in 1 of 3 elements; the largest error is 1, at [2]: ");
  EXPECT_PRED2(contains, found, "[at f.lua:5]");
}

TEST_F(JitTrace, finds_an_output_that_tracing_alone_gives_with_its_largest_error) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(s.tracing() ? 2 : 3)})));
  });
  EXPECT_PRED2(contains, found, "output 0 differs in 12 of 12 elements; the largest error is 12, at [3, 2]: -24 in the trace, -36 otherwise");
}

TEST_F(JitTrace, finds_an_output_inside_of_others) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int) {
    out.push(in[0].tensor);
    out.open(true, "result");
    out.key("scores");
    out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor), Any::real(s.tracing() ? 0 : 1)})));
    out.close();
  });
  EXPECT_PRED2(contains, found, "output 1.scores differs in 12 of 12 elements; the largest error is 1");
}

TEST_F(JitTrace, finds_results_of_another_structure) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int run) {
    Tensor* y = op(s, "neg", {any(in[0].tensor)});
    out.push(Ref<Tensor>(y));
    if (run > 1) out.push(Ref<Tensor>(y));
  });
  EXPECT_PRED2(contains, found, "the structure of its results is * in the trace, *,* traced again");
}

TEST_F(JitTrace, finds_a_size_that_was_taken_for_a_constant_on_other_inputs) {
  auto r = request(counted([](Scope& s, const Values& in, Values& out, int) {
    const int64_t n = hint(in[0].tensor->type().shape[0]);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::integer(n)})));
  }), {x});
  EXPECT_EQ(fault(r), "");
  r.check = {call({x}), call({tensor({6, 3}, Floats(18, 1))})};
  const std::string found = fault(r);
  EXPECT_PRED2(contains, found, "check_inputs 2: the trace does not take these inputs");
  EXPECT_PRED2(contains, found, "f32[6, 3]");
}

TEST_F(JitTrace, finds_the_other_branch_on_other_inputs) {
  // The trace decides nothing by sizes, so it takes them.
  auto r = request(counted([](Scope& s, const Values& in, Values& out, int) {
    const DimReads::Pause unseen;
    const bool many = hint(in[0].tensor->type().shape[0]) > 5;
    out.push(Ref<Tensor>(at(s, many ? "f.lua:8" : "f.lua:9", many ? "exp" : "neg", {any(in[0].tensor)})));
  }), {x});
  r.check = {call({tensor({6, 3}, Floats(18, 1))})};
  const std::string found = fault(r);
  EXPECT_PRED2(contains, found, "in the trace\n    t[1] = neg(i[1])   [at f.lua:9]");
  EXPECT_PRED2(contains, found, "traced again\n    t[1] = exp(i[1])   [at f.lua:8]");
}

TEST_F(JitTrace, hints_at_random_numbers) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int run) {
    Tensor* y = at(s, "f.lua:2", "dropout", {any(in[0].tensor), Any::real(0.5)});
    out.push(Ref<Tensor>(run > 1 ? at(s, "f.lua:3", "dropout", {any(y), Any::real(0.5)}) : y));
  });
  EXPECT_PRED2(contains, found, "it draws random numbers, so that two calls may differ; a module in training mode, before eval()?");
  EXPECT_PRED2(contains, found, "dropout(");
}

TEST_F(JitTrace, finds_an_input_that_only_one_of_them_writes) {
  const std::string found = fault([](Scope& s, const Values& in, Values& out, int) {
    if (!s.tracing()) op(s, "add_", {any(in[0].tensor), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "full", {Any::dims({}), Any::real(1)})));
  });
  EXPECT_PRED2(contains, found, "input 0 differs in 12 of 12 elements; the largest error is 1");
}

TEST_F(JitTrace, draws_the_same_numbers_on_both_sides_and_none_of_the_callers) {
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  const int64_t before = state[1];
  EXPECT_EQ(fault([](Scope& s, const Values& in, Values& out, int) { out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor)}))); }), "");
  EXPECT_EQ(state[1], before);
}

TEST_F(JitTrace, a_check_leaves_inputs_and_captured_tensors_as_they_were) {
  auto sum = tensor({3}, Floats{0, 0, 0});
  EXPECT_EQ(fault([&](Scope& s, const Values& in, Values& out, int) {
    op(s, "add_", {any(in[0].tensor), Any::real(1)});
    op(s, "add_", {any(sum), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor), any(sum)})));
  }), "");
  EXPECT_EQ(data(*sum), (Floats{0, 0, 0}));
  EXPECT_EQ(data(*x)[0], 1.0f);
}

TEST_F(JitTrace, strict_refuses_lists_and_maps_as_results) {
  auto r = request(counted([](Scope&, const Values& in, Values& out, int) {
    out.open(false, {});
    out.push(in[0].tensor);
    out.close();
  }), {x});
  try {
    trace_function(r);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_PRED2(contains, std::string(e.message()), "its results hold a list or a map");
  }
  r.strict = false;
  EXPECT_EQ(fault(r), "");
}

TEST_F(JitTrace, options_are_judged_by_name_and_kind) {
  TraceRequest r{context, nullptr, nullptr, {}};
  CompileOptions given, compile;
  given.set("check_trace", Any::boolean(false));
  given.set("check_tolerance", Any::real(0.25));
  given.set("freezing", Any::boolean(true));
  read_trace_options(given, r, compile);
  EXPECT_FALSE(r.checks);
  EXPECT_EQ(r.tolerance, 0.25);
  EXPECT_TRUE(compile.flag("freezing", false));
  EXPECT_EQ(compile.all().size(), 1u);
  given.set("strict", Any::integer(1));
  EXPECT_THROW(read_trace_options(given, r, compile), Error);
}

}  // namespace
}  // namespace thunder::test
