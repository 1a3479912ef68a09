// Past the recompile limit: what was kept stays, what fits nothing runs all the same, and one warning says so.
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
    context = make<Context>(hooks);
  }
  Ref<Compiled> limited(int64_t limit, bool fail = false) {
    auto options = make<CompileOptions>();
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
  EXPECT_EQ(f->statistics().entries, 2u);
  EXPECT_EQ(f->statistics().misses, 5u);
  EXPECT_EQ(f->last_miss(), "input '0': shape is [3], was [2]");
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

TEST_F(Limit, of_nothing_is_refused) { EXPECT_THROW(limited(0), Error); }

}  // namespace
}  // namespace thunder::test
