#include "program/memory_formats.h"

#include <numeric>

#include "ir/prim.h"
#include "ir/value_set.h"
#include "ops/op.h"

namespace thunder {
namespace {

class MemoryFormats {
 public:
  MemoryFormats(const Trace& trace, const Kernels& kernels)
      : trace_(trace), kernels_(kernels), joined_(trace.store->size()), gain_(joined_.size()), leaves_(joined_.size()) {
    std::iota(joined_.begin(), joined_.end(), ValueId{0});
    for (const ValueId v : trace.outputs) leaves_.add(v);
    for (const Write& w : trace.writes) leaves_.add(w.value);
    for (size_t i = trace.nodes.size(); i-- > 0;)
      if (const Node& n = *trace.nodes[i]; is_view(n) && leaves_.has(n.results[0])) leaves_.add(n.args[0].v);
  }

  std::vector<ValueId> find(const InputLayouts& inputs) {
    for (const Node* n : trace_.nodes)
      for (const Node* inner : nodes_of(*n)) join_values(*inner);
    for (size_t i = 0; i < inputs.strides.size(); i++)
      weigh_input(trace_.inputs[i].value, inputs.strides[i], inputs.donated[i]);
    for (const Node* n : trace_.nodes) weigh_node(*n);
    for (ValueId v = 0; v < joined_.size(); v++)
      if (leaves_.has(v)) keep_row_major(v);
    for (const Node* n : trace_.nodes) want_filter(*n);
    std::vector<ValueId> out;
    for (const Node* n : trace_.nodes)
      for (const ValueId r : n->results)
        if (can_choose(*n, r) && gain_[class_of(r)] > 0) out.push_back(r);
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static bool is_view(const Node& n) { return def(n).view || def(n).has(kSameMemory); }
  // Whether the two orders differ.
  bool has_planes(ValueId v) const {
    const Shape& s = trace_.type(v).shape;
    return s.size() == 4 && s[1].value() > 1 && s[2].value() * s[3].value() > 1;
  }
  bool can_choose(const Node& n, ValueId r) const {
    return has_planes(r) && !is_view(n) && kernels_.memory_format(n) != MemoryFormat::contiguous && !leaves_.has(r);
  }

  ValueId class_of(ValueId v) {
    while (joined_[v] != v) v = joined_[v] = joined_[joined_[v]];
    return v;
  }

  // A reshape's result has other dims than its operand, those of a permute lie in another order; products are asked for
  // what they want.
  void join_values(const Node& n) {
    const Prim op = n.op->id;
    if (op == Prim::reshape || op == Prim::permute || op == Prim::expand || def(n).has(kMatmul)) return;
    ValueId first = kNoValue;
    const auto join = [&](ValueId v) {
      if (!has_planes(v)) return;
      if (first == kNoValue) first = v;
      joined_[class_of(v)] = class_of(first);
    };
    for_each_value(n.args, join);
    for (const ValueId r : n.results) join(r);
  }

  void weigh(ValueId v, bool last) {
    if (!has_planes(v)) return;
    const auto item = static_cast<int64_t>(size_of(trace_.type(v).dtype));
    const auto bytes = static_cast<double>(elements(trace_.type(v).shape).value() * item);
    gain_[class_of(v)] += last ? bytes : -bytes;
  }

  // What leaves the program, or what a forward saved for it, lies row-major, and kernels that read or wrote it beside
  // values in the other order would transpose it each time: its class lies as it does.
  void keep_row_major(ValueId v) {
    if (has_planes(v)) gain_[class_of(v)] = 0;
  }

  void weigh_input(ValueId v, const Sizes& strides, bool donated) {
    if (!has_planes(v)) return;
    if (strides == channels_last_strides(concrete(trace_.type(v).shape))) weigh(v, true);
    else if (donated) leaves_.add(v);
  }

  // A filter is small beside what it is applied to: it lies as its convolution wants it, whatever else reads it.
  void want_filter(const Node& n) {
    if (!is_convolution(n.op->id) || kernels_.memory_format(n) != MemoryFormat::channels_last) return;
    const ValueId filter = n.op->id == Prim::conv2d_weight_grad ? n.results[0] : n.args[1].v;
    gain_[class_of(filter)] = std::max(gain_[class_of(filter)], 1.0);
  }

  void weigh_node(const Node& n) {
    if (is_view(n)) return;
    const MemoryFormat wanted = kernels_.memory_format(n);
    if (wanted == MemoryFormat::preserve) return;
    const auto add = [&](ValueId v) { weigh(v, wanted == MemoryFormat::channels_last); };
    for_each_value(n.args, add);
    for (const ValueId r : n.results) add(r);
  }

  const Trace& trace_;
  const Kernels& kernels_;
  std::vector<ValueId> joined_;  // by value: another one of its class, or itself
  std::vector<double> gain_;     // by class: bytes wanted as [N, H, W, C], less those wanted row-major
  ValueSet leaves_;
};

}  // namespace

std::vector<ValueId> find_channels_last(const Trace& trace, const InputLayouts& inputs, const Kernels& kernels) {
  return MemoryFormats(trace, kernels).find(inputs);
}

}  // namespace thunder
