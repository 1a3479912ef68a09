// The Python that has TVM, played by scripts of the shell: what is found, what is refused, and what is kept on disk.
#include "executors/tvm/python.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "support/failure.h"

namespace thunder::tvm {
namespace {

struct TvmPython : testing::Test {
  void SetUp() override { ::setenv("THUNDER_CACHE_DIR", (folder.path() + "/cache").c_str(), 1); }
  void TearDown() override { ::unsetenv("THUNDER_CACHE_DIR"); }

  // One that has TVM, and does this when it is asked for the ops, or to compile: $4 and $5 are the model and the library.
  std::string fake(std::string_view then) {
    return script(cat("if [ $3 = installed ]; then echo a warning; echo 'thunder: tvm 9.8 /lib of/tvm'\n"
                      "echo 'thunder: tvm_ffi 0.1 /lib of/ffi'; exit 0; fi\n",
                      then));
  }
  std::string script(std::string_view text) {
    const std::string path = folder.path() + "/python";
    write_file(path, cat("#!/bin/sh\n", text, "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  static std::string report(const std::string& file) { return Python(file).report(); }

  TemporaryFolder folder;
};

TEST_F(TvmPython, that_has_all_says_where_it_is) {
  const Python python(fake("exit 0"));
  ASSERT_TRUE(python.opened()) << python.report();
  EXPECT_EQ(python.version(), "9.8");
  EXPECT_EQ(python.ffi_library(), "/lib of/ffi/lib/libtvm_ffi.so");
  EXPECT_EQ(python.runtime_library(), "/lib of/tvm/lib/libtvm_runtime.so");
  EXPECT_EQ(python.extra_library(), "/lib of/tvm/lib/libtvm_runtime_extra.so");
}

TEST_F(TvmPython, without_all_packages_is_named_with_the_reason) {
  EXPECT_EQ(report("/no/such/python"),
            "none of /no/such/python has TVM: it could not be started: No such file or directory "
            "(THUNDER_TVM_PYTHON may name a Python that has it)");
  EXPECT_PRED2(contains, report(script("echo 'it has no package onnx' >&2; exit 1")), "it has no package onnx");
  EXPECT_PRED2(contains, report(script("kill -9 $$")), "it was ended by signal 9");
  EXPECT_PRED2(contains, report(script("echo something else")), "it does not say where they are");
}

TEST_F(TvmPython, is_the_one_that_the_variable_names) {
  ::setenv("THUNDER_TVM_PYTHON", fake("exit 0").c_str(), 1);
  EXPECT_TRUE(Python("").opened());
  ::setenv("THUNDER_TVM_PYTHON", "/no/such/python", 1);
  EXPECT_PRED2(contains, Python("").report(), "none of /no/such/python has TVM");
  ::unsetenv("THUNDER_TVM_PYTHON");
}

TEST_F(TvmPython, is_asked_once_for_the_ops) {
  const Python python(fake("echo 'thunder: ops Add Relu'"));
  EXPECT_EQ(python.ops(), (Names{"Add", "Relu"}));
  std::filesystem::remove(python.path());
  EXPECT_EQ(python.ops(), (Names{"Add", "Relu"}));
}

TEST_F(TvmPython, compiles_a_model_once_for_each_kind_of_machine) {
  const Python python(fake("cp $4 $5; echo compiled >> $5"));
  EXPECT_EQ(python.compile("model ", "one"), "model compiled\n");
  EXPECT_EQ(python.compile("other ", "one"), "other compiled\n");
  std::filesystem::remove(python.path());
  EXPECT_EQ(python.compile("model ", "one"), "model compiled\n");
  EXPECT_THROW(python.compile("model ", "another"), Error);
}

TEST_F(TvmPython, declines_a_model_that_tvm_refuses) {
  const Python python(fake("echo 'OpNotImplemented: no Foo'; exit 3"));
  try {
    python.compile("model", "");
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::declined);
    EXPECT_EQ(e.message(), "TVM: OpNotImplemented: no Foo");
  }
}

TEST_F(TvmPython, that_cannot_compile_at_all_is_an_error_with_its_last_words) {
  const auto failure = [](const Python& python, auto call) -> std::string {
    try {
      call(python);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::backend);
      return e.message();
    }
    return "none";
  };
  const auto compile = [](const Python& p) { p.compile("model", ""); };
  const Python no_compiler(fake("echo Traceback; echo 'RuntimeError: no g++ here'; exit 1"));
  EXPECT_EQ(failure(no_compiler, compile),
            cat("TVM: ", no_compiler.path(), ": it exited with status 1: RuntimeError: no g++ here"));
  EXPECT_PRED2(contains, failure(Python(fake("kill -11 $$")), compile), "it was ended by signal 11");
  EXPECT_PRED2(contains, failure(Python(fake("exit 1")), [](const Python& p) { p.ops(); }), "it exited with status 1");
}

}  // namespace
}  // namespace thunder::tvm
