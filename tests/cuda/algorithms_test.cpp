// Algorithms of cuBLASLt for a problem, kept on disk and timed (algorithm_cache, problem, timing).
// covers: core/executors/cuda/cublaslt/algorithm_cache.cpp core/executors/cuda/cublaslt/problem.cpp
// covers: core/executors/cuda/cublaslt/timing.cpp
#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/blob_store.h"
#include "cuda/cuda.h"
#include "executors/cpu/products/choices.h"
#include "support/fake_cuda/control.h"
#include "support/folder.h"

namespace thunder::test {
namespace {

struct CudaAlgorithms : CudaTest {
  Folder folder;
  std::string before;  // where kernels are kept
  decltype(&fake_cublaslt_counts) count = nullptr;
  decltype(&fake_cublaslt_delay) delay = nullptr;

  void SetUp() override {
    const char* path = ::getenv("THUNDER_CUBLASLT");
    void* library = path ? ::dlopen(path, RTLD_NOW) : nullptr;
    count = library ? reinterpret_cast<decltype(count)>(::dlsym(library, "fake_cublaslt_counts")) : nullptr;
    delay = library ? reinterpret_cast<decltype(delay)>(::dlsym(library, "fake_cublaslt_delay")) : nullptr;
    if (!count) GTEST_SKIP() << "needs the stand-in for cuBLASLt, which counts";
    const char* told = ::getenv("THUNDER_CACHE_DIR");
    before = told ? told : "";
    ::setenv("THUNDER_CACHE_DIR", folder.path().c_str(), 1);
  }
  void TearDown() override {
    if (delay)
      for (uint64_t i = 1; i <= 3; i++) delay(i, 0);
    context = nullptr;
    if (before.empty()) ::unsetenv("THUNDER_CACHE_DIR");
    else ::setenv("THUNDER_CACHE_DIR", before.c_str(), 1);
  }
  FakeCublasLtCounts counts() const {
    FakeCublasLtCounts c;
    count(&c);
    return c;
  }
  static void multiply(Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)})));
  }
  // A product of `rows` rows in a context that knows nothing; what was asked of the library for it.
  FakeCublasLtCounts multiplied(int64_t rows, bool timed) {
    context = seeded_context();
    const FakeCublasLtCounts start = counts();
    auto options = make<CompileOptions>();
    options->set("max_autotune", Any::boolean(timed));
    auto f = compile(multiply, options.get());
    const Ref<Tensor> a = random({rows, 8}, 1), b = random({8, 16}, 2), ga = on_gpu(a), gb = on_gpu(b);
    const Floats expected = CompiledTest::run(*f, {a.get(), b.get()}), got = run(*f, {ga.get(), gb.get()});
    EXPECT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < std::min(got.size(), expected.size()); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
    EXPECT_EQ(executor_of(*f, "prims.matmul"), "cublaslt");
    FakeCublasLtCounts now = counts();
    now.heuristics -= start.heuristics, now.checks -= start.checks;
    for (size_t i = 0; i < 4; i++) now.products[i] -= start.products[i];
    return now;
  }
  // Of the files on disk whose keys hold this text.
  std::vector<std::filesystem::path> files(std::string_view text) const {
    std::vector<std::filesystem::path> out;
    for (const auto& file : std::filesystem::directory_iterator(folder.path()))
      if (file_text(file.path()).find(text) != std::string::npos) out.push_back(file.path());
    return out;
  }
  static std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The key that a file was put under: its length is the second number of the file's head, which has 56 bytes.
  static std::string key_of(const std::string& file) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, file.data() + 8, sizeof bytes);
    return file.substr(56, bytes);
  }
};

TEST_F(CudaAlgorithms, are_asked_for_once_in_a_process_and_for_addresses_that_are_aligned) {
  EXPECT_EQ(multiplied(5, false).heuristics, 1);
  const FakeCublasLtCounts start = counts();
  auto f = compile(multiply);
  const Ref<Tensor> a = on_gpu(random({5, 8}, 1)), b = on_gpu(random({8, 16}, 2));
  EXPECT_FALSE(run(*f, {a.get(), b.get()}).empty()) << error;
  EXPECT_EQ(counts().heuristics, start.heuristics);
  EXPECT_EQ(counts().checks, start.checks);
  EXPECT_TRUE(files("cublaslt 1\n").empty()) << "what heuristics prefer is asked for faster than read";
}

