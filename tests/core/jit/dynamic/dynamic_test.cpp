// Sizes that vary: one trace for all of them, with the results that plain sizes give.
// covers: core/cache/recent_programs.cpp core/jit/record/dim_masks.cpp core/jit/dynamic/size_class.cpp
// covers: core/jit/record/input_symbols.cpp core/tracer/replayed_sizes.cpp core/tracer/tracing.cpp
// covers: core/tracer/tracing_words.cpp
#include "jit/dynamic/dynamic.h"
#include "jit/reports/explain.h"

#include "jit/programs/load_program.h"
#include "loops/kernels.h"
#include "support/folder.h"
#include "support/functions.h"
#include "tracer/tracing.h"

namespace thunder::test {
namespace {

struct DynamicSizesTest : CompiledTest {
  Ref<CompileOptions> dynamic(const char* name = "dynamic") {
    auto options = by_line();
    options->set(name, Any::boolean(true));
    return options;
  }
  Ref<Function> function(Lambda::Body body) {
    return Ref<Function>::adopt(new Lambda([this, body = std::move(body)](Scope& s, const Values& in, Values& out) {
      traced += s.tracing();
      body(s, in, out);
    }));
  }
  Ref<Compiled> of(Ref<Function> f, const CompileOptions* options) { return make<Compiled>(context, std::move(f), options); }
  // All results, one after the other.
  Floats all(Compiled& f, const std::vector<Ref<Tensor>>& in) {
    Values values, out;
    for (auto& t : in) values.push(t);
    if (Status* failed = f.call(values, out)) {
      error = failed->message();
      failed->release();
      return {};
    }
    Floats result;
    for (size_t i = 0; i < out.size(); i++) {
      result.push_back(static_cast<float>(out[i].tensor->type().rank()));
      for (float v : data(*out[i].tensor)) result.push_back(v);
    }
    return result;
  }
  int traced = 0;
};

TEST_F(DynamicSizesTest, trace_an_mlp_once_and_give_the_results_of_plain_sizes) {
  auto w = random({8, 4}, 1), b = random({8}, 2), v = random({3, 8}, 3);
  const Lambda::Body body = [&](Scope& s, const Values& in, Values& out) {
    Tensor* h = op(s, "gelu", {any(op(s, "linear", {any(in[0].tensor), any(w), any(b)}))});
    out.push(Ref<Tensor>(op(s, "cross_entropy", {any(op(s, "linear", {any(h), any(v)})), any(in[1].tensor)})));
  };
  auto parameters = make<Values>();
  for (const auto& t : {w, b, v}) parameters->push(t);
  auto f = of(value_and_grad(function(body), "", parameters), dynamic().get());
  auto plain = of(value_and_grad(Ref<Function>::adopt(new Lambda(body)), "", parameters), by_line().get());
  int first = 0;  // it is traced until the sizes are found that the parameters have
  for (int64_t batch : {5, 9, 2, 33, 9, 5}) {
    auto x = random({batch, 4}, static_cast<uint32_t>(batch));
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < batch; i++) labels.push_back(i % 3);
    auto y = integers({batch}, labels);
    EXPECT_EQ(all(*f, {x, y}), all(*plain, {x, y})) << batch << error;
    if (!first) first = traced;
  }
  EXPECT_EQ(traced, first);
  EXPECT_EQ(first, 3);
  EXPECT_EQ(f->reports().statistics().misses, 4u);
  EXPECT_EQ(f->reports().statistics().hits, 2u);
  EXPECT_EQ(f->reports().statistics().entries, 4u);
}

TEST_F(DynamicSizesTest, what_has_been_seen_to_vary_stands_for_any_size_unless_told_otherwise) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "softmax", {any(in[0].tensor), Any::integer(-1)}))); };
  auto f = of(function(body), by_line().get());
  for (int64_t batch : {3, 4, 5, 6, 4}) all(*f, {random({batch, 7}, 1)});
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f->reports().statistics().misses, 4u);
  EXPECT_NE(explain(*f, "guards").find("size(0, 0) == s0"), std::string::npos) << explain(*f, "guards");
  EXPECT_NE(explain(*f, "guards").find("size(0, 1) == 7"), std::string::npos) << explain(*f, "guards");
  EXPECT_NE(explain(*f, "guards").find("s0 >= 2"), std::string::npos) << explain(*f, "guards");
  auto options = by_line();
  options->set("dynamic", Any::boolean(false));
  auto plain = of(function(body), options.get());
  traced = 0;
  for (int64_t batch : {3, 4, 5, 6, 4}) all(*plain, {random({batch, 7}, 1)});
  EXPECT_EQ(traced, 4);
}

