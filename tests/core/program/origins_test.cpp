// Failures of a running program, in terms of what the user wrote.
// covers: core/program/failures.cpp
#include "program/origins.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

struct Origins : CompiledTest {
  // What the call says with these executors; "" names the built-in ones.
  std::string failure(Lambda::Body body, std::string_view executors, std::vector<Tensor*> in) {
    const auto options = executors.empty() ? make<CompileOptions>() : only(executors);
    auto f = compile(std::move(body), options.get());
    Tensor* out = nullptr;
    const auto failed = Ref<Status>::adopt(f->call_tensors(in.data(), in.size(), &out, 1));
    return failed ? failed->message() : "";
  }
  Ref<Tensor> logits = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), wrong = integers({2}, {0, 7});
};

TEST_F(Origins, name_the_loss_and_not_the_line_that_looks_up) {
  const auto loss = [](Scope& s, const Values& in, Values& out) {
    Tensor* l = s.invoke("cross_entropy", std::vector{any(in[0].tensor.get()), any(in[1].tensor.get())}, nullptr, nullptr, 0, "train.lua:5");
    out.push(Ref<Tensor>(l));
  };
  for (const char* executors : {"", "host"}) {
    const std::string said = failure(loss, executors, {logits.get(), wrong.get()});
    EXPECT_TRUE(said.starts_with("cross_entropy: index 7 is out of range for dim 1 of size 3 [at train.lua:5, run by executor '")) << said;
  }
}

TEST_F(Origins, are_found_where_a_gradient_is_taken_as_well) {
  for (const char* loss : {"cross_entropy", "nll_loss", "multi_margin_loss"})
    for (const bool alone : {false, true})
      for (const char* executors : {"", "host"}) {
        const auto step = [&](Scope& s, const Values& in, Values& out) {
          Values wrt;
          wrt.push(in[0].tensor);
          Tensor* l = s.invoke(loss, std::vector{any(in[0].tensor.get()), any(in[1].tensor.get())}, nullptr, nullptr, 0, "train.lua:5");
          if (!alone) out.push(Ref<Tensor>(l));
          out.push((*s.grad(l, wrt))[0].tensor);
        };
        const std::string said = failure(step, executors, {logits.get(), wrong.get()});
        EXPECT_TRUE(said.starts_with(cat(loss, ": index 7 is out of range for dim 1 of size 3"))) << loss << alone << executors << ": " << said;
      }
}

TEST_F(Origins, are_found_where_the_gradient_of_a_look_up_is_alone) {
  const auto step = [](Scope& s, const Values& in, Values& out) {
    Values wrt;
    wrt.push(in[0].tensor);
    Tensor* rows = op(s, "embedding", {any(in[1].tensor.get()), any(in[0].tensor.get())});
    out.push((*s.grad(op(s, "sum", {any(rows)}), wrt))[0].tensor);
  };
  const std::string said = failure(step, "", {logits.get(), wrong.get()});
  EXPECT_TRUE(said.starts_with("embedding: index 7 is out of range for dim 0 of size 2")) << said;
}

TEST_F(Origins, of_a_look_up_are_itself) {
  const auto look_up = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "embedding", {any(in[1].tensor.get()), any(in[0].tensor.get())}))})));
  };
  const std::string said = failure(look_up, "", {logits.get(), wrong.get()});
  EXPECT_TRUE(said.starts_with("embedding: index 7 is out of range for dim 0 of size 2 [at here:1, run by executor '")) << said;
}

}  // namespace
}  // namespace thunder::test
