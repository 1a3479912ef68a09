// A trace as a function: what was recorded gives the same results and gradients again, wherever it runs.
// covers: core/tracer/replay.cpp core/tracer/trace_inputs.cpp
#include "tracer/replay.h"

#include "ir/print.h"
#include "support/failure.h"
#include "support/functions.h"
#include "tracer/eager.h"
#include "tracer/trace_reader.h"

namespace thunder::test {
namespace {

struct Replays : CompiledTest {
  // The function of a compiled one's stage, read back from its text.
  Ref<Function> again(const Compiled& f, size_t stage = 0) {
    const std::shared_ptr<const Entry> program = f.reports().latest();
    Trace trace = read_trace(print(program->traces.all()[stage]), context->registry());
    std::vector<Ref<Tensor>> captured;
    for (const Binding& b : program->bindings) captured.push_back(b.captured);
    return function_of_trace(std::move(trace), std::move(captured));
  }
  Ref<Compiled> compiled(Ref<Function> f) { return make<Compiled>(context, std::move(f), by_line().get()); }
  Floats eager(Function& f, const std::vector<Ref<Tensor>>& in) {
    Values values;
    for (auto& t : in) values.push(t);
    return eager(f, values);
  }
  Floats eager(Function& f, const Values& values) {
    EagerScope scope(context->scope_environment(), false);
    Values* out = apply(scope, f, values);
    if (scope.status()) return error = scope.status()->message(), Floats{};
    Floats result = data(*(*out)[0].tensor);
    scope.reset();
    return result;
  }
  Ref<Function> text(std::string_view t) {
    Trace trace = read_trace(t, context->registry());
    std::vector<Ref<Tensor>> none(trace.inputs.size());
    return function_of_trace(std::move(trace), std::move(none));
  }
};

TEST_F(Replays, gives_the_results_of_every_stage_of_a_program) {
  auto w = random({4, 3}, 7);
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "matmul", {any(in[0].tensor), any(w)});
    out.push(Ref<Tensor>(op(s, "softmax", {any(y), Any::integer(-1)})));
  });
  auto x = random({2, 4}, 3);
  const Floats expected = run(*f, {x.get()});
  for (size_t stage = 0; stage < f->reports().traces().size(); stage++) {
    auto g = again(*f, stage);
    EXPECT_EQ(eager(*g, {x}), expected) << stage << error;
    EXPECT_EQ(run(*compiled(g), {x.get()}), expected) << stage << error;
  }
}

TEST_F(Replays, is_differentiated_like_the_function_it_came_from) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "tanh", {any(in[0].tensor)});
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))})));
  };
  auto x = random({3, 5}, 11);
  auto f = compile(body);
  run(*f, {x.get()});
  Values in, out, wanted;
  in.push(x);
  auto first = compiled(value_and_grad(Ref<Function>::adopt(new Lambda(body)), "", nullptr));
  auto second = compiled(value_and_grad(again(*f), "", nullptr));
  ASSERT_EQ(first->call(in, wanted), nullptr);
  ASSERT_EQ(second->call(in, out), nullptr);
  EXPECT_EQ(data(*out[0].tensor), data(*wanted[0].tensor));
  EXPECT_EQ(data(*out[1].tensor), data(*wanted[1].tensor));
}

TEST_F(Replays, takes_gradients_that_the_trace_asks_for) {
  auto x = random({4}, 5);
  auto f = compiled(value_and_grad(Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "exp", {any(in[0].tensor)}))})));
  })), "", nullptr));
  Values in, out, again_out;
  in.push(x);
  ASSERT_EQ(f->call(in, out), nullptr);
  ASSERT_EQ(compiled(again(*f))->call(in, again_out), nullptr);
  EXPECT_EQ(data(*again_out[1].tensor), data(*out[1].tensor));
}

TEST_F(Replays, writes_what_the_trace_writes_after_everything_was_read) {
  const Lambda::Body swap = [](Scope& s, const Values& in, Values&) {
    Tensor *a = in[0].tensor.get(), *b = in[1].tensor.get();
    Tensor* old = op(s, "clone", {any(a)});
    op(s, "copy_", {any(a), any(b)});
    op(s, "copy_", {any(b), any(old)});
  };
  auto f = compile(swap);
  auto a = tensor({2}, {1, 2}), b = tensor({2}, {3, 4});
  Values in, out;
  in.push(a), in.push(b);
  ASSERT_EQ(f->call(in, out), nullptr);
  ASSERT_EQ(data(*a), (Floats{3, 4}));
  for (size_t stage = 0; stage < f->reports().traces().size(); stage++) {
    auto c = tensor({2}, {1, 2}), d = tensor({2}, {3, 4});
    in.reset();
    in.push(c), in.push(d);
    ASSERT_EQ(compiled(again(*f, stage))->call(in, out), nullptr);
    EXPECT_EQ(data(*c), (Floats{3, 4})) << stage;
    EXPECT_EQ(data(*d), (Floats{1, 2})) << stage;
    EagerScope scope(context->scope_environment(), false);
    apply(scope, *again(*f, stage), in);
    EXPECT_EQ(data(*c), (Floats{1, 2})) << stage;
    EXPECT_EQ(data(*d), (Floats{3, 4})) << stage;
  }
}

