// Functions that read values: each read ends a segment, and what comes later is another program.
// covers: core/jit/segments/segment_call.cpp core/ops/builder.cpp core/tracer/segment_cut.cpp
// covers: core/tracer/segment_recorder.cpp core/tracer/segments.cpp
#include "jit/segments/segment_call.h"
#include "jit/reports/explain.h"

#include <thread>

#include "ops/builder.h"
#include "support/failure.h"
#include "support/functions.h"
#include "transforms/transforms.h"

namespace thunder::test {
namespace {

struct SegmentsTest : CompiledTest {
  Ref<Compiled> segmented(Lambda::Body body) {
    auto options = by_line();
    options->set("fullgraph", Any::boolean(false));
    return compile(std::move(body), options.get());
  }
  static Tensor& read(Tensor* t) {
    EXPECT_TRUE(t->concrete() || t->owner()->give_data(*t, nullptr));
    return *t;
  }
  static float item(Tensor* t) { return *reinterpret_cast<const float*>(read(t).data()); }
  static Tensor* total(Scope& s, Tensor* x) { return op(s, "sum", {any(x)}); }
};

using Segments = SegmentsTest;

TEST_F(Segments, branches_on_a_value_as_eager_does) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "mul", {any(x), Any::real(2)});
    out.push(Ref<Tensor>(item(total(s, y)) > 0 ? op(s, "exp", {any(y)}) : op(s, "neg", {any(y)})));
  });
  auto up = tensor({2}, {0, 1}), down = tensor({2}, {-1, -2});
  EXPECT_EQ(run(*f, {down.get()}), (Floats{2, 4})) << error;
  const Floats exped = run(*f, {up.get()});
  ASSERT_EQ(exped.size(), 2u) << error;
  EXPECT_EQ(exped[0], 1);
  const uint64_t compiled = f->reports().statistics().misses;
  EXPECT_EQ(compiled, 3u);  // the common part, and a branch each
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(run(*f, {down.get()}), (Floats{2, 4})) << error;
    EXPECT_EQ(run(*f, {up.get()}), exped);
  }
  EXPECT_EQ(f->reports().statistics().misses, compiled);
  EXPECT_EQ(f->reports().statistics().segments, 3u);
  EXPECT_EQ(f->reports().statistics().graph_breaks, 1u);
  EXPECT_EQ(f->reports().statistics().calls, 8u);
}

TEST_F(Segments, a_function_without_a_break_is_one_program) {
  int runs = 0;
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    runs++;
    out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)})));
  });
  auto x = tensor({2}, {0, 0});
  for (int i = 0; i < 3; i++) EXPECT_EQ(run(*f, {x.get()}), (Floats{1, 1})) << error;
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f->reports().statistics().segments, 0u);
  EXPECT_EQ(explain(*f, "breaks"), "");
}

TEST_F(Segments, a_read_stays_an_error_in_a_function_that_must_be_one_graph) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = total(s, in[0].tensor.get());
    EXPECT_FALSE(y->owner()->give_data(*y, nullptr));
    out.push(Ref<Tensor>(y));
  });
  EXPECT_EQ(run(*f, {tensor({2}, {1, 2}).get()}), (Floats{3}));
}

TEST_F(Segments, a_loop_that_reads_compiles_its_body_once) {
  int rounds = 0;
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    rounds = 0;
    while (item(total(s, x)) > 1e-3f && rounds < 200) {
      x = op(s, "mul", {any(x), any(in[1].tensor)});
      rounds++;
    }
    out.push(Ref<Tensor>(x));
  });
  auto x = tensor({4}, {100, 200, 300, 400}), half = tensor({4}, {0.9f, 0.9f, 0.9f, 0.9f});
  const Floats first = run(*f, {x.get(), half.get()});
  ASSERT_EQ(first.size(), 4u) << error;
  EXPECT_GT(rounds, 100);
  const uint64_t compiled = f->reports().statistics().misses;
  EXPECT_LE(compiled, 4u);
  EXPECT_EQ(run(*f, {x.get(), half.get()}), first);
  EXPECT_EQ(f->reports().statistics().misses, compiled);
}

