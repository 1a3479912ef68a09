#include "modules/optimizers/line_search.h"

#include <algorithm>
#include <cmath>

namespace thunder {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;

struct Trial : LinePoint {
  Ref<Tensor> gradient;
};

// The state that the phases of one search share.
class Search {
 public:
  Search(JointStep& s, const Ref<Tensor>& x, const Ref<Tensor>& direction, const JointStep::Point& start, double slope,
         int64_t most)
      : step_(s), x_(x), direction_(direction), most_(most) {
    start_ = {{0, start.loss, slope}, start.gradient};
  }

  StepLength run(double step) {
    Trial now = try_at(step);
    find_bracket(now);
    if (!done_) shrink_bracket();
    const Trial& best = low_end();
    return {best.at, {best.value, best.gradient}, evaluations_};
  }

 private:
  Trial try_at(double step) {
    const JointStep::Point point = step_.evaluate(x_, step, direction_);
    evaluations_++;
    return {{step, point.loss, step_.math.dot(point.gradient, direction_)}, point.gradient};
  }
  bool decreases_too_little(const Trial& t) const { return t.value > start_.value + kDecrease * t.at * start_.slope; }
  bool is_flat_enough(const Trial& t) const { return std::abs(t.slope) <= -kCurvature * start_.slope; }

  // Two trials with a point between them that satisfies the conditions, or one that does.
  void find_bracket(Trial now) {
    Trial before = start_;
    while (iterations_ < most_) {
      if (decreases_too_little(now) || (iterations_ > 1 && now.value >= before.value)) return set_bracket(before, now);
      if (is_flat_enough(now)) {
        set_bracket(now, now);
        done_ = true;
        return;
      }
      if (now.slope >= 0) return set_bracket(before, now);
      const double least = now.at + 0.01 * (now.at - before.at), most = now.at * 10;
      const double next = cubic_minimum(before, now, least, most);
      before = now;
      now = try_at(next);
      iterations_++;
    }
    set_bracket(start_, now);
  }

  // The next step to try between the two: not so near to one of them twice that the bracket would hardly shrink.
  double choose_trial_step() {
    const auto [left, right] = std::minmax(ends_[0].at, ends_[1].at);
    double step = cubic_minimum(ends_[0], ends_[1], left, right);
    const double margin = 0.1 * (right - left);
    if (std::min(right - step, step - left) >= margin) {
      stuck_ = false;
    } else if (stuck_ || step >= right || step <= left) {
      step = std::abs(step - right) < std::abs(step - left) ? right - margin : left + margin;
      stuck_ = false;
    } else {
      stuck_ = true;
    }
    return step;
  }

  void shrink_bracket() {
    const double longest = step_.math.largest(direction_);
    const double tolerance = step_.settings.real("tolerance_change");
    while (!done_ && iterations_ < most_) {
      if (std::abs(ends_[1].at - ends_[0].at) * longest < tolerance) return;
      Trial now = try_at(choose_trial_step());
      iterations_++;
      if (decreases_too_little(now) || now.value >= low_end().value) {
        ends_[1 - low_] = std::move(now);
        update_low_end();
        continue;
      }
      if (is_flat_enough(now))
        done_ = true;
      else if (now.slope * (ends_[1 - low_].at - low_end().at) >= 0)
        ends_[1 - low_] = low_end();
      ends_[low_] = std::move(now);
    }
  }

  void set_bracket(const Trial& first, const Trial& second) {
    ends_[0] = first, ends_[1] = second;
    update_low_end();
  }
  void update_low_end() { low_ = ends_[1].value < ends_[0].value ? 1 : 0; }
  const Trial& low_end() const { return ends_[low_]; }

  JointStep& step_;
  const Ref<Tensor>& x_;
  const Ref<Tensor>& direction_;
  const int64_t most_;
  Trial start_, ends_[2];
  size_t low_ = 0;
  int64_t evaluations_ = 0, iterations_ = 0;
  bool done_ = false, stuck_ = false;
};

}  // namespace

double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.at - b.at);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const LinePoint &left = a.at <= b.at ? a : b, &right = a.at <= b.at ? b : a;
  const double d2 = std::sqrt(square);
  const double at = right.at - (right.at - left.at) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}

StepLength strong_wolfe(JointStep& s, const Ref<Tensor>& x, const Ref<Tensor>& direction, const JointStep::Point& start,
                        double slope, double step, int64_t most) {
  return Search(s, x, direction, start, slope, most).run(step);
}

}  // namespace thunder
