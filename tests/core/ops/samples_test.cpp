// Every op on the inputs that its row declares: it runs on them, refuses what it should, and its gradient agrees with
// finite differences in f64.
#include "ops/samples.h"

#include <cmath>
#include <deque>
#include <random>

#include "support/eager.h"

namespace thunder {
namespace {

// Arguments made concrete; tensors that are real become f64 when differences are taken.
struct Made {
  std::vector<Any> args;
  std::vector<Tensor*> reals;
};
class Maker {
 public:
  explicit Maker(Eager& e) : e_(e) {}
  Tensor* tensor(const TensorSpec& spec, bool f64) {
    int64_t n = 1;
    for (int64_t d : spec.shape) n *= d;
    std::vector<double> data(static_cast<size_t>(n));
    const bool real = is_real(spec.dtype);
    for (double& v : data)
      v = real ? std::uniform_real_distribution(spec.low, spec.high)(random_)
               : static_cast<double>(std::uniform_int_distribution<int64_t>(static_cast<int64_t>(spec.low), static_cast<int64_t>(spec.high))(random_));
    return e_.tensor(spec.shape, data, real && f64 ? DType::f64 : spec.dtype);
  }
  Made make(const Sample& s, bool f64 = false) {
    Made m;
    for (const SampleArg& a : s.args) {
      Any v;
      if (auto* t = std::get_if<TensorSpec>(&a.value)) {
        v = any(tensor(*t, f64));
        if (is_real(v.t->type().dtype)) m.reals.push_back(v.t);
      } else if (auto* list = std::get_if<std::vector<TensorSpec>>(&a.value)) {
        lists_.emplace_back();
        for (auto& spec : *list) {
          lists_.back().push_back(tensor(spec, f64));
          if (is_real(lists_.back().back()->type().dtype)) m.reals.push_back(lists_.back().back());
        }
        v.kind = ArgKind::values, v.count = static_cast<uint32_t>(list->size()), v.ts = lists_.back().data();
      } else if (auto* b = std::get_if<bool>(&a.value)) v = any(*b);
      else if (auto* i = std::get_if<int64_t>(&a.value)) v = Any::integer(*i);
      else if (auto* f = std::get_if<double>(&a.value)) v = any(*f);
      else if (auto* str = std::get_if<std::string>(&a.value)) v = Any::string(*str);
      else if (auto* d = std::get_if<std::vector<int64_t>>(&a.value)) v = any(*d);
      else if (auto* t = std::get_if<DType>(&a.value)) v = any(f64 && is_real(*t) ? DType::f64 : *t);
      m.args.push_back(v);
    }
    return m;
  }

 private:
  Eager& e_;
  std::mt19937 random_{7};
  std::deque<std::vector<Tensor*>> lists_;
};

Samples samples_of(const OpDef& op) {
  Samples s;
  if (op.samples) op.samples(s);
  return s;
}

TEST(Samples, are_what_the_op_runs_on) {
  Eager names;
  for (auto& op : names.registry().all()) {
    size_t number = 0;
    for (const Sample& s : samples_of(*op).all) {
      Eager e;
      Maker maker(e);
      Made m = maker.make(s);
      e.scope().invoke(op->name(), m.args, nullptr, nullptr, 0, nullptr);
      EXPECT_FALSE(e.scope().status()) << op->name() << " sample " << number << ": " << e.scope().status()->message();
      number++;
    }
  }
}

TEST(Samples, that_are_refused_are_named) {
  Eager names;
  for (auto& op : names.registry().all())
    for (auto& [s, word] : samples_of(*op).refused) {
      Eager e;
      Maker maker(e);
      Made m = maker.make(s);
      e.scope().invoke(op->name(), m.args, nullptr, nullptr, 0, nullptr);
      ASSERT_TRUE(e.scope().status()) << op->name() << " accepted what it should refuse for '" << word << "'";
      const std::string& message = e.scope().status()->message();
      EXPECT_NE(message.find(word), message.npos) << op->name() << ": " << message;
      EXPECT_EQ(message.find(op->name()), 0u) << message;
    }
}

// sum(weights * op(args)) over every real result, as one number.
Tensor* loss_of(Eager& e, const OpDef& op, const Made& m) {
  Tensor* out[4] = {};
  const size_t n = op.schema.variadic() ? 1 : op.schema.results.size();
  e.scope().invoke(op.name(), m.args, nullptr, out, n, nullptr);
  Tensor* loss = nullptr;
  for (size_t i = 0; i < n && !e.scope().status(); i++) {
    if (!is_real(out[i]->type().dtype)) continue;
    std::vector<double> weights;
    for (int64_t j = 0; j < out[i]->elements(); j++) weights.push_back(std::sin(1.0 + 0.7 * static_cast<double>(j) + static_cast<double>(i)));
    std::vector<int64_t> shape(out[i]->sizes(), out[i]->sizes() + out[i]->type().rank());
    Tensor* part = e.run("mul", {any(out[i]), any(e.tensor(shape, weights, DType::f64))});
    part = e.run("sum", {any(part)});
    loss = loss ? e.run("add", {any(loss), any(part)}) : part;
  }
  return loss;
}

void check_gradient(const OpDef& op, const Sample& s, size_t number) {
  Eager e(true);
  Maker maker(e);
  Made m = maker.make(s, true);
  if (m.reals.empty()) return;
  Tensor* loss = loss_of(e, op, m);
  if (!loss || loss->type().dtype != DType::f64) return;
  Values wrt;
  for (Tensor* t : m.reals) wrt.push(Ref<Tensor>(t));
  Values* grads = e.scope().grad(loss, wrt);
  ASSERT_FALSE(e.scope().status()) << op.name() << " sample " << number << ": " << e.scope().status()->message();
  for (size_t r = 0; r < m.reals.size(); r++) {
    auto got = values((*grads)[r].tensor.get());
    auto* data = reinterpret_cast<double*>(m.reals[r]->data());
    for (size_t i = 0; i < std::min<size_t>(got.size(), 24); i++) {
      const double at = data[i], h = 1e-5;
      double side[2];
      for (int k = 0; k < 2; k++) {
        data[i] = at + (k ? h : -h);
        // The same draws, and no tape.
        Eager plain;
        side[k] = values(loss_of(plain, op, m))[0];
      }
      data[i] = at;
      const double expected = (side[1] - side[0]) / (2 * h);
      ASSERT_NEAR(got[i], expected, 2e-5 * (1 + std::fabs(expected))) << op.name() << " sample " << number << ", tensor " << r << ", element " << i;
    }
  }
}

TEST(Samples, have_gradients_that_agree_with_differences) {
  Eager names;
  for (auto& op : names.registry().all()) {
    size_t number = 0;
    for (const Sample& s : samples_of(*op).all) {
      if (s.gradient && op->nondiff.empty()) check_gradient(*op, s, number);
      number++;
    }
  }
}

}  // namespace
}  // namespace thunder