TEST_F(DynamicSizesTest, a_marked_size_is_a_symbol_from_the_first_call_on_within_its_range) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }), by_line().get());
  auto x = random({4, 3}, 1);
  context->size_marks().mark(x, -2, {SizeMark::Kind::varies, 2, 8});
  all(*f, {x});
  EXPECT_EQ(traced, 1);
  EXPECT_NE(explain(*f, "guards").find("size(0, 0) == s0"), std::string::npos) << explain(*f, "guards");
  EXPECT_NE(explain(*f, "guards").find("size(0, 0) <= 8"), std::string::npos) << explain(*f, "guards");
  all(*f, {random({8, 3}, 1)});
  EXPECT_EQ(traced, 1);
  all(*f, {random({9, 3}, 1)});
  EXPECT_EQ(traced, 2);
}

TEST_F(DynamicSizesTest, a_marked_size_that_cannot_vary_is_an_error_unless_it_only_may) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::integer(hint(in[0].tensor->type().shape[0]))})));
  }), by_line().get());
  auto x = random({4, 3}, 1), one = random({1, 3}, 1);
  context->size_marks().mark(x, 0, {SizeMark::Kind::varies});
  EXPECT_TRUE(all(*f, {x}).empty());
  EXPECT_EQ(error, "f: dim 0 of input '0', f32[4, 3], is marked to vary and cannot: the function looks at it as a number, or writes tensors in place; "
                   "maybe_mark_dynamic leaves that to the function");
  context->size_marks().mark(x, 0, {SizeMark::Kind::may_vary, 0});
  EXPECT_FALSE(all(*f, {x}).empty()) << error;
  EXPECT_THROW(context->size_marks().mark(one, 0, {SizeMark::Kind::varies}), Error);
  context->size_marks().mark(one, 0, {SizeMark::Kind::varies, 0});
  EXPECT_TRUE(all(*f, {one}).empty());
  EXPECT_NE(error.find("0 and 1 are sizes of their own"), std::string::npos) << error;
}

TEST_F(DynamicSizesTest, a_static_size_stands_for_no_other) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }), dynamic().get());
  for (int64_t n : {2, 3, 4}) {
    auto x = random({n, 5}, 1);
    context->size_marks().mark(x, 0, {SizeMark::Kind::fixed});
    all(*f, {x});
  }
  EXPECT_EQ(traced, 3);
}

TEST_F(DynamicSizesTest, a_mark_holds_no_tensor_for_long) {
  SizeMarks& marks = context->size_marks();
  auto x = random({4}, 1), y = random({4}, 1);
  const auto seen = x;
  marks.mark(x, 0, {SizeMark::Kind::fixed});
  x = nullptr;
  EXPECT_FALSE(seen->unique());
  marks.mark(y, 0, {SizeMark::Kind::fixed});
  EXPECT_FALSE(seen->unique());  // somebody else has it still
  EXPECT_EQ(marks.marks_of(*seen).size(), 1u);
}

TEST_F(DynamicSizesTest, what_is_compared_is_a_condition_and_no_number) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    const Dim n = in[0].tensor->type().shape[0];
    const bool long_one = compare(Dim(5), DimCondition::Is::at_most, n);
    out.push(Ref<Tensor>(op(s, long_one ? "neg" : "abs", {any(in[0].tensor)})));
  }), dynamic().get());
  const auto on = [&](int64_t n) { return all(*f, {tensor({n}, Floats(static_cast<size_t>(n), 2))})[1]; };
  EXPECT_EQ(on(7), -2.0f);
  EXPECT_EQ(on(5), -2.0f);
  EXPECT_EQ(traced, 1);
  EXPECT_NE(explain(*f, "guards").find("s0 >= 5"), std::string::npos) << explain(*f, "guards");
  EXPECT_EQ(on(4), 2.0f);
  EXPECT_EQ(traced, 2);
  EXPECT_NE(explain(*f, "guards").find("s0 < 5"), std::string::npos) << explain(*f, "guards");
  EXPECT_EQ(on(3), 2.0f);
  EXPECT_EQ(on(9), -2.0f);
  EXPECT_EQ(traced, 2);
}

