// Every op with arguments of every other kind: right, or an error that names the op. Nothing reads what is not there.
#include "battery/battery.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

struct Other {
  const char* name;
  SampleArg arg;
};
std::vector<Other> other_kinds() {
  std::vector<Other> out = {{"nothing", {}},
                            {"number", 2},
                            {"huge number", int64_t{3000000}},
                            {"largest number", INT64_MAX},
                            {"negative number", -7},
                            {"float", 1.5},
                            {"huge float", 1e300},
                            {"bool", true},
                            {"string", "mean"},
                            {"list", std::vector<int64_t>{1, 2}},
                            {"empty list", std::vector<int64_t>{}},
                            {"huge list", std::vector<int64_t>{int64_t{1} << 62, 4}},
                            {"dtype", DType::f32},
                            {"tensors", std::vector<TensorSpec>{TensorSpec{{2, 3}}}},
                            {"empty tensor", TensorSpec{{0}}},
                            {"matrix", TensorSpec{{2, 3}}},
                            {"five dims", TensorSpec{{1, 2, 1, 3, 1}}}};
  for (DType d : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean}) out.push_back({"0-d tensor", TensorSpec{{}, d, 0, 1}});
  return out;
}

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
      const auto cases = accepted_cases(*op);
      if (cases.empty()) continue;
      for (size_t i = 0; i < op->schema.params.size(); i++)
        for (const Other& other : others) {
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
    if (run_eager(*context, c, tensors).error.empty()) EXPECT_EQ(mistake(c, run_compiled(*context, c, tensors, 1)), "") << c.name;
  });
}

// What a PyTorch user tries by mistake.
TEST_F(Arguments, that_are_numbers_are_refused_where_a_tensor_belongs) {
  EagerScope scope(context->scope_environment(), false);
  const auto refused = [&](std::string_view op, std::initializer_list<Any> args, std::string_view argument) {
    scope.invoke(op, {args.begin(), args.size()}, nullptr, nullptr, 0, nullptr);
    const std::string message = scope.status() ? scope.status()->message() : "";
    scope.reset();
    EXPECT_EQ(message.find(op), 0u) << message;
    EXPECT_NE(message.find("'" + std::string(argument) + "' must be a tensor"), message.npos) << message;
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
  scope.invoke("add", std::initializer_list<Any>{t, Any::integer(2)}, nullptr, nullptr, 0, nullptr);
  EXPECT_FALSE(scope.status()) << "a number is an operand as in PyTorch";
}

}  // namespace
}  // namespace thunder::battery
