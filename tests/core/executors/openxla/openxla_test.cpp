// OpenXLA as an executor. Also covers one_engine, plugin, executable, module, line, abi; rows and its tables rows_elementwise, rows_index, rows_random,
// rows_reduction, rows_scan, rows_shape, rows_special and rows_window. Without a PJRT plugin those that run something are skipped.
// covers: core/executors/openxla/executable.cpp core/executors/openxla/line.cpp core/executors/openxla/module.cpp
// covers: core/executors/openxla/plugin.cpp core/executors/openxla/rows.cpp core/executors/openxla/rows_elementwise.cpp
// covers: core/executors/openxla/rows_index.cpp core/executors/openxla/rows_random.cpp
// covers: core/executors/openxla/rows_reduction.cpp core/executors/openxla/rows_scan.cpp
// covers: core/executors/openxla/rows_shape.cpp core/executors/openxla/rows_special.cpp
// covers: core/executors/openxla/rows_window.cpp
#include "executors/engines.h"
#include "executors/openxla/executable.h"
#include "executors/openxla/module.h"
#include "executors/openxla/plugin.h"
#include "executors/openxla/rows.h"
#include "ir/prim.h"
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

// Each prim has a row, or the library does not link.
TEST(OpenxlaRows, write_or_say_why_not) {
  for (size_t i = 0; i < kPrims; i++) {
    const openxla::Row& row = openxla::row_of(static_cast<Prim>(i));
    EXPECT_NE(row.write == nullptr, row.why_not.empty()) << name(static_cast<Prim>(i));
  }
}

TEST(OpenxlaModule, names_types_and_results_in_the_memory_of_arguments) {
  openxla::Module m;
  const openxla::Val x = m.add_argument(openxla::type_of(DType::f32, {2, 3})), y = m.add_argument(openxla::type_of(DType::f32, {2, 3}));
  const openxla::Val sum = m.add_op("stablehlo.add", {{x, y}}, m.type(x));
  EXPECT_EQ(m.text({{sum}}, true),
            "\"builtin.module\"() ({\n\"func.func\"() ({\n"
            "^bb0(%0: tensor<2x3xf32>, %1: tensor<2x3xf32>, %out0: tensor<2x3xf32>):\n"
            "%2 = \"stablehlo.add\"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "\"func.return\"(%2) : (tensor<2x3xf32>) -> ()\n}) {sym_name = \"main\", function_type = "
            "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>), "
            "arg_attrs = [{}, {}, {tf.aliasing_output = 0 : i32}]} : () -> ()\n}) : () -> ()\n");
}

TEST(OpenxlaModule, writes_numbers_by_their_bits) {
  openxla::Module m;
  m.splat(1.5, openxla::type_of(DType::bf16, {}));
  m.splat(int64_t{-1}, openxla::type_of(DType::u8, {2}));
  m.splat(int64_t{200}, openxla::type_of(DType::i8, {}));
  const std::string text = m.text({}, false);
  EXPECT_PRED2(contains, text, "dense<0x3FC0> : tensor<bf16>");
  EXPECT_PRED2(contains, text, "dense<255> : tensor<2xui8>");
  EXPECT_PRED2(contains, text, "dense<-56> : tensor<i8>");
}

TEST(OpenxlaModule, refuses_dtypes_that_the_dialect_lacks) {
  openxla::Module m;
  EXPECT_THROW(m.add_argument(openxla::type_of(DType::none, {2})), Error);
}

struct Openxla : CompiledTest {
  void SetUp() override {
    std::string found;
    if (!openxla::Plugin::open(found)) GTEST_SKIP() << found;
  }
  static void softmax_of_product(Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "softmax", {any(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)})), Any::integer(1)})));
  }
  Ref<CompileOptions> backend(std::string_view name) const {
    auto options = make<CompileOptions>();
    options->use_backend(context->backends().get(name));
    return options;
  }
};

