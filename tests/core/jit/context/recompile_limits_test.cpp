// Past the recompile limit: what was kept stays, what fits nothing runs all the same, and one warning says so.
// covers: core/jit/miss.cpp
#include "support/functions.h"
#include "support/pieces.h"

namespace thunder::test {
namespace {

struct Limit : CompiledTest {
  Limit() {
    ContextHooks hooks;
    hooks.user = &log;
    hooks.log = [](int32_t level, const char*, const char* text, size_t bytes, void* user) {
      if (level >= 2) static_cast<std::vector<std::string>*>(user)->emplace_back(text, bytes);
    };
    context = test::seeded_context(hooks);
  }
  // Without sizes that vary, unless `dynamic`.
  Ref<Compiled> limited(int64_t limit, bool fail = false, bool dynamic = false) {
    auto options = make<CompileOptions>();
    if (!dynamic) options->set("dynamic", Any::boolean(false));
    options->set("recompile_limit", Any::integer(limit));
    options->set("fail_on_recompile_limit", Any::boolean(fail));
    options->add_executor(pieces_executor(choice));
    return compile([](Scope& s, const Values& in, Values& out) {
      Tensor* y = op(s, "mul", {any(in[0].tensor.get()), any(in[0].tensor.get())});
      out.push(Ref<Tensor>(op(s, "add", {any(y), Any::real(1)})));
    }, options.get());
  }
  Floats on(Compiled& f, int64_t size) {
    auto x = tensor({size}, Floats(static_cast<size_t>(size), 2));
    return run(f, {x.get()});
  }
  std::vector<std::string> log;
  Pieces choice;
};

TEST_F(Limit, keeps_the_programs_below_it_and_compiles_others_for_one_call) {
  auto f = limited(2);
  for (int64_t size : {1, 2, 3, 4, 3, 1}) EXPECT_EQ(on(*f, size), Floats(static_cast<size_t>(size), 5)) << error;
  EXPECT_EQ(f->reports().statistics().entries, 2u);
  EXPECT_EQ(f->reports().statistics().misses, 5u);
  EXPECT_EQ(f->reports().last_miss(), "input '0': shape is [3], was [2]");
}

TEST_F(Limit, asks_no_fusion_executor_for_one_call) {
  auto f = limited(1);
  on(*f, 1);
  const auto fused = choice.prepared;
  on(*f, 2);
  EXPECT_EQ(fused.size(), 1u);
  EXPECT_EQ(choice.prepared, fused);
}

TEST_F(Limit, warns_once) {
  auto f = limited(1);
  for (int64_t size : {1, 2, 3}) on(*f, size);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0], "f: compiled 1 times, which is the recompile_limit; last miss: input '0': shape is [2], was [1]; from now on what "
                    "fits none of these programs is compiled for each call alone, without fusion");
}

TEST_F(Limit, is_an_error_when_asked_for) {
  auto f = limited(1, true);
  EXPECT_EQ(on(*f, 1), (Floats{5}));
  EXPECT_TRUE(on(*f, 2).empty());
  EXPECT_EQ(error, "f: compiled 1 times, which is the recompile_limit; last miss: input '0': shape is [2], was [1]");
  EXPECT_EQ(on(*f, 1), (Floats{5})) << "what was kept still runs";
}

TEST_F(Limit, other_sizes_of_one_trace_are_beyond_it_without_a_warning_and_are_fused) {
  auto f = limited(2, true, true);
  for (int64_t size : {2, 3, 4, 5, 4, 2}) EXPECT_EQ(on(*f, size), Floats(static_cast<size_t>(size), 5)) << error;
  EXPECT_EQ(f->reports().statistics().entries, 4u);
  EXPECT_EQ(f->reports().statistics().misses, 4u);
  EXPECT_EQ(choice.prepared.size(), 4u);
  EXPECT_TRUE(log.empty());
}

TEST_F(Limit, what_cannot_vary_is_fused_beyond_it_and_kept_for_a_while) {
  auto options = make<CompileOptions>();
  options->set("recompile_limit", Any::integer(1));
  options->add_executor(pieces_executor(choice));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    in.note_read(1);
    Tensor* y = op(s, "mul", {any(in[0].tensor.get()), Any::integer(in[1].i)});
    out.push(Ref<Tensor>(op(s, "add", {any(y), Any::real(1)})));
  }, options.get());
  for (int64_t factor : {1, 2, 3, 2, 3}) {
    Values in, out;
    in.push(tensor({1}, {1})), in.push(Any::integer(factor));
    ASSERT_EQ(f->call(in, out), nullptr);
    EXPECT_EQ(data(*out[0].tensor), (Floats{static_cast<float>(factor) + 1}));
  }
  EXPECT_EQ(f->reports().statistics().misses, 3u);
  EXPECT_EQ(f->reports().statistics().entries, 3u);
  EXPECT_EQ(choice.prepared.size(), 3u);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log[0].find("is kept only as long as it is among those used last"), std::string::npos) << log[0];
}

// Two segments of two lines each, of which the second reads what the first has made.
Ref<CompileOptions> in_segments(Pieces& choice) {
  auto options = make<CompileOptions>();
  options->set("fullgraph", Any::boolean(false));
  options->set("recompile_limit", Any::integer(2));
  options->set("accumulated_recompile_limit", Any::integer(4));
  options->set("fail_on_recompile_limit", Any::boolean(true));
  options->add_executor(pieces_executor(choice));
  return options;
}
void read_between(Scope& s, const Values& in, Values& out) {
  const auto lines = [&](Tensor* x) { return op(s, "add", {any(op(s, "mul", {any(x), any(x)})), Any::real(1)}); };
  Tensor* y = lines(in[0].tensor.get());
  EXPECT_TRUE(y->concrete() || y->owner()->give_data(*y, nullptr));
  out.push(Ref<Tensor>(lines(y)));
}

TEST_F(Limit, segments_of_other_sizes_are_beyond_both_limits_without_a_warning_and_are_fused) {
  auto f = compile(read_between, in_segments(choice).get());
  for (int64_t size : {2, 3, 4, 5, 4, 2, 3, 5})
    EXPECT_EQ(on(*f, size), Floats(static_cast<size_t>(size), 26)) << error;
  EXPECT_EQ(f->reports().statistics().segments, 4u);  // of two sizes, for good
  EXPECT_EQ(f->reports().statistics().misses, 8u);
  EXPECT_EQ(choice.prepared.size(), 8u);
  EXPECT_TRUE(log.empty());
}

TEST_F(Limit, segments_of_each_size_count_where_none_vary) {
  auto options = in_segments(choice);
  options->set("dynamic", Any::boolean(false));
  auto f = compile(read_between, options.get());
  for (int64_t size : {2, 3}) EXPECT_EQ(on(*f, size), Floats(static_cast<size_t>(size), 26)) << error;
  EXPECT_TRUE(on(*f, 4).empty());
  EXPECT_NE(error.find("which is the accumulated_recompile_limit"), std::string::npos) << error;
}

TEST_F(Limit, of_nothing_is_refused) { EXPECT_THROW(limited(0), Error); }

}  // namespace
}  // namespace thunder::test
