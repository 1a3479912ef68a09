// What a forward gives beside its results.
// covers: core/jit/backward/split.cpp
#include "jit/backward/split.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Forward : CompiledTest {
  Ref<ForwardFunction> forward(Lambda::Body body) {
    const Ref<CompileOptions> options = by_line();
    options->update_settings();
    return make<ForwardFunction>(CompileSetup{context, options}, Ref<Function>::adopt(new Lambda(std::move(body))));
  }
  Ref<Compiled> compiled(const Ref<ForwardFunction>& f) {
    return make<Compiled>(context, Ref<Function>(f.get()), by_line().get());
  }
  // The leaves of a call's results.
  Ref<Values> call(Compiled& f, std::vector<Ref<Tensor>> in) {
    Values values;
    for (const Ref<Tensor>& t : in) values.push(t);
    auto out = make<Values>();
    if (Status* failed = f.call(values, *out)) error = failed->message(), failed->release();
    return out;
  }
};

TEST_F(Forward, saves_nothing_where_inputs_and_results_suffice) {
  auto f = forward([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "mul", {any(x), any(x)}))})));
  });
  const auto program = compiled(f);
  const auto out = call(*program, {tensor({2}, {0, 1})});
  ASSERT_EQ(out->size(), 2u) << error;  // the result, and the split
  EXPECT_EQ(static_cast<Split&>(*(*out)[1].auxiliary).parts().outputs.saved, 0u);
}

TEST_F(Forward, gives_what_it_saves_and_writes_after_the_results) {
  auto count = tensor({2}, {1, 1});
  auto f = forward([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    op(s, "add_", {any(count), Any::real(1)});
    out.push(Ref<Tensor>(op(s, "sum", {any(op(s, "tanh", {any(op(s, "matmul", {any(x), any(x)}))}))})));
  });
  const auto program = compiled(f);
  const auto out = call(*program, {tensor({2, 2}, {1, 2, 3, 4})});
  ASSERT_EQ(out->size(), 4u) << error;
  EXPECT_EQ(data(*(*out)[1].tensor), (Floats{2, 2}));
  EXPECT_EQ(data(*count), (Floats{1, 1}));  // whoever called the forward writes it
  EXPECT_EQ((*out)[2].tensor->type().rank(), 2u);
}

TEST_F(Forward, refuses_results_that_depend_on_what_is_written) {
  auto f = forward([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    op(s, "mul_", {any(x), Any::real(2)});
    out.push(Ref<Tensor>(op(s, "sum", {any(x)})));
  });
  const auto program = compiled(f);
  call(*program, {tensor({2}, {1, 2})});
  EXPECT_NE(error.find("its results depend on what it writes in place"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