TEST_F(DynamicSizesTest, automatic_ones_are_those_that_were_seen_to_vary) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "softmax", {any(in[0].tensor), Any::integer(-1)}))); }),
              dynamic("automatic_dynamic_shapes").get());
  for (int64_t batch : {3, 4, 5, 6}) all(*f, {random({batch, 7}, 1)});
  EXPECT_EQ(traced, 2);
  all(*f, {random({6, 8}, 1)});
  EXPECT_EQ(traced, 3);
  all(*f, {random({9, 10}, 1)});
  EXPECT_EQ(traced, 3) << error;
}

TEST_F(DynamicSizesTest, a_size_that_the_function_looks_at_is_a_plain_one) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    const int64_t n = hint(in[0].tensor->type().shape[0]);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::integer(n)})));
  }), dynamic().get());
  for (int64_t n : {2, 3}) EXPECT_EQ(all(*f, {tensor({n, 2}, Floats(static_cast<size_t>(2 * n), 1))})[1], static_cast<float>(n));
  const int before = traced;
  EXPECT_EQ(all(*f, {tensor({3, 5}, Floats(15, 1))})[1], 3.0f);  // the other dim still stands for any size
  EXPECT_EQ(traced, before);
}

TEST_F(DynamicSizesTest, zero_and_one_are_sizes_of_their_own) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    const int64_t first = 0;
    out.push(Ref<Tensor>(op(s, "squeeze", {any(in[0].tensor), Any::dims({&first, 1})})));
  };
  auto f = of(function(body), dynamic().get()), plain = of(Ref<Function>::adopt(new Lambda(body)), by_line().get());
  for (int64_t n : {4, 1, 0, 2}) {
    auto x = random({n, 3}, 1);
    EXPECT_EQ(all(*f, {x}), all(*plain, {x})) << n;
  }
}

TEST_F(DynamicSizesTest, a_part_of_one_element_is_not_taken_for_a_longer_one) {
  // What is left of two rows after the first has size 1, which squeeze takes away.
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    const int64_t first = 0;
    Tensor* rest = op(s, "slice", {any(in[0].tensor), Any::integer(0), Any::integer(1)});
    out.push(Ref<Tensor>(op(s, "squeeze", {any(rest), Any::dims({&first, 1})})));
  };
  auto f = of(function(body), dynamic().get()), plain = of(Ref<Function>::adopt(new Lambda(body)), by_line().get());
  for (int64_t n : {5, 2, 3}) {
    auto x = random({n, 3}, 1);
    EXPECT_EQ(all(*f, {x}), all(*plain, {x})) << n << error;
  }
}

TEST_F(DynamicSizesTest, equal_sizes_stand_for_one_another_and_others_are_traced_again) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))); };
  auto f = of(function(body), dynamic().get()), plain = of(Ref<Function>::adopt(new Lambda(body)), by_line().get());
  const auto both = [&](int64_t m, int64_t k, int64_t n) {
    auto x = random({m, k}, 1), y = random({k, n}, 2);
    EXPECT_EQ(all(*f, {x, y}), all(*plain, {x, y})) << m << k << n << error;
  };
  both(3, 3, 3), both(4, 4, 4);
  EXPECT_EQ(traced, 1);
  both(2, 5, 7), both(3, 4, 8);
  EXPECT_EQ(traced, 2);
}

TEST_F(DynamicSizesTest, a_function_that_writes_in_place_is_traced_once) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(in[0].tensor), Any::real(1)});
    out.push(in[0].tensor);
  }), dynamic().get());
  for (int64_t n : {2, 3, 5}) {
    auto x = tensor({n}, Floats(static_cast<size_t>(n), 1));
    all(*f, {x});
    EXPECT_EQ(data(*x), Floats(static_cast<size_t>(n), 2));
  }
  EXPECT_EQ(f->reports().statistics().misses, 3u);
  EXPECT_EQ(traced, 1);
}

