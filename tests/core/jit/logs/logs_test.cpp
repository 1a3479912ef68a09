// For each log a program that it says something of. Covers jit/logs and jit/perf_hints.
#include "jit/logs/logs.h"

#include <regex>

#include "support/functions.h"
#include "support/machines.h"
#include "support/pieces.h"

namespace thunder::test {
namespace {

struct Logs : CompiledTest {
  Logs() {
    ContextHooks hooks;
    hooks.user = &lines;
    hooks.log = [](int32_t level, const char* name, const char* text, size_t bytes, void* user) {
      static_cast<std::vector<std::string>*>(user)->push_back(cat(level, " ", name, " ", std::string_view(text, bytes)));
    };
    context = seeded_context(hooks);
  }
  static void normalised(Scope& s, const Values& in, Values& out) {
    Tensor* e = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "mul", {any(e), any(e)})));
  }
  std::string with(std::string_view logs, const CompileOptions* options = nullptr, std::vector<int64_t> sizes = {3}) {
    context->set_logs(logs);
    auto f = compile(normalised, options);
    for (int64_t n : sizes) run(*f, {random({n}, 1).get()});
    EXPECT_EQ(error, "");
    return all();
  }
  std::string all() const { return join(lines, "\n", [](auto& line) { return line; }); }
  bool says(const std::string& pattern) const {
    for (auto& line : lines)
      if (std::regex_search(line, std::regex(pattern))) return true;
    return false;
  }
  std::vector<std::string> lines;
};

TEST_F(Logs, are_silent_by_themselves) { EXPECT_EQ(with(""), ""); }

TEST_F(Logs, name_the_function_the_users_line_and_the_time) {
  with("guards");
  EXPECT_TRUE(says(R"(^1 guards \d\d:\d\d:\d\d\.\d{3} f at here:1: size\(0, 0\) == 3)")) << all();
}

TEST_F(Logs, of_recompiles_say_which_input_differed) {
  with("recompiles", nullptr, {3, 4});
  ASSERT_EQ(lines.size(), 1u) << all();
  EXPECT_TRUE(says(R"(recompiles .*compiled again: input '0': shape is \[4\], was \[3\])")) << all();
  with("+recompiles");
  EXPECT_TRUE(says("0 recompiles .*compiled: ")) << all();
}

TEST_F(Logs, of_dynamic_sizes_say_which_stand_for_any) {
  with("dynamic", nullptr, {3, 4});
  EXPECT_TRUE(says("dynamic .*dim 0 of input '0': any size of 2 and more fits")) << all();
}

TEST_F(Logs, of_fusion_say_which_lines_became_one_kernel) {
  Pieces choice;
  auto options = make<CompileOptions>();
  options->add_executor(pieces_executor(choice));
  with("fusion", options.get());
  EXPECT_TRUE(says("1 fusion .*one kernel of 2 lines: prims.exp, prims.mul")) << all();
}

TEST_F(Logs, of_the_schedule_have_a_line_for_each_step) {
  auto options = only("host");
  with("schedule", options.get());
  EXPECT_TRUE(says("schedule .*step 1: prims.exp by host at here:1")) << all();
  EXPECT_TRUE(says("schedule .*step 2: ")) << all();
}

TEST_F(Logs, of_output_code_have_the_last_trace_and_in_detail_each) {
  with("output_code");
  EXPECT_TRUE(says("1 output_code .*function")) << all();
  const size_t last = lines.size();
  lines.clear();
  with("+output_code");
  EXPECT_GT(lines.size(), last);
}

TEST_F(Logs, of_hints_name_what_the_reference_alone_computes) {
  auto options = only("host");
  with("perf_hints", options.get(), {1 << 14});
  EXPECT_TRUE(says("perf_hints .*step 1: prims.exp at here:1 is computed by the reference alone")) << all();
  lines.clear();
  with("perf_hints", options.get(), {4});
  EXPECT_EQ(all(), "") << "too small to matter";
}

TEST_F(Logs, of_graphs_say_why_nothing_is_recorded) {
  auto options = make<CompileOptions>();
  options->set("use_cudagraphs", Any::boolean(true));
  with("cudagraphs", options.get());
  EXPECT_TRUE(says("cudagraphs .*recorded")) << all();
}

TEST_F(Logs, of_memory_say_how_much_and_in_detail_where) {
  with("memory");
  EXPECT_TRUE(says("1 memory .*a call: [0-9]+ bytes at most")) << all();
}

TEST_F(Logs, of_autotuning_say_what_was_the_fastest) {
  if (this_machine().instructions == Instructions::none) GTEST_SKIP() << "no vectors to multiply with";
  auto options = make<CompileOptions>();
  options->set("max_autotune", Any::boolean(true));
  context->set_logs("autotuning");
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor.get()), any(in[1].tensor.get())})));
  }, options.get());
  run(*f, {random({64, 64}, 1).get(), random({64, 64}, 2).get()});
  EXPECT_TRUE(says("autotuning .*matmul at here:1: the fastest was ")) << all() << error;
}

TEST_F(Logs, of_breaks_name_the_read) {
  context->set_logs("graph_breaks");
  auto options = make<CompileOptions>();
  options->set("fullgraph", Any::boolean(false));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Ref<Tensor> sum(op(s, "sum", {any(in[0].tensor.get())}));
    sum->owner()->give_data(*sum, "here:2");
    out.push(sum);
  }, options.get());
  run(*f, {random({3}, 1).get()});
  EXPECT_TRUE(says("graph_breaks .*at here:2: the value of sum, f32.., was read")) << all() << error;
}

TEST_F(Logs, refuse_an_unknown_name_with_the_nearest) {
  try {
    context->set_logs("gaurds");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.message()).find("did you mean 'guards'?"), std::string::npos);
  }
}

TEST_F(Logs, of_the_environment_stay_what_they_are) {
  setenv("THUNDER_LOGS", "guards", 1);
  auto asked = make<Context>(ContextHooks());
  unsetenv("THUNDER_LOGS");
  asked->set_logs("memory");
  EXPECT_TRUE(asked->logs(LogName::guards, LogLevel::info));
  EXPECT_FALSE(asked->logs(LogName::memory, LogLevel::info));
}

TEST_F(Logs, of_the_environment_refuse_an_unknown_name) {
  setenv("THUNDER_LOGS", "fuse", 1);
  EXPECT_THROW(make<Context>(ContextHooks()), Error);
  unsetenv("THUNDER_LOGS");
}

}  // namespace
}  // namespace thunder::test
