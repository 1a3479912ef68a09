// What the files of an exported program say; tests/cli/export.py compiles and runs them.
// covers: core/jit/programs/c_header.cpp core/jit/programs/c_names.cpp core/jit/programs/c_ops.cpp
// covers: core/jit/programs/c_places.cpp core/jit/programs/c_random.cpp core/jit/programs/c_runtime.cpp
// covers: core/jit/programs/c_source.cpp
#include "jit/programs/export_c.h"

#include "jit/programs/c_ops.h"
#include "jit/programs/c_source.h"
#include "loops/kernels.h"
#include "support/bytes.h"
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct ExportC : CompiledTest {
  Folder folder;
  void SetUp() override {
    if (std::string why; !loops::can_compile(&why)) GTEST_SKIP() << why;
  }
  void save(Lambda::Body body, const std::vector<Tensor*>& in) {
    auto f = compile(std::move(body));
    run(*f, in);
    save_program(*f, folder / "f.thunder");
  }
  std::string file(const std::string& name) { return read_file(folder / ("out/" + name), 1 << 20); }
  std::string failure(const std::map<std::string, Any>& given = {}) {
    Options options;
    for (auto& [name, value] : given) options.set(name, value);
    return failure_of([&] { export_c(context, folder / "f.thunder", folder / "out", &options); });
  }
};

TEST_F(ExportC, writes_a_function_of_arrays_its_kernels_and_its_tensors) {
  auto w = random({4, 8}, 1), x = random({2, 4}, 2);
  save([w](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "matmul", {any(in[0].tensor), any(w)}))}))); }, {x.get()});
  ASSERT_EQ(failure(), "no error");
  EXPECT_PRED2(contains, file("f.h"), "in0: argument 0, f32[2, 4]");
  EXPECT_PRED2(contains, file("f.h"), "#define F_OUT0_ELEMENTS 16\n");
  EXPECT_PRED2(contains, file("f.h"), "int f(const float *in0, float *out0, void *workspace);");
  EXPECT_PRED2(contains, file("f.c"), "/* 1: prims.matmul [at here:1] */\n    product(2, 8, 4, ");
  EXPECT_PRED2(contains, file("f.c"), "run(f_kernel_1, buffers, parameters, ");
  EXPECT_PRED2(contains, file("f.c"), kCRuntime);
  EXPECT_EQ(file("f_data.bin").substr(0, 128), std::string(reinterpret_cast<const char*>(w->data()), 128));
  EXPECT_PRED2(contains, file("f_kernel_1.o"), "f_kernel_1");
}

// Whatever the caller calls its lines.
TEST_F(ExportC, writes_no_comment_that_ends_too_soon) {
  auto x = random({2, 4}, 2);
  save([](Scope& s, const Values& in, Values& out) {
    const Any args[] = {any(in[0].tensor)};
    out.push(Ref<Tensor>(s.invoke("exp", args, nullptr, nullptr, 0, "a*/b.c:1")));
  }, {x.get()});
  ASSERT_EQ(failure(), "no error");
  EXPECT_PRED2(contains, file("f.c"), "[at a* /b.c:1] */");
}

TEST_F(ExportC, names_the_op_and_the_line_that_it_cannot_write) {
  auto x = random({4, 4}, 1);
  save([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "cumprod", {any(in[0].tensor), Any::integer(0)}))); }, {x.get()});
  const std::string says = failure();
  EXPECT_PRED2(contains, says, "cannot be written as C: it is neither part of a kernel nor an op that C is written for");
  EXPECT_PRED2(contains, says, "prod");
  EXPECT_PRED2(contains, says, "[at here:1]");
}

TEST_F(ExportC, writes_convolutions_pools_and_random_numbers_with_the_c_that_they_call) {
  auto x = random({1, 1, 8, 8}, 1), w = random({2, 1, 3, 3}, 2);
  save([w](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "conv2d", {any(in[0].tensor), any(w)});
    out.push(Ref<Tensor>(op(s, "max_pool2d", {any(y), Any::integer(2)})));
  }, {x.get()});
  ASSERT_EQ(failure(), "no error");
  EXPECT_PRED2(contains, file("f.c"), kCConvolutions);
  EXPECT_PRED2(contains, file("f.c"), kCPools);
  EXPECT_FALSE(contains(file("f.c"), kCRandom));
  EXPECT_FALSE(contains(file("f.h"), "f_seed"));
  save([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "dropout", {any(in[0].tensor)}))); }, {x.get()});
  ASSERT_EQ(failure(), "no error");
  EXPECT_PRED2(contains, file("f.c"), kCRandom);
  EXPECT_PRED2(contains, file("f.h"), "void f_seed(int64_t seed);");
  EXPECT_EQ(file("f_data.bin").substr(0, 16), std::string(16, '\0'));  // whatever the context drew from
}

// Code for a processor that LLVM does not know, or that has none of the triple's registers, would end the process.
TEST_F(ExportC, is_for_processors_that_there_are) {
  auto x = random({8}, 1);
  save([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); }, {x.get()});
  const bool x86 = loops::host_target().triple.starts_with("x86_64");
  for (const char* cpu : {"nosuch", "NATIVE", "help", x86 ? "cortex-a72" : "skylake", x86 ? "i386" : "x86-64"})
    EXPECT_PRED2(contains, failure({{"cpu", Any::string(cpu)}}), cat("LLVM knows no processor \"", cpu, "\""));
  EXPECT_EQ(folder.count(), 1u) << "nothing was written";
  EXPECT_EQ(failure({{"cpu", Any::string(x86 ? "znver3" : "cortex-a72")}}), "no error");
}

TEST_F(ExportC, refuses_names_that_mean_something_else_in_c) {
  auto x = random({8}, 1);
  save([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); }, {x.get()});
  for (const char* name : {"int", "for", "class", "main", "linux", "NULL", "size_t", "int8_t", "INT64_MAX", "memcpy", "exp", "expf", "sinl", "isnan", "run", "product",
                           "sums", "copy", "PARALLEL", "PARALLEL_OR", "PRAGMA", "windows", "convolution", "omp_get_max_threads", "__x"})
    EXPECT_PRED2(contains, failure({{"name", Any::string(name)}}), cat("'", name, "' means something else in C"));
  for (const char* name : {"f", "x", "refusal", "kernel", "runs", "LANES", "Int", "exps", "model_int"}) EXPECT_EQ(failure({{"name", Any::string(name)}}), "no error") << name;
}

TEST_F(ExportC, refuses_what_a_function_of_arrays_cannot_be_given) {
  auto x = random({3}, 1);
  save([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); }, {x.get()});
  EXPECT_EQ(failure({{"name", Any::string("1f")}}), "export: '1f' is no name of a function in C; the option 'name' gives one");
  EXPECT_PRED2(contains, failure({{"nmae", Any::string("f")}}), "did you mean 'name'?");
  EXPECT_PRED2(contains, failure({{"program", Any::integer(2)}}), "export: there is no program 2 in '");
  EXPECT_EQ(failure({{"cpu", Any::string("native")}}), "no error");
  EXPECT_EQ(failure({{"name", Any::string("other")}}), "no error");
  EXPECT_PRED2(contains, file("other.h"), "int other(");
}

}  // namespace
}  // namespace thunder::test
