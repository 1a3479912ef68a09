#include "executors/regions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "executors/frozen.h"
#include "executors/recompute.h"
#include "executors/broadcast.h"
#include "executors/value_set.h"

namespace thunder {
namespace {

// How many lines are looked at from a region's first one: what bounds the time, and how far a line may move, since a
// line that moves may lengthen the lives of values.
constexpr size_t kReach = 256;
// How far a line that is made again may move: forward and backward of a dozen layers.
constexpr size_t kFar = 2048;
// How often a line is made again, wherever it goes.
constexpr uint8_t kMostAgain = 3;

class Regions {
 public:
  Regions(Trace& trace, const Executor& executor, const Op& op)
      : trace_(trace), executor_(executor), op_(op), name_(trace.store->text(executor.name())),
        uses_(trace.store->size(), 0), inside_(uses_.size()), behind_(uses_.size()), inputs_(uses_.size()), touched_(uses_.size()), toucher_(uses_.size()) {
    const std::vector<Computed> computed = when_computed(trace);
    for (const Node* n : trace.nodes) {
      lines_.push_back({n, !n->executor && executor.claims({*n, *trace.store}), false, computed[lines_.size()]});
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
    // What is large chooses its neighbours first; what is small beside it goes with it, or with what is left.
    for (const bool large : {true, false}) {
      for (size_t first = 0; first < lines_.size();) {
        const size_t formed = lines_[first].candidate && is_large(*lines_[first].node) == large && take(first) ? form(first) : 0;
        first += formed ? formed - 1 : 1;
      }
      lines_.erase(std::remove_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.node; }), lines_.end());
    }
    trace_.nodes.clear();
    for (const Line& line : lines_) trace_.nodes.push_back(line.node);
  }

 private:
  struct Line {
    const Node* node = nullptr;  // null: it went into a region
    bool candidate = false;
    bool broadcasts_often = false;  // a view that repeats a value which others read as well
    Computed computed = Computed::each_time;
  };

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

  // Values that something other than a candidate reads, or a view, which is of something in memory; and those that are read
  // so far away that looking for the place would take time beyond what is linear in the trace.
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

  // Divides a window's lines: those that `wants` and that need nothing behind the region are inside, those that need one of it
  // or one behind it are behind it, the others before it. Sets sides_, by the distance from `first`, and nodes_, those inside.
  template <class Wants>
  void divide(size_t first, size_t end, const Wants& wants) {
    inside_.clear(), behind_.clear();
    sides_.clear(), nodes_.clear();
    for (size_t i = first; i < end; i++) {
      const Node& n = *lines_[i].node;
      const bool needs_behind = behind_.read_by(n);
      const Side side = !needs_behind && wants(i) ? Side::inside : needs_behind || inside_.read_by(n) ? Side::behind : Side::before;
      if (side == Side::inside) inside_.add(n), nodes_.push_back(&n);
      if (side == Side::behind) behind_.add(n);
      sides_.push_back(side);
    }
  }

  // Shows the executor what could join a region that begins at `first`, as if it took all that is connected with that line.
  // Sets taken_, by the distance from `first`.
  bool take(size_t first) {
    const size_t end = std::min(lines_.size(), first + kReach);
    connect(first, end);
    divide(first, end, [&](size_t i) {
      const Line& line = lines_[i];
      return line.candidate && may_join(line.computed, lines_[first].computed) && (part_of(i - first) == part_of(0) || (line.broadcasts_often && inside_.read_by(*line.node)));
    });
    flags_.assign(nodes_.size(), 0);
    if (nodes_.size() < 2 || !executor_.desc().claim_region(nodes_, *trace_.store, flags_.data(), executor_.desc().user) || !flags_[0]) return false;
    taken_.assign(end - first, false);
    for (size_t i = 0, offered = 0; i < taken_.size(); i++) taken_[i] = sides_[i] == Side::inside && flags_[offered++];
    return true;
  }

  // Which candidates reach each other over values that they make or read. What is spread in several places reaches nobody, nor does
  // what was spread before: its readers have nothing else in common, such as the parameters that share a learning rate.
  void connect(size_t first, size_t end) {
    parts_.resize(end - first);
    std::iota(parts_.begin(), parts_.end(), 0u);
    touched_.clear();
    for (size_t i = first; i < end; i++) {
      const Node& n = *lines_[i].node;
      if (!lines_[i].candidate || lines_[i].broadcasts_often) continue;
      const auto touch = [&](ValueId v) {
        if (touched_.add(v)) toucher_[v] = static_cast<uint32_t>(i - first);
        else parts_[part_of(toucher_[v])] = part_of(i - first);
      };
      for_each_value(n.args, [&](ValueId v) {
        const bool broadcast_elsewhere = broadcast_from_[v] != kNoValue && !touched_.has(v);
        if (!broadcast_elsewhere) touch(v);
      });
      for (ValueId r : n.results) touch(r);
    }
  }
  uint32_t part_of(size_t line) {
    while (parts_[line] != line) line = parts_[line] = parts_[parts_[line]];
    return static_cast<uint32_t>(line);
  }
  bool broadcasts_often(const Node& n) const { return broadcasts(n, *trace_.store) && uses_[n.args[0].v] >= 2; }