TEST_F(Replays, draws_the_numbers_of_the_contexts_random_state) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "dropout", {any(in[0].tensor), Any::real(0.5)});
    out.push(Ref<Tensor>(op(s, "dropout", {any(y), Any::real(0.25)})));
  });
  auto x = tensor({16}, Floats(16, 1));
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  state[0] = 5, state[1] = 0;
  const Floats first = run(*f, {x.get()}), second = run(*f, {x.get()});
  EXPECT_NE(first, second);
  for (size_t stage = 0; stage < f->reports().traces().size(); stage++) {
    auto g = compiled(again(*f, stage));
    state[1] = 0;
    EXPECT_EQ(run(*g, {x.get()}), first) << stage << error;
    EXPECT_EQ(run(*g, {x.get()}), second) << stage;
    EXPECT_EQ(state[1], 4);
  }
}

TEST_F(Replays, draws_once_what_two_lines_draw_with_one_ordinal) {
  // As after the grad pass: the backward makes the mask of the forward again.
  auto f = compiled(value_and_grad(Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "dropout", {any(op(s, "exp", {any(in[0].tensor)})), Any::real(0.5)});
    out.push(Ref<Tensor>(op(s, "sum", {any(y)})));
  })), "", nullptr));
  auto x = random({16}, 5);
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  Values in, out, wanted;
  in.push(x);
  state[1] = 0;
  ASSERT_EQ(f->call(in, wanted), nullptr);
  for (size_t stage = 0; stage < f->reports().traces().size(); stage++) {
    state[1] = 0;
    auto g = compiled(again(*f, stage));
    ASSERT_EQ(g->call(in, out), nullptr) << stage;
    EXPECT_EQ(data(*out[1].tensor), data(*wanted[1].tensor)) << stage;
  }
}

TEST_F(Replays, count_what_is_drawn_for_nobody) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    op(s, "dropout", {any(in[0].tensor), Any::real(0.5)});
    out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)})));
  });
  auto x = tensor({2}, {1, 2});
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  run(*f, {x.get()});
  for (size_t stage = 0; stage < f->reports().traces().size(); stage++) {
    state[1] = 0;
    run(*compiled(again(*f, stage)), {x.get()});
    EXPECT_EQ(state[1], 1) << stage << error;
  }
}

constexpr std::string_view kScale = R"(-- libthunder trace 1: scale, after trace (0 ms)
-- i[1] x: f32[s0, 3]
-- i[2] by: f64~[]
return function(p, c, i)
  local t = {}
  local s0 = 2
  t[1] = mul(i[1], i[2])
  t[2] = reshape(t[1], {(s0 * 3)})
  return t[2]
end
)";

TEST_F(Replays, binds_symbols_to_the_sizes_of_the_arguments) {
  auto f = text(kScale);
  for (int64_t n : {2, 5, 1}) {
    auto x = random({n, 3}, 1);
    Values in, out;
    in.push(x), in.push(Any::real(2));
    ASSERT_EQ(compiled(f)->call(in, out), nullptr);
    Floats twice = data(*x);
    for (float& v : twice) v *= 2;
    EXPECT_EQ(data(*out[0].tensor), twice);
    EXPECT_EQ(out[0].tensor->type().rank(), 1u);
  }
}

TEST_F(Replays, refuses_inputs_of_other_types_by_name) {
  auto f = text(kScale);
  Values in;
  in.push(random({2, 4}, 1)), in.push(Any::real(2));
  eager(*f, in);
  EXPECT_NE(error.find("scale: input 'x' is f32[2, 4], the trace was made for f32[s0, 3]"), std::string::npos) << error;
  eager(*f, {random({2, 3}, 1)});
  EXPECT_NE(error.find("the trace has 2 arguments, 1 were given"), std::string::npos) << error;
}

TEST_F(Replays, refuses_a_symbol_that_is_the_size_of_no_argument) {
  const std::string message = failure_of([&] {
    text("-- libthunder trace 1: f, after trace (0 ms)\nreturn function(p, c, i)\n  local t = {}\n  local s0 = 2\n"
         "  t[1] = full({s0}, 0x1p+0)\n  return t[1]\nend\n");
  });
  EXPECT_NE(message.find("s0 is the size of no argument"), std::string::npos) << message;
}

TEST_F(Replays, refuses_captured_tensors_that_are_missing_or_of_another_type) {
  constexpr std::string_view t =
      "-- libthunder trace 1: f, after trace (0 ms)\n-- i[1]: f32[2]\n-- p[1] bias: f32[2]\nreturn function(p, c, i)\n  local t = {}\n"
      "  t[1] = add(i[1], p[1])\n  return t[1]\nend\n";
  EXPECT_NE(failure_of([&] { text(t); }).find("no tensor is given for p[1] bias, which is f32[2]"), std::string::npos);
  const std::string other = failure_of([&] { function_of_trace(read_trace(t, context->registry()), {nullptr, tensor({3}, {1, 2, 3})}); });
  EXPECT_NE(other.find("p[1] bias is f32[2], the tensor given for it is f32[3]"), std::string::npos) << other;
}

}  // namespace
}  // namespace thunder::test