TEST_F(DynamicSizesTest, a_write_reaches_what_it_reaches_for_plain_sizes) {
  // The rows that are left of a matrix lie as one run where all of them are: only there is the flat form a view that writes through.
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    const int64_t flat = -1;
    Tensor* part = op(s, "slice", {any(in[0].tensor), Any::integer(1), Any::integer(0), Any::integer(3)});
    op(s, "add_", {any(op(s, "reshape", {any(part), Any::dims({&flat, 1})})), Any::real(1)});
    out.push(in[0].tensor);
  };
  auto f = of(function(body), dynamic().get()), plain = of(Ref<Function>::adopt(new Lambda(body)), by_line().get());
  for (int64_t n : {5, 3, 4, 2, 7, 3}) {
    auto x = random({2, n}, 1), y = random({2, n}, 1);
    EXPECT_EQ(all(*f, {x}), all(*plain, {y})) << n << error;
    EXPECT_EQ(data(*x), data(*y)) << n;
  }
}

TEST_F(DynamicSizesTest, an_integer_that_varies_is_a_live_number) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    const Any n = Any::integer(in[1].word ? in[1].word : in[1].i);
    if (!in[1].word) in.note_read(1);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), n})));
  }), by_line().get());
  const auto on = [&](int64_t n) {
    Values in, out;
    in.push(tensor({2}, {1, 2})), in.push(Any::integer(n));
    Status* failed = f->call(in, out);
    EXPECT_EQ(failed, nullptr) << failed->message();
    return data(*out[0].tensor)[1];
  };
  for (int64_t n : {3, 4, 0, -5, 1 << 20}) EXPECT_EQ(on(n), static_cast<float>(2 * n));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_NE(explain(*f, "guards").find("leaf 1 == s0\n"), std::string::npos) << explain(*f, "guards");
}

TEST_F(DynamicSizesTest, an_integer_that_says_where_a_part_begins_is_one_trace_and_a_program_each) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    const Any n = Any::integer(in[1].word ? in[1].word : in[1].i);
    Tensor* row = op(s, "select", {any(in[0].tensor), Any::integer(0), n});
    op(s, "copy_", {any(row), Any::tensor(op(s, "mul", {any(row), n}))});
    out.push(Ref<Tensor>(op(s, "slice", {any(in[0].tensor), Any::integer(0), Any::integer(0), n})));
  }), by_line().get());
  auto x = tensor({6}, {1, 1, 1, 1, 1, 1});
  for (int64_t n : {1, 2, 3, 5}) {
    Values in, out;
    in.push(x), in.push(Any::integer(n));
    Status* failed = f->call(in, out);
    ASSERT_EQ(failed, nullptr) << failed->message();
    EXPECT_EQ(out[0].tensor->sizes()[0], n);
  }
  EXPECT_EQ(data(*x), (Floats{1, 1, 2, 3, 1, 5}));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f->reports().statistics().misses, 4u);
}

TEST_F(DynamicSizesTest, what_was_compared_of_a_live_integer_is_checked_at_each_call) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    auto& scope = dynamic_cast<TracingScope&>(s);
    const Dim n = in[1].word ? scope.dim_of(in[1].word) : Dim(in[1].i);
    const bool small = compare(n, DimCondition::Is::less, 10);
    out.push(Ref<Tensor>(op(s, small ? "add" : "sub", {any(in[0].tensor), Any::integer(scope.word(n))})));
  }), dynamic().get());
  const auto on = [&](int64_t n) {
    Values in, out;
    in.push(tensor({1}, {100})), in.push(Any::integer(n));
    EXPECT_EQ(f->call(in, out), nullptr);
    return data(*out[0].tensor)[0];
  };
  for (int64_t n : {2, 9, 10, 3, 40, -1}) EXPECT_EQ(on(n), static_cast<float>(n < 10 ? 100 + n : 100 - n));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
}

