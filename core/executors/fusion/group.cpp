#include "executors/fusion/group.h"

#include <algorithm>

#include "ir/dim_reads.h"
#include "ir/prim.h"
#include "loops/nest.h"
#include "tensor/tensor.h"

namespace thunder::fusion {
namespace {

constexpr std::string_view kTooManyNodes = "the group has as many nodes as one kernel may have";

bool has_known_size(const TensorType& t) {
  return std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return Size(d) > 0; });
}

// Whether a node on a device can read a tensor of this type. Requires: its size is known.
bool is_readable_on(Device device, const TensorType& t, const Capabilities& can) {
  return t.device == device || (can.host_scalars && t.device == Device::cpu && dense_bytes(t) <= kHostScalarBytes);
}

}  // namespace

bool is_large_operand(const TensorType& type) {
  constexpr int64_t kLarge = 1 << 14;
  return is_at_most(kLarge, elements(type.shape));
}

static bool supports_dtype(const PrimRow& row, DType d, const Capabilities& can) {
  if (row.types == TypeSet::all || is_real(d)) return true;
  return row.types == TypeSet::divided ? can.integer_divisions && is_integer(d)
                                       : row.fn == Fn::uniform && d == DType::i64;
}

bool is_computable(const Node& node, const Store& store, const Capabilities& can) {
  const PrimRow* row = find_prim(*node.op);
  if (!row) return false;
  const Device device = store.type(node.results[0]).device;
  bool fits = true;
  const auto check = [&](ValueId v) {
    const TensorType& t = store.type(v);
    fits = fits && has_known_size(t) && is_readable_on(device, t, can) && supports_dtype(*row, t.dtype, can);
  };
  for_each_value(node.args, check);
  for (ValueId r : node.results) check(r);
  if (fits && row->role == Role::concat) fits = operands(node).size() <= can.max_concatenated;
  const size_t steps = node.op->id == Prim::slice ? 3 : node.op->id == Prim::slice_scatter ? 4 : 0;
  if (fits && steps) {
    const auto each = node.args[steps].dim_list();
    fits = std::all_of(each.begin(), each.end(), [](Dim d) { return d == Dim(1); });
  }
  if (fits && row->role == Role::scan) fits = can.scans && store.type(node.results[0]).dtype != DType::boolean;
  // Sums of booleans and argmax of 64-bit integers follow rules of their own; the host executor implements them.
  if (fits && row->role == Role::reduction)
    fits = is_real(store.type(node.results[0]).dtype) || store.type(node.results[0]).dtype == DType::i64 ||
           (can.any_extrema && (row->fn == Fn::amax || row->fn == Fn::amin));
  return fits;
}

Coordinates Group::add_read(const Node& node, size_t operand) {
  const ValueId v = operands(node)[operand];
  if (has(v)) return space_.resolve(value(v).coordinates);
  const Read* before = first_read(v);
  const Coordinates at =
      before ? read_coordinates(*before->node, before->operand) : space_.add_axes(store_->type(v).shape);
  if (!before) inputs_.push_back({v, &node, operand});
  return reads_[{&node, operand}] = at;
}

const Group::Read* Group::first_read(ValueId input) const {
  const auto it = std::find_if(inputs_.begin(), inputs_.end(), [input](const Read& r) { return r.input == input; });
  return it == inputs_.end() ? nullptr : &*it;
}

Coordinates Group::read_coordinates(const Node& node, size_t operand) const {
  auto it = reads_.find({&node, operand});
  return space_.resolve(it == reads_.end() ? value(node.results[0]).coordinates : it->second);
}

Dimension Group::all_iteration_axes() const {
  const Axes axes = iteration_axes(value_axes());
  return Dimension(axes.begin(), axes.end());
}

Group::ValueAxes Group::value_axes() const {
  ValueAxes out;
  out.reserve(values_.size());
  for (auto& [id, value] : values_) out.emplace_back(&value, loop_axes(value.coordinates));
  return out;
}

Axes Group::iteration_axes(const ValueAxes& value_axes) const {
  Axes axes;
  const auto add = [&axes](const auto& more) {
    for (AxisId a : more)
      if (const auto at = std::lower_bound(axes.begin(), axes.end(), a); at == axes.end() || *at != a)
        axes.insert(static_cast<size_t>(at - axes.begin()), a);
  };
  add(nest_reduced_axes()), add(space_.resolve(summed_));
  for (auto& [value, axes_of_value] : value_axes)
    if (value->kind == Kind::each) add(axes_of_value);
  return axes;
}

bool Group::same_extents(const Dimension& a, const Dimension& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [this](AxisId x, AxisId y) { return space_.extent(x) == space_.extent(y); });
}

// Upper bound on the arguments that a node adds: operands that no other node reads, and its result. While a group
// grows, each operand of each node counts, which keeps kernels small.
size_t Group::max_new_arguments(const Node& node) const {
  if (!is_whole_) return operands(node).size() + 1;
  size_t out = 1;
  for_each_value(node.args, [&](ValueId v) { out += !has(v) && !first_read(v); });
  return out;
}