TEST_F(Segments, writes_show_through_views_across_a_break) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "add", {any(x), Any::real(1)});
    const int64_t flat[] = {4};
    Tensor* view = op(s, "reshape", {any(y), Any::dims(flat)});
    EXPECT_EQ(item(total(s, y)), 14);
    op(s, "mul_", {any(view), Any::real(10)});  // the memory that y looks at
    out.push(Ref<Tensor>(op(s, "neg", {any(y)})));
    op(s, "add_", {any(x), Any::real(1)});
    EXPECT_EQ(item(total(s, x)), 14);
    op(s, "add_", {any(x), Any::real(1)});
  });
  auto x = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-20, -30, -40, -50})) << error;
  EXPECT_EQ(data(*x), (Floats{3, 4, 5, 6}));
}

TEST_F(Segments, reading_an_argument_cuts_nothing) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "mul", {any(x), any(x)});
    const float first = item(x);
    out.push(Ref<Tensor>(op(s, "add", {any(y), Any::real(first)})));
    out.push(Ref<Tensor>(x));
  });
  auto x = tensor({2}, {3, 1});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{12, 4})) << error;
  EXPECT_EQ(f->reports().statistics().segments, 1u);
  EXPECT_EQ(f->reports().statistics().graph_breaks, 0u);
  auto z = tensor({2}, {5, 1});
  EXPECT_EQ(run(*f, {z.get()}), (Floats{30, 6})) << error;
}

TEST_F(Segments, draw_the_numbers_of_a_whole_program) {
  const int64_t shape[] = {8};
  const auto body = [&](bool reads) {
    return [&shape, reads](Scope& s, const Values&, Values& out) {
      Tensor* a = op(s, "rand", {Any::dims(shape)});
      if (reads) item(total(s, a));
      Tensor* b = op(s, "rand", {Any::dims(shape)});
      if (reads) item(total(s, b));
      out.push(Ref<Tensor>(op(s, "add", {any(a), any(b)})));
    };
  };
  auto whole = compile(body(false));
  auto cut = segmented(body(true));
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  for (int call = 0; call < 3; call++) {
    const int64_t before = state[1];
    const Floats a = run(*whole, {});
    EXPECT_EQ(state[1], before + 2);
    state[1] = before;
    const Floats b = run(*cut, {});
    EXPECT_EQ(state[1], before + 2);
    EXPECT_EQ(a, b) << error;
  }
}

TEST_F(Segments, floats_stay_live_across_breaks) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *k = in[1].tensor.get();
    Tensor* twice = op(s, "add", {any(k), any(k)});
    EXPECT_GT(item(total(s, x)), 0);
    Tensor* y = op(s, "mul", {any(x), any(twice)});
    EXPECT_EQ(y->type().dtype, DType::f32);
    out.push(Ref<Tensor>(op(s, "sub", {any(y), any(k)})));
  });
  auto x = tensor({2}, {1, 2});
  uint64_t compiled = 0;
  for (double k : {2.0, 3.0, 0.1}) {
    Values in, out;
    in.push(x);
    in.push(Any::real(k));
    Status* failed = f->call(in, out);
    ASSERT_EQ(failed, nullptr) << failed->message();
    EXPECT_EQ(data(*out[0].tensor)[1], static_cast<float>(2 * static_cast<float>(2 * k)) - static_cast<float>(k));
    EXPECT_TRUE(!compiled || compiled == f->reports().statistics().misses);
    compiled = f->reports().statistics().misses;
  }
}

TEST_F(Segments, a_number_that_varies_becomes_an_input) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    const double largest = item(op(s, "amax", {any(op(s, "abs", {any(x)}))}));
    out.push(Ref<Tensor>(op(s, "div", {any(op(s, "add", {any(x), Any::real(1)})), Any::real(largest)})));
  });
  uint64_t compiled = 0;
  for (float k : {2.0f, 3.0f, 7.0f, 0.1f, 5.0f}) {
    auto x = tensor({2}, {k, -k / 2});
    EXPECT_EQ(run(*f, {x.get()}), (Floats{(k + 1) / k, (1 - k / 2) / k})) << error;
    if (k == 7) compiled = f->reports().statistics().misses;
  }
  EXPECT_EQ(f->reports().statistics().misses, compiled);
  EXPECT_EQ(compiled, 4u);  // the first part; the second with 2, with 3, and with any number
}

