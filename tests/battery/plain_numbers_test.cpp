// Plain numbers beside tensors of every dtype: each op that takes one gives what it gives for a tensor of the type in which
// PyTorch computes, to which the number is converted here, or refuses what the dtype does not hold.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "battery/battery.h"
#include "ir/elements.h"
#include "support/generator.h"

namespace thunder::battery {
namespace {

// ---- PyTorch's rule, told without the library's ----

int category(DType d) { return d == DType::boolean ? 0 : static_cast<int>(d) >> 8 >= 2 ? 2 : 1; }

// A number of the host: an integer or a float.
struct Number {
  bool whole;
  int64_t i;
  double f;
  int category() const { return whole ? 1 : 2; }
  SampleArg sample() const { return whole ? SampleArg(i) : SampleArg(f); }
  std::string text() const { return whole ? cat(i) : cat(f); }
};
constexpr Number integer(int64_t i) { return {true, i, 0}; }
constexpr Number real(double f) { return {false, 0, f}; }
constexpr Number kNumbers[] = {
    integer((int64_t{1} << 53) + 1), integer(-(int64_t{1} << 62) - 3), integer((1 << 24) + 1), integer(70000), integer(300),
    integer(-300), integer(-1), integer(3), real(0.1), real(16777217.0), real(65536.0), real(1e5), real(1e-9), real(-0.0),
    real(1e39), real(-2.7)};

// As c10::overflows has it: unsigned types take negative integers, which wrap around.
bool holds(DType d, const Number& n) {
  if (category(d) != 1) return true;
  const int bits = static_cast<int>(d) & 0xff;
  const bool has_sign = static_cast<int>(d) >> 8 == 0;
  if (!n.whole) return std::fabs(n.f) <= std::ldexp(1.0, bits - has_sign) - 1;
  if (bits == 64) return true;
  const int64_t most = (int64_t{1} << (bits - has_sign)) - 1;
  return n.i <= most && n.i >= (has_sign ? -most - 1 : -most);
}
bool is_narrow(DType d) { return d == DType::f16 || d == DType::bf16; }

// A tensor of rank 0: one conversion.
Ref<Tensor> as_tensor(const Number& n, DType d) {
  auto t = tensor_of({}, d, {0});
  by_element(d, [&](auto zero) {
    using T = decltype(zero);
    T& to = *reinterpret_cast<T*>(t->data());
    if constexpr (std::is_same_v<T, bool>) to = n.whole ? n.i != 0 : n.f != 0;
    else if constexpr (std::is_integral_v<T>) to = n.whole ? static_cast<T>(n.i) : static_cast<T>(static_cast<int64_t>(n.f));
    else if constexpr (std::is_same_v<T, double>) to = n.whole ? static_cast<double>(n.i) : n.f;
    else to = T(n.whole ? static_cast<float>(n.i) : static_cast<float>(n.f));
  });
  return t;
}
Ref<Tensor> as_dtype(const Tensor& t, DType d) {
  return tensor_of(Ints(t.sizes(), t.sizes() + t.type().rank()), d, numbers_of(t));
}

// ---- which arguments ----

// What an op does with a number: computes with it, as reals whatever the operands are, rounded to their dtype, or wraps it around as
// its results do; makes it a factor, which promotes nothing; or stores it in input's dtype.
enum class Use { computes, divides, rounds, wraps, scales, stores, none };
Use use_of(const OpDef& op, size_t param) {
  if (op.schema.params[param].kind != ParamKind::tensor || !op.schema.params[param].number) return Use::none;
  const std::string_view name = op.alias_of.empty() ? op.name() : std::string_view(op.alias_of);
  const auto any = [&](std::initializer_list<std::string_view> names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  // Places, counts, tolerances, tries of a distribution, powers of two, steps between neighbours; and a dtype of its own.
  if (any({"quantile", "nanquantile", "linalg_pinv", "linalg_matrix_rank", "repeat_interleave", "max", "min", "arange", "normal", "ldexp",
           "nextafter", "float_power", "searchsorted", "bucketize"}))
    return Use::none;
  if (op.schema.params[param].name == "alpha") return Use::scales;
  if (any({"div", "true_divide", "atan2", "hypot", "logaddexp", "logaddexp2", "xlogy", "xlog1py", "copysign", "zeta"})) return Use::divides;
  if (any({"fmod", "remainder"})) return Use::rounds;
  if (any({"add", "sub", "mul", "rsub", "bitwise_and", "bitwise_or", "bitwise_xor"})) return Use::wraps;
  if (any({"masked_fill", "fill", "index_fill", "index_put", "scatter", "full_like", "new_full"})) return Use::stores;
  return Use::computes;
}
bool is_plain_number(const SampleArg& a) { return std::holds_alternative<int64_t>(a.value) || std::holds_alternative<double>(a.value); }

// The op of a case as a function of its tensors and a live number.
class Invocation : public Function {
 public:
  Invocation(Case c, size_t n_results) : Function("f"), case_(std::move(c)), n_results_(n_results) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    std::vector<Tensor*> given;
    for (size_t i = 0; i < in.size(); i++) given.push_back(in[i].tensor.get());
    for (Tensor* t : invoke(scope, case_, given, n_results_)) out.push(Any::tensor(t));
    return {};
  }

 private:
  Case case_;
  size_t n_results_;
};

// A tensor of one element as often as `like` has some.
Ref<Tensor> repeated(const Tensor& one, const Tensor& like) {
  TensorType type = like.type();
  type.dtype = one.type().dtype;
  auto out = Tensor::empty(default_allocator(), type);
  const size_t size = size_of(type.dtype);
  for (size_t i = 0; i < static_cast<size_t>(out->elements()); i++) std::memcpy(out->data() + i * size, one.data(), size);
  return out;
}

// Those that take no reals.
bool of_integers(const OpDef& op) { return op.name().starts_with("bitwise") || op.name() == "gcd" || op.name() == "lcm"; }

struct PlainNumbers : Battery {
  // The tensors of the operands get the dtype, masks, indices and conditions stay; other numbers count as little as can be.
  Case with_dtype(Case c, DType d) {
    const bool integral = of_integers(*c.op);
    for (size_t i = 0; i < c.sample.args.size(); i++)
      if (is_plain_number(c.sample.args[i]) && use_of(*c.op, i) != Use::none && category(d) < 2) c.sample.args[i] = SampleArg(int64_t{1});
    return changed(c, [&](TensorSpec& t) {
      if (category(t.dtype) != (integral ? 1 : 2)) return;
      t.dtype = d;
      if (category(d) == 1) t.low = 1, t.high = 9;
      if (category(d) == 0) t.low = 0, t.high = 1;
    });
  }

