// Compiled functions as ONNX models; tests/python/onnx_export_test.py runs them.
#include "jit/programs/export_onnx.h"

#include "base/files.h"
#include "modules/module.h"
#include "support/failure.h"
#include "support/folder.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct ExportOnnx : CompiledTest {
  Folder folder;
  std::string failure(const Compiled& f, const std::map<std::string, Any>& given = {}) {
    Options options;
    for (auto& [name, value] : given) options.set(name, value);
    return failure_of([&] { export_onnx(f, folder / "f.onnx", &options); });
  }
  std::string model() { return read_file(folder / "f.onnx", 1 << 20); }
};

void doubled(Scope& s, const Values& in, Values& out) {
  out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), Any::real(2)})));
}

TEST_F(ExportOnnx, needs_a_program) {
  const auto f = compile(doubled);
  EXPECT_PRED2(contains, failure(*f), "export_onnx: f has no program yet; call it, or prepare it, first");
}

TEST_F(ExportOnnx, asks_which_of_several_programs) {
  const auto f = compile(doubled);
  const auto x = random({2}, 1), y = random({2, 2}, 2);
  result(*f, {x.get()}), result(*f, {y.get()});
  EXPECT_PRED2(contains, failure(*f), "f has 2 programs; the option 'program' says which");
  EXPECT_EQ(failure(*f, {{"program", Any::integer(2)}}), "no error");
  EXPECT_PRED2(contains, model(), "Mul");
}

TEST_F(ExportOnnx, refuses_an_opset_that_is_none) {
  const auto f = compile(doubled);
  const auto x = random({2}, 1);
  result(*f, {x.get()});
  EXPECT_PRED2(contains, failure(*f, {{"opset", Any::integer(9)}}), "opset must be 17 to 25, got 9");
  EXPECT_PRED2(contains, failure(*f, {{"opsett", Any::integer(9)}}), "did you mean 'opset'?");
}

TEST_F(ExportOnnx, gives_what_a_call_writes_as_one_more_output) {
  const auto f = compile([](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(in[0].tensor), any(in[1].tensor)});
    out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)})));
  });
  const auto x = random({2}, 1), y = random({2}, 2);
  ASSERT_TRUE(result(*f, {x.get(), y.get()})) << error;
  ASSERT_EQ(failure(*f), "no error");
  EXPECT_PRED2(contains, model(), "input_0.new");
  EXPECT_PRED2(contains, model(), "Neg");
}

// What is written is told by its name, also where modules use a name twice.
TEST_F(ExportOnnx, tells_tensors_of_one_name_apart) {
  const auto a = tensor({2}, {1, 2}), b = tensor({2}, {3, 4});
  const auto f = compile([=](Scope& s, const Values& in, Values& out) {
    Tensor* const parts[] = {s.parameter(a.get(), "weight"), s.parameter(b.get(), "weight")};
    for (Tensor* part : parts) op(s, "add_", {any(part), any(in[0].tensor)});
    out.push(Ref<Tensor>(op(s, "add", {any(parts[0]), any(parts[1])})));
  });
  const auto x = random({2}, 1);
  ASSERT_TRUE(result(*f, {x.get()})) << error;
  ASSERT_EQ(failure(*f), "no error");
  EXPECT_PRED2(contains, model(), "weight_2.new");
}

}  // namespace
}  // namespace thunder::test
