// A profile has a row for each step, with what it has to do. Covers jit/reports: profile, profile_text, limits, compile_stats, option_use, graph,
// kernel_sources, html, and program: watch, cost.
// covers: core/jit/compiled_reports.cpp core/jit/reports/compile_stats.cpp core/jit/logs/graph.cpp core/jit/reports/html.cpp
// covers: core/jit/reports/kernel_sources.cpp core/jit/reports/limits.cpp core/jit/reports/option_use.cpp
// covers: core/jit/reports/profile_text.cpp core/program/cost.cpp core/program/watch.cpp
#include "jit/reports/profile.h"

#include "jit/reports/explain.h"
#include "jit/reports/html.h"
#include "loops/kernels.h"
#include "support/functions.h"
#include "support/pieces.h"

namespace thunder::test {
namespace {

struct Profiles : CompiledTest {
  static void formula(Scope& s, const Values& in, Values& out) {
    Tensor* e = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "matmul", {any(e), any(in[0].tensor.get())})));
  }
  Values with(const Ref<Tensor>& x) {
    Values in;
    in.push(Ref<Tensor>(x));
    return in;
  }
  Ref<Tensor> x = random({4, 4}, 1);
};

TEST_F(Profiles, have_the_time_bytes_and_operations_of_each_step_and_the_users_line) {
  auto f = compile(formula, only("host").get());
  const Profile p = profile(*f, with(x), 3);
  EXPECT_EQ(p.runs, 3u);
  ASSERT_EQ(p.steps.size(), 2u);
  EXPECT_EQ(p.steps[0].ops, "prims.exp");
  EXPECT_EQ(p.steps[0].executor, "host");
  EXPECT_EQ(p.steps[0].where, "here:1");
  EXPECT_EQ(p.steps[0].flops, 16);
  EXPECT_EQ(p.steps[0].bytes, 2 * 16 * 4);
  EXPECT_EQ(p.steps[1].flops, 2 * 4 * 4 * 4);
  EXPECT_GT(p.limits.gflops, 0) << p.limits.trouble;
  EXPECT_GT(p.limits.gbytes, 0) << p.limits.trouble;
  for (const ProfiledStep& s : p.steps) EXPECT_GT(s.share, 0);
  EXPECT_EQ(f->reports().statistics().calls, 4u) << "the one that compiles, and three";
}

TEST_F(Profiles, time_each_collective_alone_and_exposed) {
  const auto summed = [](Scope& s, const Values& in, Values& out) {
    Tensor* e = op(s, "exp", {any(in[0].tensor.get())});
    Tensor* sum = op(s, "all_reduce", {any(e)});
    out.push(Ref<Tensor>(op(s, "matmul", {any(sum), any(e)})));
  };
  auto f = compile(summed);
  const Profile p = profile(*f, with(x), 3);
  ASSERT_EQ(p.collectives.size(), 1u);
  const ProfiledCollective& c = p.collectives[0];
  EXPECT_EQ(c.bytes, 16 * 4);
  EXPECT_EQ(p.steps[c.step].ops, "prims.all_reduce");
  EXPECT_EQ(p.steps[c.wait].ops, "prims.wait");
  EXPECT_EQ(c.exposed, p.steps[c.wait].milliseconds);
  EXPECT_GT(c.alone, 0);
  EXPECT_NE(p.text().find("collectives, as this rank sees them"), std::string::npos) << p.text();
  EXPECT_NE(p.json().find("\"collectives\":[{\"step\":"), std::string::npos) << p.json();
  EXPECT_EQ(f->reports().statistics().calls, 7u) << "the one that compiles, three, and three alone";
  EXPECT_EQ(profile(*compile(formula), with(x), 1).collectives.size(), 0u);
}

TEST_F(Profiles, are_tables_json_and_events_of_chrome) {
  auto f = compile(formula, only("host").get());
  EXPECT_EQ(explain(*f, "profile"), "");
  f->reports().set_last_profile(std::make_shared<const Profile>(profile(*f, with(x), 1)));
  EXPECT_NE(explain(*f, "profile").find("prims.exp by host at here:1"), std::string::npos) << explain(*f, "profile");
  EXPECT_NE(explain(*f, "profile_json").find("\"ops\":\"prims.exp\",\"executor\":\"host\",\"where\":\"here:1\""), std::string::npos);
  const std::string events = explain(*f, "chrome_trace");
  EXPECT_NE(events.find("{\"name\":\"prims.exp\",\"cat\":\"host\",\"ph\":\"X\""), std::string::npos) << events;
}

