// Every op with arguments of every other kind: right, or an error that names the op. Nothing reads what is not there.
#include "battery/battery.h"
#include "battery/other_kinds.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

// What went wrong, or "".
std::string mistake(const Case& c, const Outcome& made) {
  if (made.error.empty() || made.code == Code::out_of_memory) return "";
  if (made.code == Code::internal) return "an internal error: " + made.error;
  return made.error.find(c.op->name()) == std::string::npos ? "does not name the op: " + made.error : "";
}

struct Arguments : Battery {
  // Calls `check` with each op's first sample, an argument of which is another, or is missing.
  template <class F>
  void each(const F& check) {
    const auto others = other_kinds();
    for (auto& op : ops()) {
      if (op->has(kHidden)) continue;
      const auto cases = cases_of(*op);
      for (size_t i = 0; i < op->schema.params.size(); i++)
        for (const OtherKind& other : others) {
          Case c = cases[0];
          while (c.sample.args.size() <= i) c.sample.args.push_back({});
          c.sample.args[i] = other.arg;
          c.name = std::string(op->name()) + "(" + op->schema.params[i].name + " = " + other.name + ")";
          check(c);
          tally()["arguments of other kinds"]++;
        }
    }
  }
};

TEST_F(Arguments, of_other_kinds_work_or_are_refused_by_name_when_eager) {
  each([&](const Case& c) { EXPECT_EQ(mistake(c, run_eager(*context, c, make_tensors(c))), "") << c.name; });
}

TEST_F(Arguments, of_other_kinds_work_or_are_refused_by_name_when_traced) {
  each([&](const Case& c) {
    const Tensors tensors = make_tensors(c);
    EXPECT_EQ(mistake(c, run_traced(*context, c, tensors, 1)), "") << c.name;
  });
}

TEST_F(Arguments, of_other_kinds_work_or_are_refused_by_name_when_compiled) {
  size_t number = 0;
  each([&](const Case& c) {
    if (number++ % 5) return;
    const Tensors tensors = make_tensors(c);
    if (!run_eager(*context, c, tensors).error.empty()) return;
    EXPECT_EQ(mistake(c, run_compiled(*context, c, tensors, 1)), "") << c.name;
  });
}

// Where PyTorch takes a number, and Python's operators do.
TEST_F(Arguments, that_are_numbers_stand_only_where_the_schema_says_so) {
  std::string taken;
  for (auto& op : context->registry().all())
    for (const Param& p : op->schema.params)
      if (p.number && op->name() != "prims.full")  // of which it makes a tensor
        taken += std::string(op->name()) + "." + p.name + " ";
  EXPECT_EQ(taken.find("prims."), taken.npos) << "prims take tensors alone: " << taken;
  for (const char* place : {"add.other", "sub.input", "mul.other", "div.other", "pow.other", "where.other", "clamp.min", "eq.other", "masked_fill.value",
                            "fill.value", "full.fill_value", "arange.end"})
    EXPECT_NE((" " + taken).find(std::string(" ") + place + " "), taken.npos) << place << " takes no number";
  for (const char* place : {"matmul.other", "linear.weight", "mean.input", "exp.input", "clamp.input", "where.condition", "mse_loss.target"})
    EXPECT_EQ((" " + taken).find(std::string(" ") + place + " "), taken.npos) << place << " takes a number";
}

// PyTorch's wrapped number: what th_f64() gives, and what a traced function is given for a number.
TEST_F(Arguments, that_are_handles_of_numbers_are_tensors_in_every_way) {
  const Tensors number = {Tensor::number(Arg::real(2.5))}, integer = {Tensor::number(Arg::integer(3000000))};
  const Case mean{context->registry().find("mean"), {{TensorSpec{{}}}}, "mean", ""}, sum{context->registry().find("sum"), {{TensorSpec{{}}}}, "sum", ""};
  for (const Outcome& made : {run_eager(*context, mean, number), run_compiled(*context, mean, number, 1)}) {
    EXPECT_EQ(made.error, "");
    EXPECT_EQ(made.values, (std::vector<std::vector<double>>{{2.5}}));
    EXPECT_EQ(made.types[0].dtype, DType::f32);
  }
  for (const Outcome& made : {run_eager(*context, sum, integer), run_compiled(*context, sum, integer, 1)})
    EXPECT_EQ(made.values, (std::vector<std::vector<double>>{{3000000}})) << made.error;
  for (const Outcome& made : {run_eager(*context, mean, integer), run_compiled(*context, mean, integer, 1)})
    EXPECT_EQ(made.error.find("mean: "), 0u) << made.error;
}

// As torch.split(torch.empty(0), []) does.
TEST_F(Arguments, that_ask_for_no_results_leave_no_line) {
  const Body body = [](Scope& s, std::span<Tensor* const> in) {
    const Values* parts = s.invoke_all("split", std::initializer_list<Any>{Any::tensor(in[0]), Any::dims({})}, nullptr, nullptr);
    EXPECT_EQ(parts->size(), 0u);
    return std::vector<Tensor*>{in[0]};
  };
  EXPECT_EQ(call_compiled(*context, body, {tensor_of({0}, DType::f32, {})}, 1, CompileOptions()).error, "");
}

// What a PyTorch user tries by mistake.
TEST_F(Arguments, that_are_numbers_are_refused_where_a_tensor_belongs) {
  EagerScope scope(context->scope_environment(), false);
  const auto refused = [&](std::string_view op, std::initializer_list<Any> args, std::string_view argument) {
    scope.invoke(op, {args.begin(), args.size()}, nullptr, nullptr, 0, nullptr);
    const std::string message = scope.status() ? scope.status()->message() : "";
    scope.reset();
    EXPECT_EQ(message.find(op), 0u) << message;
    EXPECT_NE(message.find("'" + std::string(argument) + "' must be a tensor, got the "), message.npos) << message;
  };
  const Tensors x = {tensor_of({2, 2}, DType::f32, {1, 2, 3, 4})};
  const Any t = Any::tensor(x[0].get());
  const int64_t one[] = {1};
  refused("mean", {Any::integer(3000000)}, "input");
  refused("softmax", {Any::integer(1), Any::integer(0)}, "input");
  refused("matmul", {t, Any::integer(2)}, "other");
  refused("layer_norm", {Any::integer(1), Any::dims(one)}, "input");
  refused("embedding", {t, Any::integer(1)}, "weight");
  refused("cross_entropy", {t, Any::integer(1)}, "target");
  // Those that PyTorch refuses, though one could be made of a number.
  refused("exp", {Any::real(2.5)}, "input");
  refused("relu", {Any::integer(2)}, "input");
  refused("clamp", {Any::boolean(true), Any::integer(0)}, "input");
  refused("masked_fill", {t, Any::boolean(true), Any::integer(0)}, "mask");
  refused("where", {Any::boolean(true), t, Any::integer(0)}, "condition");
  scope.invoke("mean", std::initializer_list<Any>{Any::integer(3)}, nullptr, nullptr, 0, nullptr);
  EXPECT_EQ(scope.status()->message(), "mean: argument 'input' must be a tensor, got the integer 3");
  scope.reset();
  scope.invoke("add", std::initializer_list<Any>{t, Any::integer(2)}, nullptr, nullptr, 0, nullptr);
  EXPECT_FALSE(scope.status()) << "a number is an operand as in PyTorch";
}

}  // namespace
}  // namespace thunder::battery