  // What it took, less the lines that need one behind the region. Gives one more than the room that it leaves before the lines
  // which it found no place for; 0: there is no region.
  size_t form(size_t first) {
    divide(first, first + taken_.size(), [&](size_t i) { return taken_[i - first]; });
    if (nodes_.size() < 2) return 0;
    // What lies beyond the last line of the region stays where it is.
    while (sides_.back() != Side::inside) sides_.pop_back();
    before_.clear(), after_.clear();
    for (size_t i = 0; i < sides_.size(); i++)
      if (sides_[i] != Side::inside) (sides_[i] == Side::before ? before_ : after_).push_back(lines_[first + i]);
    forget_reads();
    const size_t taken = nodes_.size();
    const std::vector<const Node*> again = split();
    const auto views = static_cast<size_t>(std::count_if(again.begin(), again.end(), [](const Node* n) { return def(*n).view != nullptr; }));
    const size_t room = taken - views - !nodes_.empty();  // no nodes: all of it is made where it is read
    auto to = std::fill_n(lines_.begin() + static_cast<ptrdiff_t>(first), room, Line());
    to = std::copy(before_.begin(), before_.end(), to);
    if (!nodes_.empty()) *to++ = {nodes_.size() == 1 ? left_alone() : region(), false};
    const auto behind = static_cast<size_t>(to - lines_.begin());
    for (const Node* n : again)
      if (def(*n).view) *to++ = {n, true, broadcasts_often(*n)};
    std::copy(after_.begin(), after_.end(), to);
    for (size_t i = again.size(); i-- > 0;)
      if (!def(*again[i]).view) sink(again[i], behind);
    return room + 1;
  }

  const Node* left_alone() {
    for_each_value(nodes_[0]->args, [&](ValueId v) { uses_[v]++; });
    return nodes_[0];
  }

  // Puts a line before the first one that reads it, where both may become one region.
  void sink(const Node* n, size_t from) {
    const auto reads = [&](const Line& line) {
      bool any = false;
      for_each_value(line.node->args, [&](ValueId v) { any |= v == n->results[0]; });
      return any;
    };
    const auto at = std::find_if(lines_.begin() + static_cast<ptrdiff_t>(from), lines_.end(), reads);
    lines_.insert(at, {n, true});
  }

  // Of uses_, those by nodes_ go; what is left of their results is read outside.
  void forget_reads() {
    for (const Node* n : nodes_) for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
  }

  // What is read inside and outside, and costs nothing or little to make again, is made on both sides: as a result it would
  // be written out in full. Gives the outer ones; the inner ones get values of their own. Views that the region begins
  // with stay.
  std::vector<const Node*> split() {
    Store& store = *trace_.store;
    std::vector<const Node*> again;
    const Recompute recompute(store, nodes_, read_whole_, uses_, broadcast_from_);
    for (size_t i = nodes_.size(); i-- > 0;) {  // from the last one: what it needs may be made again too
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
    uses_.resize(store.size(), 0), inside_.resize(store.size()), touched_.resize(store.size()), toucher_.resize(store.size()), read_whole_.resize(store.size(), 0);
    broadcast_from_.resize(store.size(), kNoValue), made_again_.resize(store.size(), 0);
    drop_unread();
    for (const Node* n : nodes_) inside_.add(*n);
    return again;
  }

  // What is made again outside and was read only there.
  void drop_unread() {
    inputs_.clear(), inputs_.resize(trace_.store->size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node* n = nodes_[i];
      if (!uses_[n->results[0]] && !inputs_.has(n->results[0]) && n->results.size() == 1) nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(i));
      else for_each_value(n->args, [&](ValueId v) { inputs_.add(v); });
    }
  }

  // One line for nodes_: what they read from outside, and what is read of them there.
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
  std::vector<uint32_t> uses_;  // by value: how often lines, outputs and writes read it
  ValueSet inside_;             // made by the region
  ValueSet behind_;             // made by lines that need one of it
  ValueSet inputs_;
  ValueSet touched_;               // made or read by candidates of the window
  std::vector<uint32_t> toucher_;  // of those: the first line, by its distance from the window's first
  std::vector<uint32_t> parts_;    // by line of the window: another one that it is connected with; itself: the last of them
  std::vector<uint8_t> read_whole_;  // by value
  std::vector<uint8_t> made_again_;  // by value: how often
  std::vector<ValueId> broadcast_from_;  // by value: what it shows more than once
  std::vector<ValueId> instead_;  // by value: of what is made on both sides, those inside
  // Of the region being formed.
  std::vector<Side> sides_;
  std::vector<const Node*> nodes_;
  std::vector<uint8_t> flags_;
  std::vector<bool> taken_;
  std::vector<Line> before_, after_;
};

}  // namespace

void claim_regions(Trace& trace, const Executor& executor, const Op& region) { Regions(trace, executor, region).run(); }

}  // namespace thunder
