// AdaptiveLogSoftmaxWithLoss: a softmax over many classes, of which the rare ones are reached through clusters (Grave
// et al.: "Efficient softmax approximation for GPUs", 2016).
#include <cmath>

#include "base/text.h"
#include "modules/inputs.h"

namespace thunder {
namespace {

// The first class of each cluster, and the number of classes.
std::vector<int64_t> cutoffs_of(const Module& m) {
  std::vector<int64_t> all = m.option("cutoffs").ints;
  all.push_back(m.integer("n_classes"));
  return all;
}

void init(ModuleInit& m) {
  const int64_t in = m.module.integer("in_features"), classes = m.module.integer("n_classes");
  const auto cutoffs = cutoffs_of(m.module);
  const double by = m.module.real("div_value");
  bool ascend = cutoffs.size() > 1 && cutoffs[0] > 0;
  for (size_t i = 1; ascend && i < cutoffs.size(); i++) ascend = cutoffs[i] > cutoffs[i - 1];
  m.require(ascend, "cutoffs must be different integers between 1 and n_classes - 1, ", classes - 1,
            ", in ascending order");
  m.require(in > 0 && by > 0, "in_features and div_value must be positive, got ", in, " and ", by);
  const auto clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  m.child("head", "Linear",
          {Any::integer(in), Any::integer(cutoffs[0] + clusters), Any::boolean(m.module.flag("head_bias"))});
  m.child("tail", "ModuleList", {});
  for (int64_t i = 0; i < clusters; i++) {
    const auto at = static_cast<size_t>(i);
    const auto width = static_cast<int64_t>(static_cast<double>(in) / std::pow(by, static_cast<double>(i + 1)));
    m.below("tail").child(cat(i), "Sequential", {});
    ModuleInit cluster = m.below(cat("tail.", i));
    cluster.child("0", "Linear", {Any::integer(in), Any::integer(width), Any::boolean(false)});
    cluster.child("1", "Linear",
                  {Any::integer(width), Any::integer(cutoffs[at + 1] - cutoffs[at]), Any::boolean(false)});
  }
}

class Softmax {
 public:
  explicit Softmax(ModuleCall& c) : c_(c) {}

  // The logarithms of a child's softmax.
  Tensor* log_softmax_of_part(std::string_view part, Tensor* x) const {
    Module* found = c_.module.find(part);
    require(found, c_.module.kind().name(), ": the child '", part, "' is missing");
    Values in;
    in.push(Any::tensor(x));
    return c_.op("log_softmax", {c_.call(*found, in)[0].tensor.get(), -1});
  }
  Tensor* pick_at_target(Tensor* logarithms, Tensor* place) const {
    return c_.op("squeeze", {c_.op("gather", {logarithms, -1, c_.op("unsqueeze", {place, -1})}), -1});
  }

 private:
  ModuleCall& c_;
};

// Each cluster is computed for all rows, so that no shape depends on the targets, and only rows whose target is in the
// cluster are used. The indices of other rows are clamped, but those past the last class are refused.
void forward(ModuleCall& c) {
  const ModuleInputs in(c);
  Tensor *x = in.tensor("input"), *target = in.tensor("target");
  if (x->kind() == Tensor::Kind::failed || target->kind() == Tensor::Kind::failed) return;
  const size_t rank = x->type().rank();
  require((rank == 1 || rank == 2) && target->type().rank() + 1 == rank, c.module.kind().name(),
          ": needs an input [batch, in_features] or [in_features], and a class for each row; got ", name(x->type()),
          " and ", name(target->type()));
  const auto cutoffs = cutoffs_of(c.module);
  const Softmax softmax(c);
  Tensor *place = target, *of_tails = nullptr;
  for (size_t i = 0; i + 1 < cutoffs.size(); i++) {
    const int64_t low = cutoffs[i], high = cutoffs[i + 1];
    const bool last = i + 2 == cutoffs.size();
    Tensor *inside = c.op("ge", {target, low}), *at = c.op("clamp_min", {c.op("sub", {target, low}), 0});
    if (!last) {
      inside = c.op("logical_and", {inside, c.op("lt", {target, high})});
      at = c.op("clamp_max", {at, high - low - 1});
    }
    Tensor* logs = softmax.pick_at_target(softmax.log_softmax_of_part(cat("tail.", i), x), at);
    Tensor* part = c.op("where", {inside, logs, 0.0});
    of_tails = of_tails ? c.op("add", {of_tails, part}) : part;
    place = c.op("where", {inside, cutoffs[0] + static_cast<int64_t>(i), place});
  }
  Tensor* output = c.op("add", {of_tails, softmax.pick_at_target(softmax.log_softmax_of_part("head", x), place)});
  c.give(output);
  c.give(c.op("neg", {c.op("mean", {output})}));
}

constexpr ModuleRow kRows[] = {
    layer("AdaptiveLogSoftmaxWithLoss(int in_features, int n_classes, int[] cutoffs, float div_value=4.0, bool "
          "head_bias=False) -> (tensor output, tensor loss)",
          "The log probability of each target and the mean loss: the classes below the first of cutoffs have a place "
          "in the head, those from each cutoff on a cluster, whose width is div_value times less than that before.",
          forward, init, "forward(tensor input, tensor target) -> (tensor output, tensor loss)"),
};

}  // namespace

extern const ModuleRows adaptive_softmax_kinds = kRows;

}  // namespace thunder