TEST_F(Segments, an_error_after_a_break_is_the_calls) {
  bool bad = true;
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "exp", {any(in[0].tensor)});
    item(y);
    if (bad) s.fail(Code::callback, "stopped here");
    out.push(Ref<Tensor>(op(s, "neg", {any(y)})));
  });
  auto x = tensor({1}, {0});
  EXPECT_TRUE(run(*f, {x.get()}).empty());
  EXPECT_PRED2(contains, error, "stopped here");
  bad = false;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1}));
}

TEST_F(Segments, a_transforms_function_cannot_be_read_from_inside) {
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* outside = op(s, "exp", {any(in[0].tensor)});
    auto inner = Ref<Function>::adopt(new Lambda([&](Scope& t, const Values& given, Values& made) {
      EXPECT_PRED2(contains, failure_of([&] { outside->owner()->give_data(*outside, nullptr); }), "a transform");
      made.push(Ref<Tensor>(op(t, "mul", {any(given[0].tensor), any(outside)})));
    }));
    out.push((*apply(s, *checkpoint(inner), in))[0].tensor);
  });
  EXPECT_EQ(run(*f, {tensor({1}, {0}).get()}), (Floats{0})) << error;
}

TEST_F(Segments, run_on_several_threads_at_once) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    while (item(total(s, x)) > 1) x = op(s, "mul", {any(x), Any::real(0.5)});
    out.push(Ref<Tensor>(x));
  });
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      auto x = tensor({2}, {static_cast<float>(16 << t), 0});
      for (int call = 0; call < 20; call++) {
        Tensor* in[] = {x.get()};
        Tensor* out = nullptr;
        if (Status* failed = f->call_tensors(in, 1, &out, 1)) {
          failed->release();
          continue;
        }
        right += data(*Ref<Tensor>::adopt(out)) == Floats{1, 0};
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 80);
}

TEST_F(Segments, obey_stances_and_what_is_prepared) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "exp", {any(in[0].tensor)});
    if (y->concrete() || y->owner()->give_data(*y, nullptr)) y = op(s, "neg", {any(y)});
    else s.fail(Code::proxy_has_no_data, "not now");
    out.push(Ref<Tensor>(y));
  });
  auto x = tensor({1}, {0}), z = tensor({2}, {0, 0});
  Values in;
  in.push(x);
  Status* refused = f->prepare(in);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code(), Code::proxy_has_no_data);
  refused->release();
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1})) << error;
  context->set_stance("fail_on_recompile");
  EXPECT_EQ(run(*f, {x.get()}), (Floats{-1})) << error;
  EXPECT_TRUE(run(*f, {z.get()}).empty());
  EXPECT_PRED2(contains, error, "the stance is fail_on_recompile, and no program has the 1 lines of this segment");
  context->set_stance("force_eager");
  EXPECT_EQ(run(*f, {z.get()}), (Floats{-1, -1})) << error;
  EXPECT_EQ(f->reports().statistics().eager_calls, 1u);
  context->set_stance("default");
  EXPECT_EQ(run(*f, {z.get()}), (Floats{-1, -1})) << error;
}

// A function whose sizes vary is traced with symbols first: who catches the error of a read there must not be believed.
TEST_F(Segments, a_read_that_is_caught_is_no_whole_program) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "exp", {any(x)});
    const bool longer = x->type().shape[0] == Dim(2) || y->owner()->give_data(*y, nullptr);  // a short one reads nothing
    out.push(Ref<Tensor>(longer ? y : op(s, "neg", {any(y)})));
  });
  EXPECT_EQ(run(*f, {tensor({2}, {0, 0}).get()}), (Floats{1, 1})) << error;
  for (int i = 0; i < 2; i++) EXPECT_EQ(run(*f, {tensor({3}, {0, 0, 0}).get()}), (Floats{1, 1, 1})) << error;
}

