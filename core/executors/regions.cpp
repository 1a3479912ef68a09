#include "executors/regions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "executors/frozen.h"
#include "executors/recompute.h"
#include "executors/broadcast.h"
#include "executors/line_values.h"
#include "executors/value_set.h"

namespace thunder {
namespace {

// How many nodes after a region's first one are searched. This bounds the time, and how far a node may move: moving it
// may lengthen the lives of values.
constexpr size_t kReach = 256;
// How far a recomputed node may move: about the forward and backward of a dozen layers.
constexpr size_t kFar = 2048;
// How often a node is recomputed, over all regions.
constexpr uint8_t kMostAgain = 3;

class Regions {
 public:
  Regions(Trace& trace, const Executor& executor, const Op& op)
      : trace_(trace), executor_(executor), op_(op), name_(trace.store->text(executor.name())),
        uses_(trace.store->size(), 0), inside_(uses_.size()), behind_(uses_.size()), inputs_(uses_.size()),
        touched_(uses_.size()), toucher_(uses_.size()) {
    const std::vector<Computed> computed = when_computed(trace);
    for (const Node* n : trace.nodes) {
      lines_.push_back(entry(n, !n->executor && executor.claims({*n, *trace.store}), false, computed[lines_.size()]));
      for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
    }
    for (Line& line : lines_) line.broadcasts_often = broadcasts_often(*line.node);
    broadcast_from_.resize(trace.store->size(), kNoValue), made_again_.resize(trace.store->size(), 0);
    for (const Node* n : trace.nodes)
      if (broadcasts(*n, *trace.store)) broadcast_from_[n->results[0]] = n->args[0].v;
    for (ValueId v : trace.outputs) uses_[v]++;
    for (const Write& w : trace.writes) uses_[w.value]++;
    find_whole_reads();
  }

  void run() {
    // Large nodes choose their neighbours first; small nodes then join one of these regions, or form regions of what is
    // left.
    for (const bool large : {true, false}) {
      for (size_t first = 0; first < lines_.size();) {
        const size_t formed =
            lines_[first].candidate && is_large(*lines_[first].node) == large && take(first) ? form(first) : 0;
        first += formed ? formed - 1 : 1;
      }
      lines_.erase(std::remove_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.node; }),
                   lines_.end());
    }
    trace_.nodes.clear();
    for (const Line& line : lines_) trace_.nodes.push_back(line.node);
  }

 private:
  struct Line {
    const Node* node = nullptr;  // null: it went into a region
    bool candidate = false;
    bool broadcasts_often = false;  // a view that broadcasts a value which other nodes read as well
    Computed computed = Computed::each_time;
    LineValues::Place values;
  };
  Line entry(const Node* n, bool candidate, bool broadcasts_often, Computed computed = Computed::each_time) {
    return {n, candidate, broadcasts_often, computed, values_.add(*n)};
  }

  enum class Side : uint8_t { before, inside, behind };

  bool is_large(const Node& n) const {
    constexpr int64_t kLarge = 1024;  // elements
    bool large = false;
    const auto look = [&](ValueId v) {
      const Dim size = elements(trace_.store->type(v).shape);
      large |= !size.constant() || size.value() >= kLarge;
    };
    for_each_value(n.args, look);
    for (ValueId r : n.results) look(r);
    return large;
  }

  // Values that must be in memory: those read by nodes that are no candidates or by views of memory, and those whose
  // readers are so far away that finding them would take more than linear time.
  void find_whole_reads() {
    read_whole_.assign(uses_.size(), 0);
    for (ValueId v : trace_.outputs) read_whole_[v] = 1;
    for (const Write& w : trace_.writes) read_whole_[w.value] = 1;
    std::vector<size_t> made(uses_.size(), 0);
    for (size_t i = 0; i < lines_.size(); i++) {
      const Line& line = lines_[i];
      const bool whole = !line.candidate || def(*line.node).view;
      for_each_value(line.node->args, [&](ValueId v) { read_whole_[v] |= whole || i - made[v] > kFar; });
      for (ValueId r : line.node->results) made[r] = i;
    }
  }

  // Partitions the nodes of a window. Those that `wants` and that depend on nothing behind the region are inside; those
  // that depend on a node inside or behind are behind it; the others are before it. Sets sides_, by the distance from
  // `first`, and nodes_, the nodes inside.
  template <class Wants>
  void divide(size_t first, size_t end, const Wants& wants) {
    inside_.clear(), behind_.clear();
    sides_.clear(), nodes_.clear();
    for (size_t i = first; i < end; i++) {
      const Node& n = *lines_[i].node;
      const bool needs_behind = values_.reads_any(lines_[i].values, behind_);
      const bool needs_any = needs_behind || values_.reads_any(lines_[i].values, inside_);
      const Side side = !needs_behind && wants(i) ? Side::inside : needs_any ? Side::behind : Side::before;
      if (side == Side::inside) inside_.add(n), nodes_.push_back(&n);
      if (side == Side::behind) behind_.add(n);
      sides_.push_back(side);
    }
  }

