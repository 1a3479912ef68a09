// Files that say what a compile did. Covers jit/reports/trace_files, and log_text of jit/reports/logs.
#include "jit/logs/trace_files.h"

#include "base/files.h"
#include "support/folder.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct TraceFiles : CompiledTest {
  Folder folder;
  std::string into = folder / "made";

  // Compiles with these options, and runs once a size.
  void compiled(std::vector<std::pair<std::string_view, Any>> given, std::vector<int64_t> sizes = {3}) {
    auto options = make<CompileOptions>();
    for (auto& [name, value] : given) options->set(name, value);
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "mul", {any(op(s, "exp", {any(in[0].tensor.get())})), any(in[0].tensor.get())})));
    }, options.get());
    for (int64_t n : sizes) run(*f, {random({n}, 1).get()});
  }
  std::string text(const std::string& name) const { return read_file(cat(into, "/f_1/", name), 1 << 20); }
  size_t count(const std::string& name) const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(cat(into, "/", name)), {}));
  }
};

TEST_F(TraceFiles, nothing_is_written_unless_it_is_asked_for) {
  compiled({});
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(TraceFiles, each_compile_has_a_folder_with_the_usual_ones) {
  compiled({{"trace_dir", Any::string(into)}, {"dynamic", Any::boolean(false)}}, {3, 4});
  EXPECT_EQ(count(""), 2u) << error;
  EXPECT_EQ(count("f_1"), 5u);
  EXPECT_EQ(count("f_2"), 5u);
  EXPECT_NE(text("fx_graph.txt").find("exp("), std::string::npos);
  EXPECT_EQ(text("fx_graph.txt").find("prims.exp"), std::string::npos);
  EXPECT_NE(text("fx_graph_transformed.txt").find("prims.exp"), std::string::npos);
  EXPECT_EQ(text("fx_graph_transformed.txt").find("by "), std::string::npos);
  EXPECT_NE(text("ir_pre_fusion.txt").find("by "), std::string::npos);
  EXPECT_EQ(text("ir_pre_fusion.txt").find("region"), std::string::npos);
  EXPECT_NE(text("ir_post_fusion.txt").find("region"), std::string::npos);
  EXPECT_NE(text("output_code.txt"), "");
}

TEST_F(TraceFiles, each_of_inductor_s_names_is_a_file) {
  const std::pair<std::string_view, std::string_view> others[] = {
      {"trace.graph_diagram", "graph_diagram.dot"}, {"trace.draw_orig_fx_graph", "draw_orig_fx_graph.dot"},
      {"trace.compile_profile", "compile_profile.txt"}, {"trace.info_log", "info_log.txt"}, {"trace.debug_log", "debug_log.txt"}};
  std::vector<std::pair<std::string_view, Any>> given = {{"trace.enabled", Any::boolean(true)}, {"trace.debug_dir", Any::string(into)}};
  for (auto& [option, file] : others) given.emplace_back(option, Any::boolean(true));
  for (std::string_view usual : {"trace.fx_graph", "trace.fx_graph_transformed", "trace.ir_pre_fusion", "trace.ir_post_fusion",
                                 "trace.output_code"})
    given.emplace_back(usual, Any::boolean(false));
  compiled(given);
  EXPECT_EQ(count("f_1"), std::size(others)) << error;
  EXPECT_EQ(text("graph_diagram.dot").find("digraph"), 0u);
  EXPECT_EQ(text("draw_orig_fx_graph.dot").find("digraph"), 0u);
  EXPECT_NE(text("compile_profile.txt").find("claim: "), std::string::npos);
  EXPECT_NE(text("info_log.txt").find("guards: size(0, 0)"), std::string::npos) << text("info_log.txt");
  EXPECT_GT(text("debug_log.txt").size(), text("info_log.txt").size());
}

TEST_F(TraceFiles, enabled_false_writes_nothing) {
  compiled({{"trace.enabled", Any::boolean(false)}, {"trace.debug_dir", Any::string(into)}});
  EXPECT_EQ(error, "");
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(TraceFiles, a_folder_that_cannot_be_made_is_the_calls_error) {
  compiled({{"trace_dir", Any::string("/proc/none/here")}});
  EXPECT_NE(error.find("option 'trace_dir': /proc/none/here cannot be made"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