TEST_F(Openxla, runs_a_whole_function_as_one_region) {
  const auto f = compile(softmax_of_product, only("openxla").get()), ours = compile(softmax_of_product);
  const auto a = random({4, 8}, 1), b = random({8, 3}, 2);
  const auto got = result(*f, {a.get(), b.get()}), want = result(*ours, {a.get(), b.get()});
  ASSERT_TRUE(got) << error;
  for (size_t i = 0; i < data(*want).size(); i++) EXPECT_NEAR(data(*got)[i], data(*want)[i], 1e-5);
  EXPECT_EQ(lines_of(*f, "openxla"), 1);
  EXPECT_EQ(f->reports().traces().back().nodes.size(), 1u);
}

// `linear` would else be taken whole by an executor of ours.
TEST_F(Openxla, takes_composite_ops_before_other_executors) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "gelu", {any(op(s, "linear", {any(in[0].tensor), any(in[1].tensor)}))})));
  };
  const auto f = compile(body, backend("openxla").get()), ours = compile(body);
  const auto a = random({4, 8}, 1), b = random({3, 8}, 2);
  const auto got = result(*f, {a.get(), b.get()}), want = result(*ours, {a.get(), b.get()});
  ASSERT_TRUE(got) << error;
  for (size_t i = 0; i < data(*want).size(); i++) EXPECT_NEAR(data(*got)[i], data(*want)[i], 1e-5);
  EXPECT_EQ(lines_of(*f, "openxla"), 1);
  EXPECT_EQ(f->reports().traces().back().nodes.size(), 1u);
}

// Optional tensors that are absent have places among a line's inputs.
TEST_F(Openxla, runs_composite_ops_without_their_optional_tensors) {
  static constexpr int64_t kEight[] = {8};
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "layer_norm", {any(in[0].tensor), Any::dims(kEight), Any(), any(in[1].tensor)});
    out.push(Ref<Tensor>(y));
  };
  const auto f = compile(body, backend("openxla").get()), ours = compile(body);
  const auto a = random({4, 8}, 1), b = random({8}, 2);
  const auto got = result(*f, {a.get(), b.get()}), want = result(*ours, {a.get(), b.get()});
  ASSERT_TRUE(got && want) << error;
  for (size_t i = 0; i < data(*want).size(); i++) EXPECT_NEAR(data(*got)[i], data(*want)[i], 1e-5);
  EXPECT_EQ(lines_of(*f, "openxla"), 1);
}

TEST_F(Openxla, follows_inputs_that_move_and_change) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "mul", {any(in[0].tensor), any(in[1].tensor)})));
  };
  const auto f = compile(body, only("openxla").get());
  const auto a = tensor({2}, {2, 3}), b = tensor({2}, {3, 4}), c = tensor({2}, {5, 6});
  EXPECT_EQ(run(*f, {a.get(), b.get()}), (Floats{6, 12})) << error;
  EXPECT_EQ(run(*f, {a.get(), c.get()}), (Floats{10, 18}));
  reinterpret_cast<float*>(c->data())[0] = 7;
  EXPECT_EQ(run(*f, {a.get(), c.get()}), (Floats{14, 18}));
  EXPECT_EQ(run(*f, {c.get(), c.get()}), (Floats{49, 36}));
}

TEST_F(Openxla, copies_no_dense_tensor) {
  std::string found;
  const openxla::Plugin* plugin = openxla::Plugin::open(found);
  if (!plugin->is_on_host()) GTEST_SKIP() << found;
  openxla::Module m;
  const openxla::Val x = m.add_argument(openxla::type_of(DType::f32, {1000})), y = m.add_argument(openxla::type_of(DType::f32, {1000}));
  const openxla::Val sum = m.add_op("stablehlo.add", {{x, y}}, m.type(x)), product = m.add_op("stablehlo.multiply", {{x, y}}, m.type(x));
  const openxla::Executable f(*plugin, m.text({{sum, product}}, true), 2, 2, true);
  const auto a = random({1000}, 1), b = random({1000}, 2), c = random({1000}, 3), d = random({1000}, 4);
  for (int call = 0; call < 3; call++) {
    ASSERT_FALSE(f.run({{a->buffer(), b->buffer()}}, {{c->buffer(), d->buffer()}}));
    EXPECT_FLOAT_EQ(data(*c)[7], data(*a)[7] + data(*b)[7]);
    EXPECT_FLOAT_EQ(data(*d)[7], data(*a)[7] * data(*b)[7]);
  }
  EXPECT_EQ(f.copies(), 0u);
}