TEST_F(Segments, take_strided_and_repeated_inputs_and_bound_results) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor *a = in[0].tensor.get(), *b = in[1].tensor.get();
    Tensor* y = op(s, "add", {any(a), any(b)});
    item(y);
    out.push(Ref<Tensor>(op(s, "mul", {any(y), any(a)})));
    out.push(Ref<Tensor>(y));
    out.push(Ref<Tensor>(y));
    out.push(Ref<Tensor>(a));
  });
  auto base = tensor({2, 2}, {1, 2, 3, 4}), bound = tensor({2}, {0, 0});
  TensorType column;
  column.dtype = DType::f32, column.shape.push_back(2);
  auto x = Tensor::view(base->storage(), column, Sizes{2}, sizeof(float));
  Values in, out;
  in.push(x), in.push(x);
  out.bind(0, bound);
  for (int i = 0; i < 2; i++) {
    Status* failed = f->call(in, out);
    ASSERT_EQ(failed, nullptr) << failed->message();
    EXPECT_EQ(data(*bound), (Floats{8, 32}));
    EXPECT_EQ(out[0].tensor, bound);
    EXPECT_EQ(data(*out[1].tensor), (Floats{4, 8}));
    EXPECT_NE(out[1].tensor->storage(), out[2].tensor->storage());
    EXPECT_NE(out[3].tensor->storage(), base->storage());
    EXPECT_EQ(data(*out[3].tensor), (Floats{2, 4}));
  }
}

// An op of a test's own that tells how often it is taken apart, which recording it does.
int taken_apart = 0;
void add_counted_double(Registry& registry) {
  taken_apart = 0;
  registry.add(checked({.schema = "counted_double(tensor input) -> tensor",
                        .autocast = CastPolicy::none,
                        .doc = "Twice the input.",
                        .decompose = [](Call& c) -> Results {
                          taken_apart++;
                          return c.var(0) + c.var(0);
                        }}));
}

TEST_F(Segments, that_are_recorded_again_are_followed_and_nothing_is_built) {
  add_counted_double(context->registry());
  bool longer = false;
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = op(s, "counted_double", {any(in[0].tensor)});
    x = op(s, "add", {any(x), Any::real(item(total(s, x)) > 1e6f ? 1 : 0)});
    for (int i = 0; i < 3; i++) x = op(s, "counted_double", {any(x)});
    if (longer) x = op(s, "neg", {any(op(s, "counted_double", {any(x)}))});
    item(total(s, x));
    out.push(Ref<Tensor>(x));
  });
  auto x = tensor({2}, {1, 2});
  const Floats once = {16, 32}, more = {-32, -64};
  for (int call = 0; call < 3; call++) EXPECT_EQ(run(*f, {x.get()}), once) << error;
  int before = taken_apart;
  EXPECT_EQ(run(*f, {x.get()}), once) << error;
  EXPECT_EQ(taken_apart, before);
  longer = true;  // as before at first, and then there are more lines
  EXPECT_EQ(run(*f, {x.get()}), more) << error;
  EXPECT_EQ(taken_apart, before + 1);
  before = taken_apart;
  for (int call = 0; call < 4; call++) {
    longer = call % 2 == 0;
    EXPECT_EQ(run(*f, {x.get()}), longer ? more : once) << error;
  }
  EXPECT_EQ(taken_apart, before);
  const uint64_t compiled = f->reports().statistics().misses;
  run(*f, {x.get()});
  EXPECT_EQ(f->reports().statistics().misses, compiled);
}

TEST_F(Segments, of_a_loop_are_followed_in_every_round) {
  add_counted_double(context->registry());
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    for (int i = 0; i < 400; i++) {
      x = op(s, "neg", {any(op(s, "counted_double", {any(x)}))});
      x = op(s, "mul", {any(x), Any::real(-0.5)});
      item(x);
    }
    out.push(Ref<Tensor>(x));
  });
  auto x = tensor({1}, {3});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{3})) << error;
  EXPECT_LE(taken_apart, 4);
  const int before = taken_apart;
  EXPECT_EQ(run(*f, {x.get()}), (Floats{3})) << error;
  EXPECT_LE(taken_apart, before + 2);
}

