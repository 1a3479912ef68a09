// How calls find programs, as options and stances say; and calls that run op by op.
// covers: core/jit/options/compile_options.cpp
#include "jit/options/compile_options.h"

#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Modes : CompiledTest {
  Modes() {
    ContextHooks hooks;
    hooks.user = &log;
    hooks.log = [](int32_t level, const char*, const char* text, size_t bytes, void* user) {
      if (level >= 2) static_cast<std::vector<std::string>*>(user)->emplace_back(text, bytes);
    };
    context = test::seeded_context(hooks);
  }
  Ref<Compiled> with(std::initializer_list<std::pair<const char*, Any>> given) {
    auto options = by_line();
    for (auto& [name, value] : given) options->set(name, value);
    return compile([this](Scope& s, const Values& in, Values& out) {
      traced += s.tracing();
      ran++;
      out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(2)})));
    }, options.get());
  }
  Floats on(Compiled& f, std::vector<int64_t> shape) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return run(f, {tensor(shape, Floats(static_cast<size_t>(n), 1)).get()});
  }
  std::vector<std::string> log;
  int traced = 0, ran = 0;
};

TEST_F(Modes, same_input_takes_the_callers_word_for_shapes_and_constants) {
  auto f = with({{"cache", Any::string("same input")}});
  EXPECT_EQ(on(*f, {2, 3}), Floats(6, 2));
  EXPECT_EQ(on(*f, {3, 2}), Floats(6, 2)) << error;
  EXPECT_EQ(traced, 1);
  auto g = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::integer(in[1].i)}))); },
                   [&] { auto o = by_line(); o->set("use_last_executed", Any::boolean(true)); return o; }().get());
  Values in, out;
  in.push(tensor({1}, {5})), in.push(Any::integer(3));
  ASSERT_EQ(g->call(in, out), nullptr);
  in[1].i = 4;
  ASSERT_EQ(g->call(in, out), nullptr);
  EXPECT_EQ(data(*out[0].tensor), (Floats{15}));
}

TEST_F(Modes, same_input_reads_nothing_outside_memory) {
  auto f = with({{"cache", Any::string("same input")}});
  on(*f, {2, 3});
  const auto refused = [&](const Ref<Tensor>& x) {
    error.clear();
    EXPECT_TRUE(run(*f, {x.get()}).empty());
    return error;
  };
  EXPECT_EQ(refused(tensor({5}, Floats(5, 1))), "f: its option cache = \"same input\" promises that inputs stay what they are, but input 0: shape is [5], was [2, 3]");
  EXPECT_PRED2(contains, refused(tensor({2, 2}, Floats(4, 1))), "shape is [2, 2], was [2, 3]");
  EXPECT_PRED2(contains, refused(integers({2, 3}, {1, 2, 3, 4, 5, 6})), "dtype is i64, was f32");
  auto wide = tensor({3, 2}, Floats(6, 1));
  TensorType turned = wide->type();
  std::swap(turned.shape[0], turned.shape[1]);
  EXPECT_PRED2(contains, refused(Tensor::view(wide->storage(), turned, {1, 2}, 0)), "layout is strides [1, 2], was contiguous");
  Tensor* two[] = {wide.get(), wide.get()};
  Tensor* out = nullptr;
  Status* failed = f->call_tensors(two, 2, &out, 1);
  ASSERT_NE(failed, nullptr);
  EXPECT_PRED2(contains, std::string(failed->message()), "there are more or fewer of them");
  failed->release();
  EXPECT_EQ(traced, 1);
}

TEST_F(Modes, no_caching_compiles_each_call_and_keeps_the_last_for_reports) {
  auto f = with({{"cache", Any::string("no caching")}});
  for (int i = 0; i < 3; i++) EXPECT_EQ(on(*f, {2}), Floats(2, 2)) << error;
  EXPECT_EQ(traced, 3);
  EXPECT_EQ(f->reports().statistics().entries, 0u);
  EXPECT_EQ(f->reports().statistics().misses, 3u);
  EXPECT_FALSE(f->reports().traces().empty());
  EXPECT_TRUE(log.empty());
}

TEST_F(Modes, are_refused_where_they_are_unknown_or_say_two_things) {
  EXPECT_PRED2(contains, failure_of([&] { with({{"cache", Any::string("symbolic values")}, {"dynamic", Any::boolean(false)}}); }),
               "cache = \"symbolic values\" and dynamic = false say different things about sizes");
  EXPECT_PRED2(contains, failure_of([&] { with({{"cache", Any::string("symbolic values")}, {"use_static_caching", Any::boolean(true)}}); }),
               "option 'use_static_caching' asks for cache = constant values, and option 'cache' says symbolic values");
  EXPECT_PRED2(contains, failure_of([&] { with({{"cache", Any::string("some")}}); }), "must be \"constant values\", \"symbolic values\", \"same input\" or \"no caching\", got \"some\"");
  EXPECT_PRED2(contains, failure_of([&] { with({{"cache", Any::string("same input")}, {"always_trace", Any::boolean(true)}}); }),
               "option 'always_trace' asks for cache = no caching, and option 'cache' says same input");
  with({{"cache", Any::string("no caching")}, {"always_trace", Any::boolean(true)}});
  EXPECT_PRED2(contains, failure_of([&] { with({{"accumulated_recompile_limit", Any::integer(0)}}); }), "'accumulated_recompile_limit' must be at least 1, got 0");
}