  // Offers the executor all nodes that could join a region that begins at `first`: those connected with it. Sets
  // taken_, by the distance from `first`.
  bool take(size_t first) {
    if (executor_.desc().begins_region && !executor_.desc().begins_region(*lines_[first].node)) return false;
    const size_t end = std::min(lines_.size(), first + kReach);
    connect(first, end);
    divide(first, end, [&](size_t i) {
      const Line& line = lines_[i];
      return line.candidate && may_join(line.computed, lines_[first].computed) &&
             (part_of(i - first) == part_of(0) || (line.broadcasts_often && values_.reads_any(line.values, inside_)));
    });
    flags_.assign(nodes_.size(), 0);
    if (nodes_.size() < 2 ||
        !executor_.desc().claim_region(nodes_, *trace_.store, flags_.data(), executor_.desc().user) || !flags_[0])
      return false;
    taken_.assign(end - first, false);
    for (size_t i = 0, offered = 0; i < taken_.size(); i++) taken_[i] = sides_[i] == Side::inside && flags_[offered++];
    return true;
  }

  // Connects candidates that make or read the same values (union-find). A broadcast that is read in several places
  // connects nothing, nor does a value that was broadcast before: its readers have nothing else in common, as
  // parameters that share a learning rate.
  void connect(size_t first, size_t end) {
    parts_.resize(end - first);
    std::iota(parts_.begin(), parts_.end(), 0u);
    touched_.clear();
    for (size_t i = first; i < end; i++) {
      if (!lines_[i].candidate || lines_[i].broadcasts_often) continue;
      const auto touch = [&](ValueId v) {
        if (touched_.add(v)) toucher_[v] = static_cast<uint32_t>(i - first);
        else parts_[part_of(toucher_[v])] = part_of(i - first);
      };
      for (ValueId v : values_.reads(lines_[i].values))
        if (broadcast_from_[v] == kNoValue || touched_.has(v)) touch(v);
      for (ValueId r : values_.makes(lines_[i].values)) touch(r);
    }
  }
  uint32_t part_of(size_t line) {
    while (parts_[line] != line) line = parts_[line] = parts_[parts_[line]];
    return static_cast<uint32_t>(line);
  }
  bool broadcasts_often(const Node& n) const { return broadcasts(n, *trace_.store) && uses_[n.args[0].v] >= 2; }

  // Forms a region of the nodes that were taken, less those that depend on a node behind the region. Returns one more
  // than the number of empty entries that it leaves in lines_; 0: there is no region.
  size_t form(size_t first) {
    divide(first, first + taken_.size(), [&](size_t i) { return taken_[i - first]; });
    if (nodes_.size() < 2) return 0;
    // Nodes after the last one of the region stay where they are.
    while (sides_.back() != Side::inside) sides_.pop_back();
    before_.clear(), after_.clear();
    for (size_t i = 0; i < sides_.size(); i++)
      if (sides_[i] != Side::inside) (sides_[i] == Side::before ? before_ : after_).push_back(lines_[first + i]);
    forget_reads();
    const size_t taken = nodes_.size();
    std::vector<const Node*> again = split();
    if (!again.empty() && !fits()) join_again(again);
    const auto views = static_cast<size_t>(
        std::count_if(again.begin(), again.end(), [](const Node* n) { return def(*n).view != nullptr; }));
    // No nodes are left: all of them are recomputed where they are read.
    const size_t room = taken - views - !nodes_.empty();
    auto to = std::fill_n(lines_.begin() + static_cast<ptrdiff_t>(first), room, Line());
    to = std::copy(before_.begin(), before_.end(), to);
    if (!nodes_.empty()) *to++ = entry(nodes_.size() == 1 ? left_alone() : region(), false, false);
    const auto behind = static_cast<size_t>(to - lines_.begin());
    for (const Node* n : again)
      if (def(*n).view) *to++ = entry(n, true, broadcasts_often(*n));
    std::copy(after_.begin(), after_.end(), to);
    for (size_t i = again.size(); i-- > 0;)
      if (!def(*again[i]).view) sink(again[i], behind);
    return room + 1;
  }

  const Node* left_alone() {
    for_each_value(nodes_[0]->args, [&](ValueId v) { uses_[v]++; });
    return nodes_[0];
  }

  // Inserts a node before its first reader, with which it may form a region.
  void sink(const Node* n, size_t from) {
    const auto reads = [&](const Line& line) {
      bool any = false;
      for_each_value(line.node->args, [&](ValueId v) { any |= v == n->results[0]; });
      return any;
    };
    const auto at = std::find_if(lines_.begin() + static_cast<ptrdiff_t>(from), lines_.end(), reads);
    lines_.insert(at, entry(n, true, false));
  }