TEST_F(Segments, that_are_followed_keep_writes_views_and_layouts_apart) {
  int how = 0;
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* copy = op(s, "mul", {any(x), Any::real(1)});
    const int64_t flat[] = {4};
    Tensor* view = op(s, "reshape", {any(x), Any::dims(flat)});  // of a transposed tensor a copy
    Tensor* sum = how % 2 ? op(s, "add_", {any(view), Any::real(1)}) : op(s, "add", {any(view), Any::real(1)});
    item(total(s, sum));
    out.push(Ref<Tensor>(op(s, "sub", {any(x), any(copy)})));
    out.push(Ref<Tensor>(op(s, "add", {any(view), any(sum)})));
  });
  TensorType type;
  type.dtype = DType::f32, type.shape.push_back(2), type.shape.push_back(2);
  for (how = 0; how < 24; how++) {
    auto x = tensor({2, 2}, {1, 2, 3, 4});
    const bool writes = how % 2, transposed = how / 2 % 2;
    if (transposed) x = Tensor::view(x->storage(), type, Sizes{1, 2}, 0);
    Tensor* in[] = {x.get()};
    Tensor* made[2] = {};
    Status* failed = f->call_tensors(in, 1, made, 2);
    ASSERT_EQ(failed, nullptr) << failed->message();
    const float changed = writes && !transposed ? 1 : 0, seen = writes ? 2 : 1;
    EXPECT_EQ(data(*Ref<Tensor>::adopt(made[0])), (Floats(4, changed))) << how;
    const Floats sums = data(*Ref<Tensor>::adopt(made[1]));
    EXPECT_EQ(sums[0], 2 + seen) << how;
    EXPECT_EQ(sums[3], 8 + seen) << how;
  }
}

TEST_F(Segments, that_are_followed_say_where_they_end_this_time) {
  const char* const places[] = {"a:1", "b:2", "c:3"};
  auto f = segmented([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    for (const char* place : places) {
      const Any args[] = {any(x), Any::real(2)};
      x = s.invoke("mul", args, nullptr, nullptr, 0, place);
      item(x);
    }
    out.push(Ref<Tensor>(x));
  });
  for (int call = 0; call < 4; call++) EXPECT_EQ(run(*f, {tensor({1}, {1}).get()}), (Floats{8})) << error;
  std::string report;
  for (const char* place : places)
    report += cat(place, ": the value of mul, f32[1], was read, after 1 line; 4 times\n");
  EXPECT_EQ(explain(*f, "breaks"), report);
  EXPECT_EQ(f->reports().statistics().segments, 1u);
}

TEST_F(Segments, that_are_followed_take_gradients_and_draws) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* loss = total(s, op(s, "mul", {any(x), any(x)}));
    Values wrt;
    wrt.push(Ref<Tensor>(x));
    Tensor* gradient = (*s.grad(loss, wrt))[0].tensor.get();
    item(loss);
    const int64_t two[] = {2};
    Tensor* drawn = op(s, "rand", {Any::dims(two)});
    item(drawn);
    out.push(Ref<Tensor>(gradient));
    out.push(Ref<Tensor>(drawn));
  });
  Floats last;
  for (int call = 0; call < 5; call++) {
    const float k = static_cast<float>(call);
    auto x = tensor({2}, {k, 1});
    Tensor* in[] = {x.get()};
    Tensor* made[2] = {};
    Status* failed = f->call_tensors(in, 1, made, 2);
    ASSERT_EQ(failed, nullptr) << failed->message();
    EXPECT_EQ(data(*Ref<Tensor>::adopt(made[0])), (Floats{2 * k, 2}));
    const Floats drawn = data(*Ref<Tensor>::adopt(made[1]));
    EXPECT_NE(drawn, last);
    last = drawn;
  }
}

TEST_F(Segments, say_where_and_why_they_end) {
  auto f = segmented([](Scope& s, const Values& in, Values& out) {
    Tensor* y = total(s, in[0].tensor.get());
    for (int i = 0; i < 3; i++) item(y), y = op(s, "neg", {any(y)});
    out.push(Ref<Tensor>(y));
  });
  run(*f, {tensor({2}, {1, 2}).get()});
  EXPECT_EQ(explain(*f, "breaks"), "here:1: the value of sum, f32[], was read, after 1 line; 1 time\n"
                                "here:1: the value of neg, f32[], was read, after 1 line; 2 times\n");
}

}  // namespace
}  // namespace thunder::test