TEST_F(Modes, past_the_accumulated_limit_calls_run_op_by_op_after_one_warning) {
  auto f = with({{"dynamic", Any::boolean(false)}, {"recompile_limit", Any::integer(1)}, {"accumulated_recompile_limit", Any::integer(2)}});
  for (int64_t size : {1, 2, 3, 4, 1}) EXPECT_EQ(on(*f, {size}), Floats(static_cast<size_t>(size), 2)) << error;
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f->reports().statistics().eager_calls, 2u);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_PRED2(contains, log[1], "f: compiled 2 times, which is the accumulated_recompile_limit; last miss: input '0': shape is [3], was [1]; from "
                                 "now on what fits none of these programs runs op by op");
}

TEST_F(Modes, disable_compiles_nothing) {
  auto f = with({{"disable", Any::boolean(true)}});
  EXPECT_EQ(on(*f, {3}), Floats(3, 2)) << error;
  Values in;
  in.push(tensor({1}, {1}));
  EXPECT_EQ(f->prepare(in), nullptr);
  EXPECT_EQ(traced, 0);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(f->reports().statistics().eager_calls, 1u);
}

TEST_F(Modes, stances_say_what_a_call_does_that_no_program_fits) {
  auto f = with({});
  context->set_stance("eager_on_recompile");
  EXPECT_EQ(on(*f, {1}), Floats(1, 2));
  EXPECT_EQ(traced, 0);
  context->set_stance("default");
  on(*f, {1});
  EXPECT_EQ(traced, 1);
  context->set_stance("fail_on_recompile");
  EXPECT_EQ(on(*f, {1}), Floats(1, 2));
  EXPECT_TRUE(on(*f, {2}).empty());
  EXPECT_EQ(error, "f: the stance is fail_on_recompile, and no program fits this call: input 0: shape is [2], was [1]");
  context->set_stance("force_eager");
  const int before = ran;
  EXPECT_EQ(on(*f, {1}), Floats(1, 2));
  EXPECT_EQ(ran, before + 1);
  context->set_stance("eager_then_compile");
  auto g = with({});
  traced = 0;
  for (int i = 0; i < 3; i++) EXPECT_EQ(on(*g, {1}), Floats(1, 2));
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(g->reports().statistics().eager_calls, 1u);
  EXPECT_PRED2(contains, failure_of([&] { context->set_stance("force_eagre"); }), "there is no stance 'force_eagre' (did you mean 'force_eager'?)");
  EXPECT_EQ(
      failure_of([&] { context->set_stance("nonsense"); }),
      "there is no stance 'nonsense'; there are default, eager_on_recompile, eager_then_compile, fail_on_recompile, "
      "force_eager");
  EXPECT_EQ(context->stance_name(), "eager_then_compile");
}

struct EagerCalls : Modes {
  EagerCalls() { context->set_stance("force_eager"); }
};

TEST_F(EagerCalls, give_results_of_their_own_and_write_those_that_are_bound) {
  auto w = tensor({2}, {1, 2});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    out.push(in[0].tensor), out.push(w);
    out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)})));
    out.push(Ref<Tensor>(s.number(Any::real(0.5))));
    out.push(Any::string("word"));
  });
  auto x = tensor({2}, {3, 4}), bound = tensor({2}, {0, 0});
  Values in, out;
  in.push(x);
  out.bind(2, bound);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_NE(out[0].tensor->storage(), x->storage());
  EXPECT_NE(out[1].tensor->storage(), w->storage());
  EXPECT_EQ(data(*out[0].tensor), (Floats{3, 4}));
  EXPECT_EQ(out[2].tensor.get(), bound.get());
  EXPECT_EQ(data(*bound), (Floats{-3, -4}));
  EXPECT_EQ(data(*out[3].tensor), (Floats{0.5}));
  EXPECT_EQ(out[4].text, "word");
}

TEST_F(EagerCalls, draw_what_a_program_would_and_take_gradients) {
  auto f = make<Compiled>(context, value_and_grad(Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "dropout", {any(op(s, "exp", {any(in[0].tensor)}))}))})));
  })), "", nullptr), by_line().get());
  auto x = random({16}, 3);
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  Values in, eager, compiled;
  in.push(x);
  ASSERT_EQ(f->call(in, eager), nullptr);
  EXPECT_EQ(state[1], 1);
  context->set_stance("default");
  state[1] = 0;
  ASSERT_EQ(f->call(in, compiled), nullptr);
  EXPECT_EQ(state[1], 1);
  EXPECT_EQ(data(*eager[1].tensor), data(*compiled[1].tensor));
}

}  // namespace
}  // namespace thunder::test