  // Takes the reads by nodes_ off uses_; what is left of their results' uses are reads outside.
  void forget_reads() {
    for (const Node* n : nodes_) for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
  }

  // Values that are read inside and outside of the region and are cheap to recompute are computed on both sides,
  // instead of being written out in full. Returns the nodes outside; those inside get new values. Views at the region's
  // beginning stay.
  std::vector<const Node*> split() {
    Store& store = *trace_.store;
    std::vector<const Node*> again;
    whole_ = nodes_;
    const Recompute recompute(store, nodes_, read_whole_, uses_, broadcast_from_);
    for (size_t i = nodes_.size(); i-- > 0;) {  // backwards, since the operands may be recomputed too
      const Node* n = nodes_[i];
      if (!uses_[n->results[0]] || !(def(*n).view ? inside_.has(n->args[0].v) : recompute.pays(*n))) continue;
      again.insert(again.begin(), n);
      if (!def(*n).view) read_whole_[n->results[0]] = ++made_again_[n->results[0]] == kMostAgain;
      for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
      const ValueId own[] = {store.add(store.type(n->results[0]))};
      nodes_[i] = store.node(n->op, n->args, own, {}, n->where, n->executor);
      instead_.resize(store.size(), kNoValue);
      instead_[n->results[0]] = own[0];
    }
    if (again.empty()) return again;
    for (const Node*& n : nodes_) n = store.substitute(n, instead_);
    for (const Node* n : again) instead_[n->results[0]] = kNoValue;
    uses_.resize(store.size(), 0), inside_.resize(store.size()), touched_.resize(store.size()),
        toucher_.resize(store.size()), read_whole_.resize(store.size(), 0);
    broadcast_from_.resize(store.size(), kNoValue), made_again_.resize(store.size(), 0);
    drop_unread();
    for (const Node* n : nodes_) inside_.add(*n);
    return again;
  }

  // Whether the executor, which took all of the region's nodes, also runs those that are left as one.
  bool fits() const {
    const ExecutorDesc& d = executor_.desc();
    return nodes_.size() < 2 || !d.fits || d.fits(nodes_, *trace_.store, d.user);
  }
  // Undoes split().
  void join_again(std::vector<const Node*>& again) {
    for (const Node* n : again) {
      for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
      if (!def(*n).view) read_whole_[n->results[0]] = 0, made_again_[n->results[0]]--;
    }
    nodes_ = whole_;
    again.clear();
  }

  // Removes nodes that were read only by those that are now recomputed outside.
  void drop_unread() {
    inputs_.clear(), inputs_.resize(trace_.store->size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node* n = nodes_[i];
      if (!uses_[n->results[0]] && !inputs_.has(n->results[0]) && n->results.size() == 1)
        nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(i));
      else for_each_value(n->args, [&](ValueId v) { inputs_.add(v); });
    }
  }

  // One node for nodes_: its arguments are the values that they read from outside, its results those that are read
  // outside.
  const Node* region() {
    inputs_.clear();
    std::vector<ValueId> inputs, results;
    for (const Node* n : nodes_)
      for_each_value(n->args, [&](ValueId v) {
        if (!inside_.has(v) && inputs_.add(v)) inputs.push_back(v);
      });
    for (ValueId v : inputs) uses_[v]++;
    for (const Node* n : nodes_)
      for (ValueId r : n->results)
        if (uses_[r]) results.push_back(r);
    const Arg args[] = {Arg::values(inputs)};
    return trace_.store->node(&op_, args, results, nodes_, nodes_[0]->where, name_);
  }

  Trace& trace_;
  const Executor& executor_;
  const Op& op_;
  const char* name_;
  std::vector<Line> lines_;
  LineValues values_;
  std::vector<uint32_t> uses_;  // by value: how often nodes, outputs and writes read it
  ValueSet inside_;  // results of the region
  ValueSet behind_;  // results of nodes behind it
  ValueSet inputs_;
  ValueSet touched_;  // made or read by candidates of the window
  std::vector<uint32_t> toucher_;  // by such a value: the first candidate, by its distance from the window's first node
  std::vector<uint32_t> parts_;  // union-find over nodes of the window: the parent, or the node itself
  std::vector<uint8_t> read_whole_;  // by value: it is read as a whole, so it must be in memory
  std::vector<uint8_t> made_again_;  // by value: how often it was recomputed
  std::vector<ValueId> broadcast_from_;  // by value: the operand that it broadcasts
  std::vector<ValueId> instead_;  // by value that is computed on both sides: the new value inside
  // State of the region that is being formed.
  std::vector<Side> sides_;
  std::vector<const Node*> nodes_, whole_;  // of the region, and before it was split
  std::vector<uint8_t> flags_;
  std::vector<bool> taken_;
  std::vector<Line> before_, after_;
};

}  // namespace

void claim_regions(Trace& trace, const Executor& executor, const Op& region) { Regions(trace, executor, region).run(); }

}  // namespace thunder