  // A division that is rounded is one of integers.
  static bool gives_whole(const Case& c) {
    return std::any_of(c.sample.args.begin(), c.sample.args.end(), [](const SampleArg& a) { return std::holds_alternative<std::string>(a.value); });
  }

  // With the number as a tensor of the type in which the op computes.
  Outcome expected(const Case& sample, const Case& c, size_t param, const Number& n, DType d, Use use) {
    const bool reals = use == Use::divides && !gives_whole(c) && category(d) < 2;
    const DType joined = reals ? DType::f32 : n.category() <= category(d) ? d : n.whole ? DType::i64 : DType::f32;
    const DType result = use == Use::stores || use == Use::scales ? d : joined, in = use != Use::stores && is_narrow(result) ? DType::f32 : result;
    Case wide = c;
    wide.sample.args[param] = SampleArg(TensorSpec{{}, in});
    Tensors tensors = make_tensors(c), all;
    size_t next = 0;
    for (size_t i = 0; i < wide.sample.args.size(); i++) {
      if (!std::holds_alternative<TensorSpec>(wide.sample.args[i].value)) {
        if (auto* list = std::get_if<std::vector<TensorSpec>>(&wide.sample.args[i].value))
          for (size_t k = 0; k < list->size(); k++) all.push_back(tensors[next++]);
        continue;
      }
      if (i == param) {
        Ref<Tensor> number = use == Use::rounds ? as_dtype(*as_tensor(n, result), in) : as_tensor(n, in);
        // A tensor to scatter is as large as the index.
        all.push_back(c.op->name() == "scatter" ? repeated(*number, *tensors[1]) : number);
        continue;
      }
      const Ref<Tensor>& t = tensors[next++];
      const bool operand = category(std::get<TensorSpec>(sample.sample.args[i].value).dtype) == (of_integers(*c.op) ? 1 : 2);
      all.push_back(operand && in != d ? as_dtype(*t, in) : t);
    }
    Outcome out = run_eager(*context, wide, all);
    for (size_t i = 0; i < out.types.size(); i++)
      if (out.types[i].dtype == in && in != result) {
        out.types[i].dtype = result;
        for (double& v : out.values[i]) v = stored_as(v, result);
      }
    return out;
  }