TEST_F(DynamicSizesTest, an_error_is_that_of_plain_sizes) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor), any(in[1].tensor)}))); }), dynamic().get());
  all(*f, {random({2, 3}, 1), random({2, 3}, 2)});
  EXPECT_TRUE(all(*f, {random({2, 3}, 1), random({2, 4}, 2)}).empty());
  EXPECT_NE(error.find("shapes [2, 3] and [2, 4] do not broadcast"), std::string::npos) << error;
}

TEST_F(DynamicSizesTest, constants_and_floats_that_were_read_are_guarded_as_ever) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    in.note_read(1), in.note_read(2);
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(in[1].f + static_cast<double>(in[2].i))})));
  }), dynamic().get());
  const auto on = [&](int64_t n, double scale, int64_t shift) {
    Values in, out;
    in.push(tensor({n}, Floats(static_cast<size_t>(n), 1))), in.push(Any::real(scale)), in.push(Any::integer(shift));
    EXPECT_EQ(f->call(in, out), nullptr);
    return data(*out[0].tensor)[0];
  };
  EXPECT_EQ(on(2, 0.5, 1), 1.5f);
  const int first = traced;  // until it is known that the integer is read
  EXPECT_EQ(on(3, 0.5, 1), 1.5f);
  EXPECT_EQ(traced, first);
  EXPECT_EQ(on(3, 2.5, 1), 3.5f);
  EXPECT_EQ(on(3, 0.5, 2), 2.5f);
  EXPECT_EQ(on(3, 0.5, 1), 1.5f);
}

TEST_F(DynamicSizesTest, random_numbers_are_those_of_plain_sizes) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor)}))); };
  auto f = of(function(body), dynamic().get()), plain = of(Ref<Function>::adopt(new Lambda(body)), by_line().get());
  auto* state = reinterpret_cast<int64_t*>(context->random()->data());
  for (int64_t n : {8, 16, 32}) {
    auto x = tensor({n}, Floats(static_cast<size_t>(n), 1));
    state[1] = 0;
    const Floats wanted = all(*plain, {x});
    state[1] = 0;
    EXPECT_EQ(all(*f, {x}), wanted) << error;
  }
  EXPECT_EQ(traced, 1);
}

TEST_F(DynamicSizesTest, many_sizes_keep_no_more_programs_than_there_may_be) {
  constexpr auto kSizes = static_cast<int64_t>(RecentPrograms::kMost) + 30;
  auto f = of(function([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }), dynamic().get());
  for (int64_t n = 2; n < 2 + kSizes; n++) EXPECT_EQ(all(*f, {tensor({n}, Floats(static_cast<size_t>(n), 1))}), [&] {
    Floats wanted(static_cast<size_t>(n) + 1, -1);
    wanted[0] = 1;
    return wanted;
  }()) << error;
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(f->reports().statistics().entries, RecentPrograms::kMost + 8);
  EXPECT_EQ(f->reports().statistics().misses, static_cast<uint64_t>(kSizes));
  for (int64_t n = 40; n < 2 + kSizes; n++) all(*f, {tensor({n}, Floats(static_cast<size_t>(n), 1))});
  EXPECT_EQ(f->reports().statistics().misses, static_cast<uint64_t>(kSizes)) << "the sizes seen last have their programs";
}

TEST_F(DynamicSizesTest, a_plan_that_was_not_used_for_a_while_has_no_memory_until_it_is_called) {
  auto f = of(function([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    out.push(Ref<Tensor>(op(s, "matmul", {any(op(s, "matmul", {any(x), any(x)})), any(x)})));
  }), dynamic().get());
  const auto call = [&](int64_t n) {
    auto x = tensor({n, n}, Floats(static_cast<size_t>(n * n), 1));
    return all(*f, {x})[1] == static_cast<float>(n * n);
  };
  const auto used = [&] { return context->block_cache()->statistics().used; };
  for (int64_t n = 2; n < 120; n++) EXPECT_TRUE(call(n)) << n << error;
  const size_t before = used();
  EXPECT_TRUE(call(80));  // between the last ones of that size and those that are gone
  EXPECT_TRUE(call(80));
  EXPECT_EQ(f->reports().statistics().misses, 118u);
  EXPECT_LT(used(), before + 200000);
  size_t kept = 0;  // had all plans that are kept their memory
  for (int64_t n = 10; n < 120; n++) kept += static_cast<size_t>(4 * n * n);
  EXPECT_LT(used(), kept / 2);
}

