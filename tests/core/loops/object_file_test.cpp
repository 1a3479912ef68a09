// Objects that LLVM made are loaded without it: the same code, and nothing worse than an error for any other bytes.
#include "loops/object_file.h"

#include "core/executors/fusion/support.h"
#include "loops/kernels.h"
#include "support/failure.h"
#include "support/generator.h"

#if defined(__x86_64__)

namespace thunder::fusion {
namespace {

struct ObjectFileTest : FusedTest {
  // The objects of the kernels that this function is compiled to, which call functions of the C library.
  std::vector<std::string> objects_of_some() {
    outcome(
        [](Scope& s, std::span<Tensor* const> in) {
          Tensor* y = call(s, "softmax", {arg(call(s, "tanh", {arg(in[0])})), arg(int64_t{1})});
          return std::vector{y, call(s, "sin", {arg(call(s, "exp", {arg(in[1])}))})};
        },
        {numbers({4, 40}), numbers({50}, DType::f64)}, 2, "fusion");
    std::vector<std::string> out;
    for (auto& [text, object] : loops::kernels().objects()) out.push_back(object);
    return out;
  }
};

// y = sin(exp(x)) of doubles, whose functions are those of the C library.
TEST_F(ObjectFileTest, results_match_those_of_LLVMs_loader) {
  CpuNest nest;
  nest.extents = {100}, nest.inner = 1, nest.maps = {{1}}, nest.buffers = {DType::f64, DType::f64};
  nest.exprs.resize(3);
  nest.exprs[0] = {.fn = Fn::load, .dtype = DType::f64, .axes = 1};
  nest.exprs[1] = {.fn = Fn::exp, .dtype = DType::f64, .in = {0}, .count = 1, .axes = 1};
  nest.exprs[2] = {.fn = Fn::sin, .dtype = DType::f64, .in = {1}, .count = 1, .axes = 1};
  nest.stores = {{.value = 2, .buffer = 1, .map = 0}};
  nest.split = true;
  const loops::KernelFn theirs = kernel(nest);
  const std::string object = loops::kernels().object(print(nest));
  std::string error;
  const loops::KernelFn ours = load_object(object, "kernel", error);
  ASSERT_NE(ours, nullptr) << error;
  EXPECT_NE(ours, theirs);
  std::vector<double> x(100), y(100), z(100);
  for (size_t i = 0; i < x.size(); i++) x[i] = 0.05 * static_cast<double>(i) - 2;
  std::vector<int64_t> parameters = loops::parameters(nest);
  parameters.insert(parameters.end(), {4096, 1});
  IndexError index_error;
  void *of_theirs[] = {x.data(), y.data()}, *of_ours[] = {x.data(), z.data()};
  theirs(of_theirs, parameters.data(), 0, 1, &index_error);
  ours(of_ours, parameters.data(), 0, 1, &index_error);
  EXPECT_EQ(y, z);
  EXPECT_EQ(z[50], std::sin(std::exp(x[50])));
}

TEST_F(ObjectFileTest, loads_every_kernel_of_the_process) {
  const std::vector<std::string> objects = objects_of_some();
  ASSERT_GE(objects.size(), 2u);
  for (const std::string& object : objects) {
    std::string error;
    EXPECT_NE(load_object(object, "kernel", error), nullptr) << error;
    EXPECT_EQ(load_object(object, "kern", error), nullptr);
    EXPECT_EQ(error, "it has no function 'kern'");
  }
}

TEST_F(ObjectFileTest, rejects_other_files) {
  std::string error;
  for (const std::string& bytes : {std::string(), std::string("\x7f""ELF"), std::string(64, '\0'), std::string(5000, 'x')}) {
    EXPECT_EQ(load_object(bytes, "kernel", error), nullptr);
    EXPECT_FALSE(error.empty());
  }
}

// None of them is run: a changed instruction may do anything.
TEST_F(ObjectFileTest, loading_corrupted_bytes_does_no_harm) {
  const std::vector<std::string> objects = objects_of_some();
  tests::for_each_seed(4000, [&](std::mt19937_64& g) {
    std::string damaged = objects[tests::below(g, objects.size())];
    // Half of all changes hit the head, or the table of sections at the end.
    for (size_t n = 1 + tests::below(g, 6); n > 0; n--) {
      const size_t from = tests::below(g, 3), size = damaged.size();
      const size_t at = from == 0 ? tests::below(g, 64) : from == 1 ? size - 1 - tests::below(g, size / 2) : tests::below(g, size);
      damaged[at] = static_cast<char>(tests::one_in(g, 3) ? g() : static_cast<uint64_t>(damaged[at] ^ (1 << tests::below(g, 8))));
    }
    if (tests::one_in(g, 8)) damaged.resize(tests::below(g, damaged.size()));
    std::string error;
    if (!load_object(damaged, "kernel", error)) { EXPECT_FALSE(error.empty()); }
  });
}

TEST_F(ObjectFileTest, given_objects_run_without_a_compiler) {
  objects_of_some();
  const auto known = loops::kernels().objects();
  KernelCache cache(nullptr, "", "");
  EXPECT_FALSE(cache.has_given());
  CpuNest nest;
  nest.extents = {100}, nest.inner = 1, nest.maps = {{1}}, nest.buffers = {DType::f32, DType::f32};
  nest.exprs.resize(2);
  nest.exprs[0] = {.fn = Fn::load, .dtype = DType::f32, .axes = 1};
  nest.exprs[1] = {.fn = Fn::neg, .dtype = DType::f32, .in = {0}, .count = 1, .axes = 1};
  nest.stores = {{.value = 1, .buffer = 1, .map = 0}};
  EXPECT_PRED2(contains, failure_of([&] { cache.get(nest); }), "fusion: nothing here compiles kernels, and of those that were compiled elsewhere none was given\nfor nest");
  cache.add_object(print(nest), "no object", false);
  EXPECT_PRED2(contains, failure_of([&] { cache.get(nest); }), "it is cut short");
  kernel(nest);
  cache.add_object(print(nest), loops::kernels().object(print(nest)), false);
  EXPECT_NE(cache.get(nest), nullptr);
  EXPECT_EQ(cache.statistics().given, 1u);
  EXPECT_EQ(cache.statistics().compiled, 0u);
  EXPECT_EQ(cache.objects(), (std::vector<std::pair<std::string, std::string>>{{print(nest), loops::kernels().object(print(nest))}}));
}

}  // namespace
}  // namespace thunder::fusion

#endif
