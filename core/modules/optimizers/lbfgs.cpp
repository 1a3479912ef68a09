// LBFGS: steps by the gradient times an inverse Hessian approximated from the last steps and gradients.
#include <algorithm>
#include <cmath>

#include "modules/optimizers/line_search.h"
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

constexpr std::array kLbfgs = {
    lr("1"),
    OptionRow{"max_iter", ArgKind::integer, "20", "The greatest number of iterations of a step."},
    OptionRow{"max_eval", ArgKind::integer, "None",
              "After so many evaluations of the loss a step ends; None: max_iter * 5 / 4."},
    OptionRow{"tolerance_grad", ArgKind::real, "1e-07",
              "A step ends where no element of the gradient is larger than this."},
    OptionRow{"tolerance_change", ArgKind::real, "1e-09",
              "A step ends where the loss, and each parameter, changes by less than this."},
    OptionRow{"history_size", ArgKind::integer, "100",
              "How many iterations are remembered: the state holds twice as many copies of the parameters."},
    OptionRow{"line_search_fn", ArgKind::string, "None",
              "'strong_wolfe' looks for the length of each iteration; None: it is lr."},
};

void check_lbfgs(std::string_view who, const Settings& o) {
  for (std::string_view option : {"max_iter", "max_eval"})
    require(o.integer(option) >= 0, who, ": ", option, " must not be negative, got ", o.integer(option));
  require(o.integer("history_size") > 0, who, ": history_size must be positive, got ", o.integer("history_size"));
  const Leaf& search = o.leaf("line_search_fn");
  require(search.kind == ArgKind::none || search.text == "strong_wolfe", who,
          ": line_search_fn must be 'strong_wolfe' or None, got '", search.text, "'");
}

void complete_lbfgs(Settings& o) {
  if (o.leaf("max_eval").kind == ArgKind::none) o.set_integer("max_eval", o.integer("max_iter") * 5 / 4);
}

std::vector<JointMoment> lbfgs_moments(const Settings& o) {
  const int64_t size = o.integer("history_size");
  return {{"n_iter"},
          {"func_evals"},
          {"t"},
          {"H_diag", {}, 1},
          {"history_count"},
          {"ro", {size}},
          {"d", {kAllElements}},
          {"prev_flat_grad", {kAllElements}},
          {"old_dirs", {size, kAllElements}},
          {"old_stps", {size, kAllElements}}};
}

// The pairs of the last iterations: how the gradient changed (old_dirs) and by which step (old_stps), in rows that are
// used in turn.
class History {
 public:
  explicit History(JointStep& s)
      : s_(s), changes_(s.tensor("old_dirs")), steps_(s.tensor("old_stps")), count_(s.number("history_count")) {}

  void clear() { count_ = 0; }

  void add(const Ref<Tensor>& change, const Ref<Tensor>& step, double product) {
    const int64_t at = static_cast<int64_t>(count_) % capacity();
    s_.math.write(s_.math.row(changes_, at), change);
    s_.math.write(s_.math.row(steps_, at), step);
    rho(at) = 1 / product;
    count_++;
  }

  // Minus the approximate inverse Hessian times the gradient: the two loops of Nocedal's recursion.
  Ref<Tensor> direction(const Ref<Tensor>& gradient, double diagonal) {
    const int64_t end = static_cast<int64_t>(count_), begin = std::max<int64_t>(0, end - capacity());
    std::vector<double> shares(static_cast<size_t>(end - begin));
    Ref<Tensor> q = s_.math.scaled(gradient, -1);
    for (int64_t i = end; i-- > begin;) {
      const int64_t at = i % capacity();
      double& share = shares[static_cast<size_t>(i - begin)];
      share = s_.math.dot(s_.math.row(steps_, at), q) * rho(at);
      q = s_.math.sum(q, -share, s_.math.row(changes_, at));
    }
    Ref<Tensor> r = s_.math.scaled(q, diagonal);
    for (int64_t i = begin; i < end; i++) {
      const int64_t at = i % capacity();
      const double other = s_.math.dot(s_.math.row(changes_, at), r) * rho(at);
      r = s_.math.sum(r, shares[static_cast<size_t>(i - begin)] - other, s_.math.row(steps_, at));
    }
    return r;
  }