  void check(const Case& sample, size_t param, const Number& n, DType d) {
    const Use use = use_of(*sample.op, param);
    Case c = with_dtype(sample, d);
    c.sample.args[param] = n.sample();
    const std::string what = cat(sample.name, " of ", name(d), ", ", sample.op->schema.params[param].name, " = ", n.text());
    if (use == Use::stores && n.category() > category(d)) return;  // some refuse it, others cut it
    if (use == Use::scales && (n.category() > category(d) || category(d) == 0)) return;  // refused, or a boolean's
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    // Of integers there are no fractions.
    if (eager.error.find("negative integer powers") != std::string::npos) return;
    const bool promotes = n.category() > category(d) || category(d) == 2;
    const bool counts = std::count_if(c.sample.args.begin(), c.sample.args.end(), is_plain_number) > 1 && category(d) == 0;
    if (counts) return;  // the other number is no boolean
    const bool must_fit = use == Use::stores || ((use == Use::computes || use == Use::rounds || (use == Use::divides && gives_whole(c))) && !promotes);
    tally()["plain numbers"]++;
    if (must_fit && n.whole && !holds(d, n)) {
      EXPECT_NE(eager.error.find(n.text()), std::string::npos) << what << " must be refused, naming the number: " << eager.error;
      if (!eager.error.empty()) return;
    }
    if (use == Use::stores && !n.whole && category(d) == 2 && std::fabs(n.f) > info(d).largest) {
      EXPECT_NE(eager.error.find("without overflow"), std::string::npos) << what << ": " << eager.error;
      return;
    }
    const Outcome wanted = expected(sample, c, param, n, d, use);
    EXPECT_EQ(difference(eager, wanted, 0.25), "") << what;
    if (!eager.error.empty()) return;
    EXPECT_EQ(disagreement(c, run_compiled(*context, c, tensors, eager.types.size()), eager), "") << what << ", compiled";
    if (!n.whole) EXPECT_EQ(disagreement(c, run_live(c, param, n.f, tensors, eager.types.size()), eager), "") << what << ", live";
  }

  // The number is an argument of the compiled function.
  Outcome run_live(const Case& c, size_t param, double number, const Tensors& tensors, size_t n_results) {
    Case given = c;
    given.sample.args[param] = SampleArg(TensorSpec{{}, DType::f64});
    size_t before = 0;  // how many tensors are given before it
    for (size_t i = 0; i < param; i++) {
      if (std::holds_alternative<TensorSpec>(c.sample.args[i].value)) before++;
      if (auto* list = std::get_if<std::vector<TensorSpec>>(&c.sample.args[i].value)) before += list->size();
    }
    Values in, out;
    for (size_t i = 0; i <= tensors.size(); i++) {
      if (i == before) in.push(Any::real(number));
      if (i < tensors.size()) in.push(tensors[i]);
    }
    reset_random(*context);
    Compiled compiled(context, Ref<Function>::adopt(new Invocation(given, n_results)), nullptr);
    Outcome result;
    if (Status* failed = compiled.call(in, out)) {
      const auto status = Ref<Status>::adopt(failed);
      result.code = status->code(), result.error = status->message();
      return result;
    }
    for (size_t i = 0; i < out.size(); i++) {
      result.types.push_back(out[i].tensor->type());
      result.values.push_back(numbers_of(*out[i].tensor));
    }
    return result;
  }
};

TEST_F(PlainNumbers, are_converted_once_to_the_type_in_which_is_computed) {
  struct Try {
    Case sample;
    size_t param;
  };
  std::vector<Try> tries;
  for (const OpDef* op : ops()) {
    if (op->has(kHidden) || op->prim) continue;
    for (const Case& c : accepted_cases(*op)) {
      // Another one changes no operand.
      const auto has_tensor = [&](const SampleArg& a) {
        auto* t = std::get_if<TensorSpec>(&a.value);
        return t && category(t->dtype) == (of_integers(*op) ? 1 : 2);
      };
      const auto has_dtype = [](const SampleArg& a) { return std::holds_alternative<DType>(a.value); };
      const auto any = [&](const auto& is) { return std::any_of(c.sample.args.begin(), c.sample.args.end(), is); };
      if (!any(has_tensor) || any(has_dtype) || c.sample.eager) continue;
      for (size_t i = 0; i < c.sample.args.size(); i++)
        if (is_plain_number(c.sample.args[i]) && use_of(*op, i) != Use::none) tries.push_back({c, i});
    }
  }
  // A share of the ops has a share of them, and few ops may have none.
  ASSERT_TRUE(std::getenv("THUNDER_BATTERY_OPS") || tries.size() * tests::number_from("THUNDER_BATTERY_SHARE", 1) > 40);
  const auto run = [&](const Try& t, const Number& n, DType d) { check(t.sample, t.param, n, d); };
  if (tests::number_from("THUNDER_TRIES", 0)) {
    for (const Try& t : tries)
      for (const Number& n : kNumbers)
        for (const DTypeInfo& row : all_dtypes()) run(t, n, row.dtype);
    return;
  }
  std::mt19937_64 random(tests::number_from("THUNDER_SEED", 1));
  for (const Try& t : tries)
    for (int k = 0; k < 12; k++) run(t, kNumbers[tests::below(random, std::size(kNumbers))], all_dtypes()[tests::below(random, all_dtypes().size())].dtype);
}

}  // namespace
}  // namespace thunder::battery
