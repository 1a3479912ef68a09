// Donated arguments, whose memory a program uses.
#include "jit/run/donations.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

constexpr int64_t kRows = 256, kColumns = 256, kBytes = kRows * kColumns * 4;

struct DonatedArguments : CompiledTest {
  Ref<CompileOptions> donating(std::string_view numbers) const {
    auto options = by_line();
    options->set("donate_argnums", Any::string(numbers));
    return options;
  }
  // exp(x) @ exp(-x), which needs memory for two matrices of that size where none is given.
  static void body(Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* e = op(s, "exp", {any(x)});
    Tensor* minus = op(s, "exp", {any(op(s, "neg", {any(x)}))});
    Tensor* product = op(s, "matmul", {any(e), any(minus)});
    out.push(Ref<Tensor>(op(s, "sum", {any(product), Any::dims(std::span<const int64_t>())})));
  }
  Ref<Tensor> matrix(uint32_t seed) { return random({kRows, kColumns}, seed); }
  // The first result. `in` alone holds the argument, unless `also` does.
  float call(Compiled& f, Values& in) {
    Values out;
    if (const auto failed = Ref<Status>::adopt(f.call(in, out))) {
      error = failed->message();
      return -1;
    }
    return data(*out[0].tensor)[0];
  }
};

TEST_F(DonatedArguments, give_their_memory_to_what_is_computed_later) {
  auto kept = compile(body), donated = compile(body, donating("0").get());
  Values in;
  in.push(matrix(1));
  const float wanted = call(*kept, in);
  EXPECT_EQ(call(*donated, in), wanted) << error;
  EXPECT_LE(donated->reports().statistics().peak_bytes + kBytes, kept->reports().statistics().peak_bytes);
}

TEST_F(DonatedArguments, are_gone_afterwards) {
  auto f = compile(body, donating("0").get());
  Values in;
  in.push(matrix(1));
  call(*f, in);
  call(*f, in);
  EXPECT_NE(error.find("was donated to an earlier call"), std::string::npos) << error;
}

TEST_F(DonatedArguments, that_somebody_else_has_stay_as_they_are) {
  auto f = compile(body, donating("0").get());
  const Ref<Tensor> x = matrix(1);
  const Floats before = data(*x);
  Values in;
  in.push(x);
  const float first = call(*f, in), again = call(*f, in);
  EXPECT_EQ(first, again) << error;
  EXPECT_EQ(data(*x), before);
  Tensor* const same[] = {x.get()};
  EXPECT_EQ(run(*f, {same[0]})[0], first) << error;
  EXPECT_EQ(data(*x), before);
}

TEST_F(DonatedArguments, whose_memory_a_view_shows_stay_as_they_are) {
  auto f = compile(body, donating("0").get());
  Ref<Tensor> x = matrix(1);
  const Ref<Tensor> view = Tensor::view(x->storage(), x->type(), x->strides(), 0);
  const Floats before = data(*view);
  Values in;
  in.push(std::move(x));
  call(*f, in);
  EXPECT_EQ(data(*view), before);
}

TEST_F(DonatedArguments, are_copied_where_another_argument_is_the_same_memory) {
  auto f = compile(
      [](Scope& s, const Values& in, Values& out) {
        body(s, in, out);
        out.push(Ref<Tensor>(op(s, "neg", {any(in[1].tensor.get())})));
      },
      donating("0").get());
  const Ref<Tensor> x = matrix(1);
  const Floats before = data(*x);
  const auto borrowed = [&] {
    return Tensor::view(Storage::borrow(x->data(), x->bytes(), nullptr, nullptr), x->type(), x->strides(), 0);
  };
  Values in, out;
  in.push(borrowed());
  in.push(borrowed());
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*x), before);
  EXPECT_EQ(data(*out[1].tensor)[5], -before[5]);
}

TEST_F(DonatedArguments, that_are_transposed_or_have_gaps_give_right_results) {
  auto kept = compile(body), donated = compile(body, donating("0").get());
  for (const bool gaps : {false, true}) {
    const auto strided = [&] {
      Ref<Tensor> x = random({kRows, 2 * kColumns}, 3);
      const TensorType type = matrix(1)->type();
      return Tensor::view(x->storage(), type, gaps ? Sizes{2 * kColumns, 1} : Sizes{1, kRows}, 0);
    };
    Values a, b;
    a.push(strided());
    b.push(strided());
    const float wanted = call(*kept, a);
    EXPECT_EQ(call(*donated, b), wanted) << error;
  }
}

TEST_F(DonatedArguments, are_overwritten_element_by_element) {
  auto f = compile(
      [](Scope& s, const Values& in, Values& out) {
        Tensor* x = in[0].tensor.get();
        Tensor* e = op(s, "exp", {any(x)});
        out.push(Ref<Tensor>(op(s, "matmul", {any(e), any(e)})));
      },
      donating("0").get());
  auto plain = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* e = op(s, "exp", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "matmul", {any(e), any(e)})));
  });
  Values a, b;
  a.push(matrix(2));
  b.push(matrix(2));
  const float wanted = call(*plain, a);
  EXPECT_EQ(call(*f, b), wanted) << error;
  EXPECT_LE(f->reports().statistics().peak_bytes + kBytes, plain->reports().statistics().peak_bytes);
}

TEST_F(DonatedArguments, must_be_there_and_not_be_written) {
  auto absent = compile(body, donating("3").get());
  Values in;
  in.push(matrix(1));
  call(*absent, in);
  EXPECT_NE(error.find("donate_argnums names the argument '3'"), std::string::npos) << error;
  auto written = compile(
      [](Scope& s, const Values& in, Values& out) {
        op(s, "exp_", {any(in[0].tensor.get())});
        body(s, in, out);
      },
      donating("0").get());
  call(*written, in);
  EXPECT_NE(error.find("cannot be donated"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