TEST_F(Profiles, refuse_no_runs_and_what_runs_op_by_op) {
  auto f = compile(formula);
  EXPECT_THROW(profile(*f, with(x), 0), Error);
  auto options = make<CompileOptions>();
  options->set("disable", Any::boolean(true));
  auto eager = compile(formula, options.get());
  EXPECT_THROW(profile(*eager, with(x), 1), Error);
}

TEST_F(Profiles, of_regions_count_their_lines) {
  Pieces choice;
  auto options = make<CompileOptions>();
  options->add_executor(pieces_executor(choice));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* e = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "mul", {any(e), any(e)})));
  }, options.get());
  const Profile p = profile(*f, with(x), 1);
  ASSERT_EQ(p.steps.size(), 1u);
  EXPECT_EQ(p.steps[0].ops, "prims.exp, prims.mul");
  EXPECT_EQ(p.steps[0].flops, 32);
  EXPECT_EQ(p.steps[0].bytes, 2 * 16 * 4) << "what stays inside of a kernel is neither read nor written";
}

TEST_F(Profiles, statistics_have_histograms_and_reasons) {
  auto options = only("host");
  options->set("dynamic", Any::boolean(false));
  auto f = compile(formula, options.get());
  run(*f, {x.get()}), run(*f, {random({3, 3}, 2).get()});
  const std::string stats = explain(*f, "stats");
  EXPECT_NE(stats.find("\"misses\":2"), std::string::npos) << stats;
  EXPECT_NE(stats.find("{\"why\":\"input '0': shape is [3, 3], was [4, 4]\",\"times\":1}"), std::string::npos) << stats;
  EXPECT_NE(stats.find("{\"name\":\"claim\",\"times\":2,"), std::string::npos) << stats;
  EXPECT_NE(stats.find("\"histogram\":["), std::string::npos);
}

TEST_F(Profiles, options_without_effect_say_why) {
  auto options = only("host");
  options->set("freezing", Any::boolean(true));
  auto f = compile(formula, options.get());
  EXPECT_EQ(explain(*f, "options"), "");
  run(*f, {x.get()});
  EXPECT_EQ(explain(*f, "options"), "{\"used\":{\"executors\":\"host\"},\"unused\":{\"freezing\":\"the function captures no tensor "
                                    "that it does not write\"},\"unknown\":{}}");
}

TEST_F(Profiles, graphs_have_a_box_for_each_line_and_an_arrow_for_each_value) {
  auto f = compile(formula, only("host").get());
  run(*f, {x.get()});
  const std::string dot = explain(*f, "graph");
  EXPECT_EQ(dot.find("digraph \"f\" {"), 0u) << dot;
  EXPECT_NE(dot.find("n1 [label=\"prims.exp by host\", tooltip=\"here:1\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("in1_0 -> n1 [label=\"f32[4, 4]\"]"), std::string::npos) << dot;
}

TEST_F(Profiles, kernels_read_as_llvms_ir_as_assembly_and_as_cuda) {
  if (!loops::can_compile()) GTEST_SKIP() << "there is no LLVM here";
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())}))); }, only("fusion").get());
  run(*f, {x.get()});
  EXPECT_NE(explain(*f, "llvm").find("define void @kernel"), std::string::npos) << explain(*f, "llvm");
  EXPECT_EQ(explain(*f, "llvm").find("; step 1: prims.exp at here:1"), 0u);
  EXPECT_NE(explain(*f, "assembly").find("kernel:"), std::string::npos);
  EXPECT_NE(explain(*f, "cuda").find("extern \"C\" __global__ void"), std::string::npos) << explain(*f, "cuda");
}

TEST_F(Profiles, pages_hold_everything_and_close_no_script_early) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(s.invoke("exp", std::vector<Any>{any(in[0].tensor.get())}, nullptr, nullptr, 0, "</script>:1")));
  }, only("host").get());
  EXPECT_THROW(html_report(*f), Error);
  f->reports().set_last_profile(std::make_shared<const Profile>(profile(*f, with(x), 1)));
  const std::string page = html_report(*f);
  EXPECT_EQ(page.find("<!doctype html>"), 0u);
  const std::string data = page.substr(page.find("application/json"));
  EXPECT_EQ(data.substr(0, data.find("</script>")).find("</script"), std::string::npos);
  for (const char* part : {"\"stages\":[", "\"nodes\":[", "\"memory\":{", "\"guards\":\"", "\"profile\":{", "\"examination\":null"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing is fetched";
  EXPECT_EQ(page.find("http"), std::string::npos);
}

}  // namespace
}  // namespace thunder::test