bool Group::extend(const Node& node) {
  if (nodes_.size() == can_->max_nodes) return reject(kTooManyNodes);
  const size_t more = max_new_arguments(node);
  if (arguments_ + more > can_->max_arguments) return reject("the group has as many arguments as one kernel may have");
  const Device device = store_->type(node.results[0]).device;
  if (device_ != Device::none && device != device_)
    return reject("it is computed on another device than the rest of the group");
  bool terminal = false;
  for_each_value(node.args, [&](ValueId v) { terminal |= has(v) && value(v).kind != Kind::each; });
  if (terminal) return reject("it reads a sum over the outer axes, which is known only when the kernel has ended");
  bool fits = false;
  switch (find_prim(*node.op)->role) {
    case Role::elementwise:
    case Role::create: fits = add_elementwise(node); break;
    case Role::view: fits = add_view(node); break;
    case Role::reduction: fits = add_reduction(node); break;
    case Role::gather: fits = add_gather(node); break;
    case Role::concat: fits = add_concat(node); break;
    case Role::scan: fits = add_scan(node); break;
  }
  if (!fits) return false;
  values_[node.results[0]].reduced = find_prim(*node.op)->role == Role::reduction || depends_on_reduction(node);
  values_[node.results[0]].index_only = depends_on_indices_only(node);
  arguments_ += more;
  device_ = device;
  nodes_.push_back(&node);
  return true;
}

bool Group::add_all(std::span<const Node* const> nodes) {
  if (nodes_.size() + nodes.size() > can_->max_nodes) return reject(kTooManyNodes);
  is_whole_ = true;
  return std::all_of(nodes.begin(), nodes.end(), [this](const Node* node) { return extend(*node); }) &&
         check_consistency();
}

bool Group::axes_are_unsplit() const {
  const auto whole = [this](const Dimension& along) { return space_.resolve(along).size() == 1; };
  const auto slice_is_unsplit = [&](const AxisSlice& s) { return whole(s.whole) && (s.part.empty() || whole(s.part)); };
  return std::all_of(gathered_.begin(), gathered_.end(), whole) &&
         std::all_of(scanned_.begin(), scanned_.end(), whole) &&
         std::all_of(select_axes_.begin(), select_axes_.end(), [&](const auto& s) { return whole(s.second); }) &&
         std::all_of(slices_.begin(), slices_.end(), slice_is_unsplit);
}

// Every value must be known for each iteration or for each row, except that it may be constant along axes whose index
// selects an operand. And no axis may occur twice in one value.
bool Group::check_consistency() {
  if (!axes_are_unsplit()) return reject("it gathers, concatenates or scans along a dim that other nodes split");
  if (!scanned_.empty() && (gathers_own_values_ || !select_axes_.empty()))
    return reject("it scans an axis along which other values are read at other indices");
  Axes selects;
  for (auto& [node, along] : select_axes_) selects.push_back(space_.resolve(along)[0]);
  for (const AxisSlice& s : slices_)
    if (s.part.empty()) selects.push_back(loop_interval(space_.resolve(s.whole)[0]).whole);
  std::sort(selects.begin(), selects.end());
  const ValueAxes value_axes = this->value_axes();
  const Axes iteration_axes = this->iteration_axes(value_axes), inner = sorted_axes(nest_reduced_axes()),
             outer = axes_difference(iteration_axes, inner);
  if (iteration_axes.size() + gathered_.size() >= kMaxAxes) return reject("it needs more loops than a kernel may have");
  const auto is_diagonal = [](const Axes& axes) { return std::adjacent_find(axes.begin(), axes.end()) != axes.end(); };
  for (auto& [read, coordinates] : reads_)
    if (is_diagonal(sorted_axes(space_.flatten(coordinates))))
      return reject("it reads the same value along two different axes at once");
  for (auto& [value, axes] : value_axes) {
    if (is_diagonal(axes)) return reject("it reads the same value along two different axes at once");
    if (value->kind != Kind::each || value->index_only || axes == iteration_axes) continue;
    if (axes_difference(axes_difference(iteration_axes, axes), selects).empty()) continue;
    const bool row =
        axes_difference(axes, outer).empty() && axes_difference(axes_difference(outer, axes), selects).empty();
    if (!reduces_ || !row) return reject("it is iterated by other loops than the rest of the group");
  }
  for (const Dimension& along : scanned_)
    if (sorted_axes(space_.resolve(along)) != inner) return reject("it scans another axis than the group reduces");
  if (!slices_.empty() && !slices_fit(iteration_axes)) return false;
  return reductions_fit(iteration_axes, outer) || reject("it reduces other axes than the rest of the group");
}

// Checks reductions again, since axes may have been unified after they were added. The operand of a sum over the outer
// axes must vary along all of them.
bool Group::reductions_fit(const Axes& iteration_axes, const Axes& outer) const {
  const Axes inner = sorted_axes(nest_reduced_axes());
  return std::all_of(reductions_.begin(), reductions_.end(), [&](const Reduction& r) {
    const GroupValue& made = value(r.result);
    const Axes over = sorted_axes(space_.resolve(r.reduced_axes));
    if (made.kind == Kind::each) return over == inner;
    if (made.kind == Kind::total) return over == outer || over == iteration_axes;
    const Axes kept = sorted_axes(space_.flatten(made.coordinates));
    return (over == outer || inner.empty()) &&
           (kept.empty() || axes_difference(axes_difference(iteration_axes, over), kept).empty());
  });
}

}  // namespace thunder::fusion