// The plugin copies memory that is not aligned as it likes, so a kept buffer would be what the memory was.
TEST_F(Openxla, follows_inputs_that_are_badly_aligned) {
  const auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor)}))); },
                         only("openxla").get());
  const auto whole = tensor({5}, {1, 2, 3, 4, 5});
  TensorType type;
  type.dtype = DType::f32, type.shape = {4};
  const auto part = Tensor::view(whole->storage(), type, {1}, sizeof(float));
  EXPECT_EQ(run(*f, {part.get()}), (Floats{-2, -3, -4, -5})) << error;
  reinterpret_cast<float*>(whole->data())[1] = 9;
  EXPECT_EQ(run(*f, {part.get()}), (Floats{-9, -3, -4, -5}));
}

TEST_F(Openxla, leaves_lines_that_check_indices_to_others) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Tensor* picked = op(s, "index_select", {any(op(s, "exp", {any(in[0].tensor)})), Any::integer(0), any(in[1].tensor)});
    out.push(Ref<Tensor>(op(s, "neg", {any(picked)})));
  };
  const auto f = compile(body, only("openxla").get());
  const auto x = tensor({2}, {0, 1}), good = integers({1}, {0}), bad = integers({1}, {2});
  EXPECT_EQ(run(*f, {x.get(), good.get()}), Floats{-1}) << error;
  EXPECT_EQ(lines_of(*f, "openxla"), 2);
  EXPECT_FALSE(result(*f, {x.get(), bad.get()}));
  EXPECT_PRED2(contains, error, "index 2 is out of range");
}

TEST_F(Openxla, takes_gradients_but_for_inference) {
  const auto body = [](Scope& s, const Values& in, Values& out) {
    Values wrt;
    wrt.push(in[0].tensor);
    out.push((*s.grad(op(s, "sum", {any(op(s, "sin", {any(in[0].tensor)}))}), wrt))[0].tensor);
  };
  const auto x = tensor({1}, {0});
  EXPECT_EQ(run(*compile(body, backend("openxla").get()), {x.get()}), Floats{1}) << error;
  const auto refuses = compile(body, backend("openxla_eval").get());
  EXPECT_FALSE(result(*refuses, {x.get()}));
  EXPECT_PRED2(contains, error, "backend 'openxla_eval' is for inference, and 'f' takes gradients");
  const auto plain = [](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "cos", {any(in[0].tensor)}))); };
  EXPECT_EQ(run(*compile(plain, backend("openxla_eval").get()), {x.get()}), Floats{1}) << error;
}

// One is open already, or this one is looked for in vain.
TEST_F(CompiledTest, an_engine_library_that_is_not_there_is_an_error_that_names_it) {
  auto options = only("openxla");
  options->set("engine_library", Any::string("no/such/plugin.so"));
  const auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); },
                         options.get());
  const auto x = tensor({1}, {1});
  EXPECT_FALSE(result(*f, {x.get()}));
  EXPECT_PRED2(contains, error, "executors: openxla is not available here: ");
  EXPECT_PRED2(contains, error, "no/such/plugin.so");
}

TEST_F(Openxla, takes_the_file_that_is_open_as_an_option) {
  auto options = only("openxla");
  std::string found;
  openxla::Plugin::open(found);
  const std::string file = found.substr(found.find('/'));
  options->set("engine_library", Any::string(file));
  const auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor)}))); },
                         options.get());
  const auto x = tensor({1}, {0});
  EXPECT_EQ(run(*f, {x.get()}), Floats{1}) << error;
}

// A plugin that is not there is an error that says where it was looked for.
TEST_F(CompiledTest, an_absent_plugin_is_an_error_with_every_name) {
  std::string found;
  if (find_engine("openxla")->open("", found)) GTEST_SKIP() << found;
  EXPECT_PRED2(contains, found, "xla_cpu_pjrt.so");
  EXPECT_PRED2(contains, found, "THUNDER_PJRT_PLUGIN");
}

}  // namespace
}  // namespace thunder::test
