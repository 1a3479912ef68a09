#include "executors/fusion/group.h"

#include <algorithm>

#include "executors/fusion/axes.h"
#include "loops/nest.h"
#include "tensor/tensor.h"

namespace thunder::fusion {
namespace {

constexpr std::string_view kTooManyLines = "the group has as many lines as one kernel may have";

bool has_known_size(const TensorType& t) {
  return std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.constant() && d.value() > 0; });
}

// Whether a node on a device can read a tensor of this type. Requires: its size is known.
bool readable_on(Device device, const TensorType& t, const Capabilities& can) {
  return t.device == device || (can.host_scalars && t.device == Device::cpu && dense_bytes(t) <= kHostScalarBytes);
}

}  // namespace

bool computable(const Node& line, const Store& store, const Capabilities& can) {
  const PrimRow* row = find_prim(*line.op);
  if (!row) return false;
  const Device device = store.type(line.results[0]).device;
  bool fits = true;
  const auto check = [&](ValueId v) {
    const TensorType& t = store.type(v);
    fits = fits && has_known_size(t) && readable_on(device, t, can) &&
           (row->takes == Takes::all || is_real(t.dtype) || (row->fn == Fn::uniform && t.dtype == DType::i64));
  };
  for_each_value(line.args, check);
  for (ValueId r : line.results) check(r);
  if (fits && row->role == Role::concat) fits = operands(line).size() <= can.max_concatenated;
  const size_t steps = line.op->name() == "prims.slice" ? 3 : line.op->name() == "prims.slice_scatter" ? 4 : 0;
  if (fits && steps) {
    const auto each = line.args[steps].dim_list();
    fits = std::all_of(each.begin(), each.end(), [](Dim d) { return d == Dim(1); });
  }
  if (fits && row->role == Role::scan) fits = can.scans && store.type(line.results[0]).dtype != DType::boolean;
  // Sums of booleans and argmax of 64-bit integers follow rules of their own; the host executor implements them.
  if (fits && row->role == Role::reduction)
    fits = is_real(store.type(line.results[0]).dtype) || store.type(line.results[0]).dtype == DType::i64;
  return fits;
}

Coordinates Group::read(const Node& line, size_t operand) {
  const ValueId v = operands(line)[operand];
  if (has(v)) return space_.resolve(value(v).coordinates);
  const Read* before = known(v);
  const Coordinates at = before ? read_of(*before->line, before->operand) : space_.fresh(store_->type(v).shape);
  if (!before) inputs_.push_back({v, &line, operand});
  return reads_[{&line, operand}] = at;
}

const Group::Read* Group::known(ValueId input) const {
  const auto it = std::find_if(inputs_.begin(), inputs_.end(), [input](const Read& r) { return r.input == input; });
  return it == inputs_.end() ? nullptr : &*it;
}

Coordinates Group::read_of(const Node& line, size_t operand) const {
  auto it = reads_.find({&line, operand});
  return space_.resolve(it == reads_.end() ? value(line.results[0]).coordinates : it->second);
}

Dimension Group::all() const {
  const Axes axes = everything(walks());
  return Dimension(axes.data(), axes.data() + axes.size());
}

Group::Walks Group::walks() const {
  Walks out;
  out.reserve(values_.size());
  for (auto& [id, value] : values_) out.emplace_back(&value, loop_axes(value.coordinates));
  return out;
}

Axes Group::everything(const Walks& walks) const {
  Axes axes;
  const auto add = [&axes](const auto& more) {
    for (AxisId a : more)
      if (const auto at = std::lower_bound(axes.begin(), axes.end(), a); at == axes.end() || *at != a)
        axes.insert(at, a);
  };
  add(reduced()), add(space_.resolve(summed_));
  for (auto& [value, walked] : walks)
    if (value->kind == Kind::each) add(walked);
  return axes;
}

bool Group::same_extents(const Dimension& a, const Dimension& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [this](AxisId x, AxisId y) { return space_.extent(x) == space_.extent(y); });
}

