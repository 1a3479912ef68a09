// What the options of compile say is one typed value, which every executor of a compile gets.
#include "tracer/compile_settings.h"

#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

std::string refusal(std::string_view name, const Any& value) {
  Options given;
  given.set(name, value);
  CompileSettings settings;
  try {
    read_settings(given, settings);
    return "";
  } catch (const Error& e) {
    return std::string(e.message());
  }
}

TEST(CompileSettings, have_a_row_for_each_with_the_default_of_its_field) {
  std::map<std::string_view, OptionRow> rows;
  for (const OptionRow& row : compile_options()) {
    EXPECT_TRUE(rows.emplace(row.name, row).second) << row.name;
    EXPECT_FALSE(row.doc.empty()) << row.name;
  }
  EXPECT_EQ(rows.at("recompile_limit").fallback, "8");
  EXPECT_EQ(rows.at("recompile_limit").kind, ArgKind::integer);
  EXPECT_EQ(rows.at("fullgraph").fallback, "true");
  EXPECT_EQ(rows.at("dynamic").fallback, "null");
  EXPECT_EQ(rows.at("cache").fallback, "constant values");
  EXPECT_EQ(rows.at("float32_matmul_precision").fallback, "highest");
  EXPECT_TRUE(rows.at("progress").function);
  EXPECT_FALSE(rows.at("executors").function);
}

TEST(CompileSettings, take_over_the_options_given_and_nothing_else) {
  Options given;
  given.set("cache", Any::string("same input"));
  given.set("executors", Any::string("fusion, host"));
  given.set("dynamic", Any::boolean(false));
  given.set("recompile_limit", Any::integer(3));
  CompileSettings settings;
  settings.freezing = true;
  read_settings(given, settings);
  EXPECT_EQ(settings.cache, CacheMode::same_input);
  EXPECT_EQ(settings.executors, (NameList{"fusion", "host"}));
  EXPECT_EQ(settings.dynamic, false);
  EXPECT_EQ(settings.recompile_limit.value, 3);
  EXPECT_TRUE(settings.freezing);
  EXPECT_EQ(default_settings().dynamic, std::nullopt);
}

TEST(CompileSettings, refuse_impossible_values_by_name) {
  EXPECT_EQ(refusal("cache", Any::string("some")),
            "compile: option 'cache' must be \"constant values\", \"symbolic values\", \"same input\" or \"no caching\", got \"some\"");
  EXPECT_EQ(refusal("recompile_limit", Any::integer(0)), "compile: option 'recompile_limit' must be at least 1, got 0");
  EXPECT_EQ(refusal("freezing", Any::integer(1)), "compile: option 'freezing' must be a boolean, got an integer");
  EXPECT_EQ(refusal("progress", Any::integer(1)), "compile: option 'progress' must be a function");
  EXPECT_EQ(refusal("freezin", Any::boolean(true)), "compile: unknown option 'freezin' (did you mean 'freezing'?)");
  CompileSettings settings;
  EXPECT_THROW(read_settings("freezing", Ref<Function>(), settings), Error);
}

struct Seen {
  std::vector<Precision> claimed, prepared, laid_out;
};

class SeeingKernel : public Kernel {
 public:
  explicit SeeingKernel(Seen& seen) : Kernel(this), seen_(seen) {}
  void adapt_to_layouts(const NodeView& view) override { seen_.laid_out.push_back(view.settings.float32_matmul_precision); }
  Status* run(const Launch*) const { return nullptr; }

 private:
  Seen& seen_;
};

using SettingsOfExecutors = CompiledTest;

TEST_F(SettingsOfExecutors, are_those_of_the_compile_from_claiming_to_laying_out) {
  Seen seen;
  ExecutorDesc d;
  d.name = "seeing", d.ops = {"prims.exp"}, d.user = &seen;
  d.claim = [](const NodeView& view, void* user) {
    static_cast<Seen*>(user)->claimed.push_back(view.settings.float32_matmul_precision);
    return true;
  };
  d.prepare = [](const NodeView& view, void* user) -> KernelPtr {
    static_cast<Seen*>(user)->prepared.push_back(view.settings.float32_matmul_precision);
    return std::make_unique<SeeingKernel>(*static_cast<Seen*>(user));
  };
  const auto executor = make<Executor>(d);
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)})));
  };
  auto x = tensor({2}, {1, 2});
  for (const char* precision : {"medium", "highest"}) {
    auto options = make<CompileOptions>();
    options->add_executor(executor);
    options->set("float32_matmul_precision", Any::string(precision));
    run(*compile(body, options.get()), {x.get()});
    ASSERT_EQ(error, "");
  }
  const std::vector<Precision> both = {Precision::medium, Precision::highest};
  EXPECT_EQ(seen.prepared, both);
  EXPECT_EQ(seen.laid_out, both);
  ASSERT_GE(seen.claimed.size(), 2u);
  EXPECT_EQ(seen.claimed.front(), Precision::medium);
  EXPECT_EQ(seen.claimed.back(), Precision::highest);
}

TEST_F(SettingsOfExecutors, are_asked_for_by_older_names_of_products) {
  if (!context->find_executor("amx_medium")) GTEST_SKIP() << "the processor has no tile registers";
  auto options = only("amx_medium");
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[0].tensor)})));
  };
  EXPECT_EQ(compile(body, options.get())->options().settings().float32_matmul_precision, Precision::medium);
  options->set("float32_matmul_precision", Any::string("high"));
  EXPECT_THROW(compile(body, options.get()), Error);
}

}  // namespace
}  // namespace thunder::test
