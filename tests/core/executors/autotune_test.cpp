// Products that are timed once with several algorithms: what is found is right, kept, and read back.
// covers: core/executors/cpu/products/autotune.cpp core/executors/cpu/products/choices.cpp
#include "executors/cpu/products/autotune.h"

#include <cmath>

#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/products/choices.h"
#include "support/machines.h"
#include "support/folder.h"
#include "support/functions.h"
#include "support/products.h"

namespace thunder::test {
namespace {

struct Autotune : CompiledTest {
  void SetUp() override {
    const IsaKernels* kernels = kernels_for(this_machine().instructions);
    if (!kernels) GTEST_SKIP() << "no vectors here";
    const Library* library = Library::open(Library::names(), this_machine(), found);
    backends.emplace(Backends{kernels->products, this_machine().instructions, library, nullptr, false});
    available = rows_for(algorithms<float>(), *backends, Precision::highest, {1000, 1000, 1000});
  }
  Buffer buffer(const int64_t* shape, const int64_t* strides) const {
    Buffer b;
    b.shape = shape, b.strides = strides, b.rank = 2, b.dtype = DType::f32;
    return b;
  }
  // Of the product of an m x 16 and a 16 x 32 matrix.
  std::optional<Algorithm> way_of_rows(Autotuner& tuner, int64_t m) {
    const int64_t a[] = {m, 16}, b[] = {16, 32}, c[] = {m, 32}, a_steps[] = {16, 1}, wide_steps[] = {32, 1};
    const Buffer inputs[] = {buffer(a, a_steps), buffer(b, wide_steps)}, outputs[] = {buffer(c, wide_steps)};
    return tuner.algorithm(available, matmul_of<float>, inputs, outputs);
  }
  static BatchedProduct<float> products_of_rows(int64_t m) {
    BatchedProduct<float> p;
    p.each = {m, 32, 16, {nullptr, 16, 1}, {nullptr, 32, 1}, nullptr, 32, false};
    return p;
  }
  Autotuner tuner() { return {*backends, found, this_machine(), threads, folder.path()}; }