bool Group::extend(const Node& line) {
  if (lines_.size() == can_->max_lines) return refuse(kTooManyLines);
  const size_t more = operands(line).size() + 1;
  if (arguments_ + more > can_->max_arguments) return refuse("the group has as many arguments as one kernel may have");
  const Device device = store_->type(line.results[0]).device;
  if (device_ != Device::none && device != device_)
    return refuse("it is computed on another device than the rest of the group");
  bool terminal = false;
  for_each_value(line.args, [&](ValueId v) { terminal |= has(v) && value(v).kind != Kind::each; });
  if (terminal) return refuse("it reads a sum over the outer axes, which is known only when the kernel has ended");
  bool fits = false;
  switch (find_prim(*line.op)->role) {
    case Role::elementwise:
    case Role::create: fits = add_elementwise(line); break;
    case Role::view: fits = add_view(line); break;
    case Role::reduction: fits = add_reduction(line); break;
    case Role::gather: fits = add_gather(line); break;
    case Role::concat: fits = add_concat(line); break;
    case Role::scan: fits = add_scan(line); break;
  }
  if (!fits) return false;
  values_[line.results[0]].reduced = find_prim(*line.op)->role == Role::reduction || comes_of_reduction(line);
  values_[line.results[0]].free = depends_on_indices_alone(line);
  arguments_ += more;
  device_ = device;
  lines_.push_back(&line);
  return true;
}

bool Group::add_all(std::span<const Node* const> lines) {
  if (lines_.size() + lines.size() > can_->max_lines) return refuse(kTooManyLines);
  return std::all_of(lines.begin(), lines.end(), [this](const Node* line) { return extend(*line); }) && consistent();
}

bool Group::axes_stay_whole() const {
  const auto whole = [this](const Dimension& along) { return space_.resolve(along).size() == 1; };
  const auto parts_whole = [&](const Cut& s) { return whole(s.whole) && (s.part.empty() || whole(s.part)); };
  return std::all_of(gathered_.begin(), gathered_.end(), whole) &&
         std::all_of(scanned_.begin(), scanned_.end(), whole) &&
         std::all_of(select_axes_.begin(), select_axes_.end(), [&](const auto& s) { return whole(s.second); }) &&
         std::all_of(parts_.begin(), parts_.end(), parts_whole);
}

// Every value must be known for each iteration, or for each row, unless it may be constant along axes by which nodes
// select; and no axis occurs twice in one value.
bool Group::consistent() {
  if (!axes_stay_whole()) return refuse("it gathers, concatenates or scans along a dim that other lines split");
  if (!scanned_.empty() && (gathers_own_values_ || !select_axes_.empty()))
    return refuse("it scans an axis along which other values are read at other indices");
  Axes selects;
  for (auto& [line, along] : select_axes_) selects.push_back(space_.resolve(along)[0]);
  for (const Cut& s : parts_)
    if (s.part.empty()) selects.push_back(loop_interval(space_.resolve(s.whole)[0]).whole);
  std::sort(selects.begin(), selects.end());
  const Walks walks = this->walks();
  const Axes everything = this->everything(walks), inner = set_of(reduced()), outer = without(everything, inner);
  if (everything.size() + gathered_.size() >= kMaxAxes) return refuse("it needs more loops than a kernel may have");
  const auto is_diagonal = [](const Axes& axes) { return std::adjacent_find(axes.begin(), axes.end()) != axes.end(); };
  for (auto& [read, coordinates] : reads_)
    if (is_diagonal(set_of(space_.flat(coordinates))))
      return refuse("it reads the same value along two different axes at once");
  for (auto& [value, axes] : walks) {
    if (is_diagonal(axes)) return refuse("it reads the same value along two different axes at once");
    if (value->kind != Kind::each || value->free || axes == everything) continue;
    if (without(without(everything, axes), selects).empty()) continue;
    const bool row = without(axes, outer).empty() && without(without(outer, axes), selects).empty();
    if (!reduces_ || !row) return refuse("it is iterated by other loops than the rest of the group");
  }
  for (const Dimension& along : scanned_)
    if (set_of(space_.resolve(along)) != inner) return refuse("it scans another axis than the group reduces");
  if (!parts_.empty() && !parts_fit(everything)) return false;
  return reductions_fit(everything, outer) || refuse("it reduces other axes than the rest of the group");
}

// Axes may have been unified since the nodes were added. The operand of a sum over the outer axes must vary along all
// of them.
bool Group::reductions_fit(const Axes& everything, const Axes& outer) const {
  const Axes inner = set_of(reduced());
  return std::all_of(reductions_.begin(), reductions_.end(), [&](const Reduction& r) {
    const GroupValue& made = value(r.result);
    const Axes over = set_of(space_.resolve(r.reduced_axes));
    if (made.kind == Kind::each) return over == inner;
    if (made.kind == Kind::total) return over == outer || over == everything;
    const Axes kept = set_of(space_.flat(made.coordinates));
    return (over == outer || inner.empty()) && (kept.empty() || without(without(everything, over), kept).empty());
  });
}

}  // namespace thunder::fusion