 private:
  int64_t capacity() const { return s_.settings.integer("history_size"); }
  double& rho(int64_t at) const { return s_.numbers("ro", capacity())[at]; }

  JointStep& s_;
  const Ref<Tensor> changes_, steps_;
  double& count_;
};

// The direction of the next iteration, which becomes "d".
void update_direction(JointStep& s, const Ref<Tensor>& gradient, bool first) {
  History history(s);
  const Ref<Tensor> d = s.tensor("d"), previous = s.tensor("prev_flat_grad");
  double& diagonal = s.number("H_diag");
  if (first) {
    history.clear();
    diagonal = 1;
    s.math.write(d, s.math.scaled(gradient, -1));
  } else {
    const Ref<Tensor> change = s.math.sum(gradient, -1, previous), step = s.math.scaled(d, s.number("t"));
    const double product = s.math.dot(change, step);
    if (product > 1e-10) {
      history.add(change, step, product);
      diagonal = product / s.math.dot(change, change);
    }
    s.math.write(d, history.direction(gradient, diagonal));
  }
  s.math.write(previous, gradient);
}

class Iterations {
 public:
  explicit Iterations(JointStep& s) : s_(s), now_(evaluate_and_count(s)) {}

  void run() {
    const int64_t most = s_.settings.integer("max_iter");
    for (int64_t i = 1; i <= most && !is_gradient_small(now_.gradient); i++)
      if (!iterate(i == most)) return;
  }

 private:
  static JointStep::Point evaluate_and_count(JointStep& s) {
    JointStep::Point point = s.evaluate();
    s.number("func_evals")++;
    return point;
  }
  bool is_gradient_small(const Ref<Tensor>& gradient) const {
    return s_.math.largest(gradient) <= s_.settings.real("tolerance_grad");
  }

  // Whether another may follow.
  bool iterate(bool last) {
    const bool first = ++s_.number("n_iter") == 1;
    update_direction(s_, now_.gradient, first);
    const Ref<Tensor> d = s_.tensor("d");
    const double tolerance = s_.settings.real("tolerance_change"), before = now_.loss;
    double t = first ? std::min(1.0, 1 / s_.math.sum_of_absolutes(now_.gradient)) * s_.lr : s_.lr;
    s_.number("t") = t;
    const double slope = s_.math.dot(now_.gradient, d);
    if (slope > -tolerance) return false;
    t = move(d, t, slope, last);
    s_.number("t") = t;
    if (last || evaluations_ >= s_.settings.integer("max_eval")) return false;
    const bool moved = !(s_.math.largest(d) * std::abs(t) <= tolerance);
    return moved && !(std::abs(now_.loss - before) < tolerance);
  }

  // Moves by t times d, or by another length that a line search finds; returns the length.
  double move(const Ref<Tensor>& d, double t, double slope, bool last) {
    const Ref<Tensor> x = s_.parameters();
    if (s_.settings.leaf("line_search_fn").kind != ArgKind::none) {
      const int64_t most = std::max<int64_t>(0, s_.settings.integer("max_eval") - evaluations_);
      StepLength found = strong_wolfe(s_, x, d, now_, slope, t, most);
      s_.set_parameters(s_.math.sum(x, found.step, d));
      t = found.step, now_ = std::move(found.at);
      count(found.evaluations);
    } else if (last) {
      s_.set_parameters(s_.math.sum(x, t, d));
    } else {
      now_ = s_.evaluate(x, t, d);
      count(1);
    }
    return t;
  }
  void count(int64_t evaluations) {
    evaluations_ += evaluations;
    s_.number("func_evals") += static_cast<double>(evaluations);
  }

  JointStep& s_;
  JointStep::Point now_;
  int64_t evaluations_ = 1;
};

void minimize_lbfgs(JointStep& s) {
  Iterations(s).run();
}

constexpr OptimizerRow kRows[] = {
    {.name = "LBFGS",
     .doc = "Steps along the gradient times an inverse Hessian that the last steps tell of. step() takes a function "
            "that gives the loss and the gradients, and calls it several times.",
     .options = kLbfgs,
     .check = check_lbfgs,
     .complete = complete_lbfgs,
     .joint_moments = lbfgs_moments,
     .minimize = minimize_lbfgs,
     .needs_whole = true},
};

}  // namespace

extern const OptimizerRows closure_rows = kRows;

}  // namespace thunder