  std::optional<Backends> backends;
  Available available;
  std::string found;
  ThreadPool threads{1};
  Folder folder;
};

TEST_F(Autotune, every_candidate_computes_the_product) {
  for (size_t which : {0, 1, 2, 5, 11, 23, 47})
    each_product([&](const Product& p) {
      BatchedProduct<float> one;
      one.each = p;
      const std::vector<Algorithm> algorithms = candidate_algorithms(*backends, available, one);
      const Algorithm& algorithm = algorithms[which % algorithms.size()];
      Buffer c;
      Launch launch;
      launch.outputs = &c;
      launch.parallel_for = parallel_for;
      launch.threads = &threads;
      const Panels scratch = allocate_panels(scratch_bytes_of(*backends, p, algorithm));
      launch.scratch = scratch.get();
      EXPECT_EQ(run_products(*backends, available, &launch, one, &algorithm), nullptr) << name(algorithm);
    });
}

TEST_F(Autotune, times_a_product_once_and_stores_the_choice_on_disk) {
  Autotuner first = tuner();
  const std::optional<Algorithm> algorithm = way_of_rows(first, 40);
  ASSERT_TRUE(algorithm);
  EXPECT_EQ(way_of_rows(first, 40), algorithm);
  EXPECT_EQ(first.timed(), 1u);
  EXPECT_EQ(folder.count(), 1u);
  Autotuner second = tuner();
  EXPECT_EQ(way_of_rows(second, 40), algorithm);
  EXPECT_EQ(second.timed(), 0u);
  EXPECT_TRUE(way_of_rows(second, 41));
  EXPECT_EQ(second.timed(), 1u);
}

TEST_F(Autotune, stored_choices_are_specific_to_threads_and_library) {
  Autotuner first = tuner();
  way_of_rows(first, 40);
  ThreadPool two(2);
  Autotuner more_threads(*backends, found, this_machine(), two, folder.path()), another_library(*backends, "another one", this_machine(), threads, folder.path());
  for (Autotuner* other : {&more_threads, &another_library}) {
    way_of_rows(*other, 40);
    EXPECT_EQ(other->timed(), 1u);
  }
}

TEST_F(Autotune, ignores_stored_choices_that_are_not_candidates) {
  Autotuner first = tuner();
  way_of_rows(first, 40);
  for (const char* nonsense : {"", "onednn 1000000x7", "fastest", "small"}) {
    BlobStore(folder.path()).put(first.tuning_key(products_of_rows(40)), nonsense);
    Autotuner second = tuner();
    const std::optional<Algorithm> algorithm = way_of_rows(second, 40);
    const std::vector<Algorithm> algorithms = candidate_algorithms(*backends, available, products_of_rows(40));
    EXPECT_NE(std::find(algorithms.begin(), algorithms.end(), *algorithm), algorithms.end());
    EXPECT_EQ(second.timed(), 1u) << nonsense;
  }
}

TEST_F(Autotune, uses_choices_measured_by_another_process) {
  const std::vector<Algorithm> algorithms = candidate_algorithms(*backends, available, products_of_rows(43));
  for (const Algorithm& algorithm : algorithms) {
    Autotuner here(*backends, found, this_machine(), threads, "");
    set_choice(here.tuning_key(products_of_rows(43)), name(algorithm));
    EXPECT_EQ(way_of_rows(here, 43), algorithm);
    EXPECT_EQ(here.timed(), 0u);
  }
  Autotuner measures(*backends, found, this_machine(), threads, "");
  const std::optional<Algorithm> best = way_of_rows(measures, 44);
  ASSERT_TRUE(best);
  const auto known = known_choices();
  const std::pair measured(measures.tuning_key(products_of_rows(44)), name(*best));
  EXPECT_NE(std::find(known.begin(), known.end(), measured), known.end());
}

TEST_F(Autotune, ignores_a_damaged_file) {
  Autotuner first = tuner();
  way_of_rows(first, 40);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) std::filesystem::resize_file(file, 40);
  Autotuner second = tuner();
  EXPECT_TRUE(way_of_rows(second, 40));
  EXPECT_EQ(second.timed(), 1u);
}

TEST_F(Autotune, does_not_time_empty_products) {
  Autotuner t = tuner();
  EXPECT_FALSE(way_of_rows(t, 0));
  EXPECT_EQ(t.timed(), 0u);
}

TEST_F(Autotune, keeps_no_choice_of_a_precision_for_another) {
  Autotuner t = tuner();
  const Available usual = available, rounded = {false, true, false, false, false, false, false};
  ASSERT_EQ(algorithms<float>()[1].name, "amx_medium");
  available = rounded;
  const std::optional<Algorithm> medium = way_of_rows(t, 40);
  ASSERT_TRUE(medium);
  EXPECT_EQ(medium->row->name, "amx_medium");
  EXPECT_EQ(t.timed(), 0u);
  available = usual;
  EXPECT_NE(way_of_rows(t, 40)->row->name, "amx_medium");
  available = rounded;
  EXPECT_EQ(way_of_rows(t, 40), medium);
}

TEST_F(Autotune, is_enabled_by_max_autotune) {
  const auto product = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))); };
  auto a = random({70, 80}, 1), b = random({80, 90}, 2);
  const Floats expected = run(*compile(product, only("host").get()), {a.get(), b.get()});
  for (const bool asked : {false, true}) {
    auto options = make<CompileOptions>();
    if (asked) options->set("max_autotune", Any::boolean(true));
    auto compiled = compile(product, options.get());
    const Floats got = run(*compiled, {a.get(), b.get()});
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::fabs(expected[i])));
    EXPECT_EQ(executor_of(*compiled, "prims.matmul"), "products");
  }
}

}  // namespace
}  // namespace thunder::test