TEST_F(DynamicSizesTest, no_kernel_is_compiled_after_a_few_new_sizes_of_a_block_that_is_trained) {
  if (!loops::can_compile()) GTEST_SKIP() << "no module that compiles";
  constexpr int64_t kWidth = 16;
  auto scale = random({kWidth}, 1), shift = random({kWidth}, 2), in_weight = random({3 * kWidth, kWidth}, 3), out_weight = random({kWidth, kWidth}, 4);
  const Lambda::Body body = [&](Scope& s, const Values& in, Values& out) {
    const int64_t width = kWidth;
    Tensor* x = op(s, "layer_norm", {any(in[0].tensor), Any::dims({&width, 1}), any(scale), any(shift)});
    Tensor* projected = op(s, "linear", {any(x), any(in_weight)});
    const auto part = [&](int64_t i) { return op(s, "narrow", {any(projected), Any::integer(-1), Any::integer(i * width), Any::integer(width)}); };
    Tensor* scores = op(s, "matmul", {any(part(0)), any(op(s, "transpose", {any(part(1)), Any::integer(-1), Any::integer(-2)}))});
    Tensor* seen = op(s, "matmul", {any(op(s, "softmax", {any(scores), Any::integer(-1)})), any(part(2))});
    Tensor* y = op(s, "add", {any(in[0].tensor), any(op(s, "gelu", {any(op(s, "linear", {any(seen), any(out_weight)}))}))});
    out.push(Ref<Tensor>(op(s, "mean", {any(op(s, "mul", {any(y), any(y)}))})));
  };
  auto parameters = make<Values>();
  for (const auto& t : {scale, shift, in_weight, out_weight}) parameters->push(t);
  const auto every = make<CompileOptions>();
  auto f = of(value_and_grad(function(body), "", parameters), every.get());
  every->set("dynamic", Any::boolean(false));
  every->set("recompile_limit", Any::integer(100));
  auto plain = of(value_and_grad(Ref<Function>::adopt(new Lambda(body)), "", parameters), every.get());
  uint64_t before = 0;
  int seen = 0;
  for (int64_t i = 0; i < 60; i++) {
    const int64_t length = 2 + i * 37 % 61;
    auto x = random({2, length, kWidth}, static_cast<uint32_t>(length));
    if (i == 20) before = loops::kernel_statistics().compiled + loops::kernel_statistics().loaded, seen = traced;
    const Floats ours = all(*f, {x});
    if (i < 20) {
      EXPECT_EQ(ours, all(*plain, {x})) << length << error;
    }
  }
  EXPECT_EQ(loops::kernel_statistics().compiled + loops::kernel_statistics().loaded, before);
  EXPECT_EQ(traced, seen);
  EXPECT_LE(traced, 3);
}

TEST_F(DynamicSizesTest, a_proxy_that_was_kept_says_what_was_seen) {
  Ref<Tensor> kept;
  auto f = of(function([&](Scope& s, const Values& in, Values& out) {
    kept = Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}));
    out.push(kept);
  }), dynamic().get());
  all(*f, {random({4, 3}, 1)});
  f = nullptr;
  EXPECT_EQ(name(kept->type()), "f32[4, 3]");
}

TEST_F(DynamicSizesTest, programs_are_saved_with_their_symbols) {
  Folder folder;
  auto w = random({3, 4}, 1);
  auto f = of(function([&](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "linear", {any(in[0].tensor), any(w)}))); }), dynamic().get());
  all(*f, {random({2, 4}, 1)});
  save_program(*f, folder / "f");
  const LoadedProgram p = load_program(context, folder / "f", nullptr);
  auto g = make<Compiled>(context, p.function, p.options.get());
  for (int64_t n : {5, 2, 7}) {
    auto x = random({n, 4}, static_cast<uint32_t>(n));
    EXPECT_EQ(all(*g, {x}), all(*f, {x})) << error;
  }
  EXPECT_EQ(g->reports().statistics().entries, 3u);
  EXPECT_TRUE(all(*g, {random({1, 4}, 1)}).empty());
  EXPECT_NE(error.find("a size that varies is 1, it was made for 2 and more"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