TEST_F(CudaAlgorithms, for_other_addresses_are_asked_for_when_such_come) {
  auto f = compile(multiply);
  const Ref<Tensor> whole = random({41}, 1), b = random({8, 16}, 2), on = on_gpu(whole);
  const auto behind_first = [](const Ref<Tensor>& t) {
    TensorType type = t->type();
    type.shape = {5, 8};
    return Tensor::view(Ref<Storage>(t->storage()), type, {8, 1}, sizeof(float));
  };
  const Ref<Tensor> a = behind_first(whole), ga = behind_first(on), gb = on_gpu(b);
  const FakeCublasLtCounts start = counts();
  const Floats expected = CompiledTest::run(*f, {a.get(), b.get()});
  for (int time = 0; time < 2; time++) {
    const Floats got = run(*f, {ga.get(), gb.get()});
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
    EXPECT_EQ(counts().heuristics - start.heuristics, 2);
  }
}

TEST_F(CudaAlgorithms, are_asked_for_once_for_a_class_of_sizes) {
  auto options = make<CompileOptions>();
  options->set("dynamic", Any::boolean(true));
  auto f = compile(multiply, options.get());
  const Ref<Tensor> b = random({64, 48}, 2), gb = on_gpu(b);
  const FakeCublasLtCounts start = counts();
  for (const int64_t n : {97, 99, 101, 103, 105, 111, 161, 191}) {  // rounded to 113, and to 193
    const Ref<Tensor> a = random({n, 64}, 1), ga = on_gpu(a);
    const Floats got = run(*f, {ga.get(), gb.get()}), expected = CompiledTest::run(*f, {a.get(), b.get()});
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-4);
  }
  EXPECT_EQ(counts().heuristics - start.heuristics, 2);
  EXPECT_EQ(counts().checks - start.checks, 8);
}

TEST_F(CudaAlgorithms, are_timed_again_where_their_files_are_damaged) {
  multiplied(5, true);
  const auto stored = files("cublaslt 1\n");
  ASSERT_EQ(stored.size(), 1u);
  std::filesystem::resize_file(stored[0], std::filesystem::file_size(stored[0]) - 1);
  EXPECT_EQ(multiplied(5, true).heuristics, 1);
  EXPECT_EQ(multiplied(5, true).heuristics, 0);
}

// Whole, but of another size, or no algorithm of this library.
TEST_F(CudaAlgorithms, are_timed_again_where_the_library_does_not_know_what_is_stored) {
  multiplied(5, true);
  BlobStore store(folder.path());
  for (const std::string& foreign : {std::string("short"), std::string(72, '\x7f')}) {
    for (const auto& file : files("cublaslt 1\n")) ASSERT_TRUE(store.put(key_of(file_text(file)), foreign));
    EXPECT_EQ(multiplied(5, true).heuristics, 1);
    EXPECT_EQ(multiplied(5, true).heuristics, 0);
  }
}

TEST_F(CudaAlgorithms, are_timed_where_max_autotune_asks_for_it_and_the_fastest_is_kept) {
  delay(1, 400), delay(2, 400);
  const FakeCublasLtCounts first = multiplied(5, true);
  EXPECT_GT(first.products[1], 1);
  EXPECT_GT(first.products[2], 1);
  const FakeCublasLtCounts next = multiplied(5, true);
  EXPECT_EQ(next.heuristics, 0);
  EXPECT_EQ(next.products[1] + next.products[2], 0);
  EXPECT_EQ(next.products[3], 1);
  // Who did not ask for it has the results that he always had.
  const FakeCublasLtCounts plain = multiplied(5, false);
  EXPECT_EQ(plain.products[1], 1);
  EXPECT_EQ(plain.products[3], 0);
  EXPECT_EQ(files("\ntimed, aligned to 16\n").size(), 1u);
}

TEST_F(CudaAlgorithms, that_are_no_faster_leave_the_preferred_one) {
  delay(2, 400), delay(3, 400);
  multiplied(7, true);
  EXPECT_EQ(multiplied(7, true).products[1], 1);
}

// What was timed goes to another process as other choices of max_autotune do.
TEST_F(CudaAlgorithms, that_were_timed_are_carried_by_cache_artifacts) {
  delay(1, 400), delay(3, 400);
  multiplied(9, true);
  std::string key, value;
  for (const auto& [k, v] : known_choices())
    if (k.starts_with("cublaslt 1\n") && k.find(" 9x8x16 ") != k.npos) key = k, value = v;
  ASSERT_EQ(value.size(), 72u);
  EXPECT_EQ(value[0], 2);
  std::filesystem::remove(files("\ntimed, aligned to 16\n").at(0));
  set_choice(key, value);
  const FakeCublasLtCounts given = multiplied(9, true);
  EXPECT_EQ(given.products[2], 1);
  EXPECT_EQ(given.products[1] + given.products[3], 0);
}

}  // namespace
}  // namespace thunder::test
