// Kernels that one process compiled spare the next one LLVM, without a folder that both see.
// covers: capi/cache_artifacts.cpp
#include "jit/programs/cache_artifacts.h"

#include "executors/cpu/products/choices.h"
#include "loops/kernels.h"
#include "support/bytes.h"
#include "support/child_process.h"
#include "support/failure.h"
#include "support/functions.h"
#include "support/generator.h"

namespace thunder::test {
namespace {

struct CacheArtifacts : CompiledTest {
  void SetUp() override {
    if (std::string why; !loops::can_compile(&why)) GTEST_SKIP() << why;
  }
  Floats run_some() {
    auto f = compile(
        [](Scope& s, const Values& in, Values& out) {
          out.push(Ref<Tensor>(op(s, "softmax", {any(op(s, "tanh", {any(in[0].tensor)})), Any::integer(1)})));
        },
        make<CompileOptions>().get());
    const Ref<Tensor> x = random({7, 33}, 1);
    return run(*f, {x.get()});
  }
};

constexpr const char* kFile = "THUNDER_TEST_ARTIFACTS";

// Disabled because it ends its process; the test below runs it in one of its own.
TEST_F(CacheArtifacts, DISABLED_save) {
  run_some();
  ArtifactCounts counts;
  write_file(std::getenv(kFile), save_cache_artifacts(context->machine(), counts));
  std::_Exit(static_cast<int>(counts.cpu_kernels * 10 + loops::kernel_statistics().compiled));
}
// Disabled because it ends its process; the test below runs it in one of its own.
TEST_F(CacheArtifacts, DISABLED_load) {
  const ArtifactCounts counts = load_cache_artifacts(context->machine(), read_file(std::getenv(kFile), 1 << 20));
  run_some();
  const loops::KernelStatistics made = loops::kernel_statistics();
  std::_Exit(static_cast<int>(counts.cpu_kernels * 100 + made.given * 10 + made.compiled));
}

int in_a_process(const std::string& test, const std::string& file) {
  return run_in_a_process(this_program(), "CacheArtifacts.DISABLED_" + test, {{"THUNDER_CACHE_DIR", "off"}, {kFile, file}});
}

TEST_F(CacheArtifacts, of_one_process_are_all_that_the_next_one_needs) {
  Folder folder;
  EXPECT_EQ(in_a_process("save", folder / "a"), 11);
#if defined(__x86_64__)
  EXPECT_EQ(in_a_process("load", folder / "a"), 110);
#endif
}

TEST_F(CacheArtifacts, of_another_machine_or_build_are_refused_and_the_message_says_which) {
  run_some();
  ArtifactCounts counts;
  const Machine& here = context->machine();
  const std::string text = save_cache_artifacts(here, counts);
  EXPECT_GE(counts.cpu_kernels, 1u);
  EXPECT_EQ(counts.cuda_kernels, 0u);
  EXPECT_EQ(load_cache_artifacts(here, text).cpu_kernels, counts.cpu_kernels);
  Machine other = here;
  other.processor = "Another Processor 17", other.extensions = "avx2 fma";
  EXPECT_PRED2(contains, failure_of([&] { load_cache_artifacts(other, text); }), cat("the kernels cannot be used: they are for another machine (", kind_of(here), "; this one is Another Processor 17 with avx2 fma)"));
  Artifacts built = unpack(text, "it");
  built.library = "another build";
  EXPECT_PRED2(contains, failure_of([&] { load_cache_artifacts(here, pack(built)); }), "the kernels cannot be used: they were made by another build of the library (another build; this one is ");
}

TEST_F(CacheArtifacts, carry_what_was_measured_of_products) {
  record_choice("a product that this process timed", "onednn");
  ArtifactCounts counts;
  Artifacts all = unpack(save_cache_artifacts(context->machine(), counts), "it");
  EXPECT_GE(counts.product_choices, 1u);
  const auto choice = std::find_if(all.entries.begin(), all.entries.end(),
                                   [](const Artifact& a) { return a.key == "a product that this process timed"; });
  ASSERT_NE(choice, all.entries.end());
  EXPECT_EQ(choice->blob, "onednn");
  EXPECT_EQ(find_given_choice(choice->key), std::nullopt);
  EXPECT_EQ(load_cache_artifacts(context->machine(), pack(all)).product_choices, counts.product_choices);
  EXPECT_EQ(find_given_choice(choice->key), "onednn");
}

TEST_F(CacheArtifacts, that_were_changed_do_no_worse_than_fail) {
  run_some();
  ArtifactCounts counts;
  const std::string text = save_cache_artifacts(context->machine(), counts);
  tests::for_each_seed(2000, [&](std::mt19937_64& g) {
    std::string damaged = text;
    for (size_t n = 1 + tests::below(g, 3); n > 0; n--) damaged[tests::below(g, damaged.size())] ^= static_cast<char>(1 << tests::below(g, 8));
    if (tests::one_in(g, 4)) damaged.resize(tests::below(g, damaged.size()));
    if (damaged == text) return;
    EXPECT_NE(failure_of([&] { load_cache_artifacts(context->machine(), damaged); }), "no error");
  });
}

}  // namespace
}  // namespace thunder::test
