#include "executors/regions.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace thunder {
namespace {

// How many lines are looked at from a region's first one: what bounds the time, and how far a line may move, since a
// line that moves may lengthen the lives of values.
constexpr size_t kReach = 256;

// A set of values that is emptied at once.
class ValueSet {
 public:
  explicit ValueSet(size_t values) : round_(values, 0) {}
  void clear() { now_++; }
  void resize(size_t values) { round_.resize(values, 0); }
  bool has(ValueId v) const { return round_[v] == now_; }
  // False when it was there.
  bool add(ValueId v) { return std::exchange(round_[v], now_) != now_; }
  void add(const Node& n) {
    for (ValueId r : n.results) add(r);
  }
  bool read_by(const Node& n) const {
    bool any = false;
    for_each_value(n.args, [&](ValueId v) { any |= has(v); });
    return any;
  }

 private:
  std::vector<uint32_t> round_;
  uint32_t now_ = 1;
};

class Regions {
 public:
  Regions(Trace& trace, const Executor& executor, const Op& op)
      : trace_(trace), executor_(executor), op_(op), name_(trace.store->text(executor.name())),
        uses_(trace.store->size(), 0), inside_(uses_.size()), behind_(uses_.size()), inputs_(uses_.size()) {
    for (const Node* n : trace.nodes) {
      lines_.push_back({n, !n->executor && executor.claims({*n, *trace.store})});
      for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
    }
    for (ValueId v : trace.outputs) uses_[v]++;
    for (const Write& w : trace.writes) uses_[w.value]++;
  }

  void run() {
    for (size_t first = 0; first < lines_.size();) {
      const size_t taken = lines_[first].candidate && take(first) ? form(first) : 0;
      // A region leaves room before it; the lines that it found no place for are looked at next.
      first += taken ? taken - 1 : 1;
    }
    trace_.nodes.clear();
    for (const Line& line : lines_)
      if (line.node) trace_.nodes.push_back(line.node);
  }

 private:
  struct Line {
    const Node* node = nullptr;  // null: it went into a region
    bool candidate = false;
  };

  // Shows the executor what could join a region that begins at `first`, as if it took everything. Sets taken_, by the
  // distance from `first`.
  bool take(size_t first) {
    inside_.clear(), behind_.clear();
    offered_.clear(), nodes_.clear();
    const size_t end = std::min(lines_.size(), first + kReach);
    for (size_t i = first; i < end; i++) {
      const Node& n = *lines_[i].node;
      if (behind_.read_by(n)) {
        behind_.add(n);
      } else if (lines_[i].candidate) {
        inside_.add(n);
        offered_.push_back(i - first), nodes_.push_back(&n);
      } else if (inside_.read_by(n)) {
        behind_.add(n);
      }
    }
    flags_.assign(nodes_.size(), 0);
    if (nodes_.size() < 2 || !executor_.desc().claim_region(nodes_, *trace_.store, flags_.data(), executor_.desc().user) || !flags_[0]) return false;
    taken_.assign(end - first, false);
    for (size_t k = 0; k < offered_.size(); k++) taken_[offered_[k]] = flags_[k];
    return true;
  }

  // What it took, less the lines that need one behind the region. Gives their number; 0: there is no region.
  size_t form(size_t first) {
    inside_.clear(), behind_.clear();
    before_.clear(), after_.clear(), nodes_.clear();
    size_t end = first, lines_before = 0, lines_after = 0;
    for (size_t i = first; i < first + taken_.size(); i++) {
      const Line line = lines_[i];
      const bool needs_behind = behind_.read_by(*line.node);
      if (taken_[i - first] && !needs_behind) {
        inside_.add(*line.node);
        nodes_.push_back(line.node);
        end = i + 1, lines_before = before_.size(), lines_after = after_.size();
      } else if (needs_behind || inside_.read_by(*line.node)) {
        behind_.add(*line.node);
        after_.push_back(line);
      } else {
        before_.push_back(line);
      }
    }
    if (nodes_.size() < 2) return 0;
    // What lies beyond the last line of the region stays where it is.
    before_.resize(lines_before), after_.resize(lines_after);
    forget_reads();
    const std::vector<const Node*> views = split_views();
    auto to = std::fill_n(lines_.begin() + static_cast<ptrdiff_t>(first), nodes_.size() - 1 - views.size(), Line());
    to = std::copy(before_.begin(), before_.end(), to);
    *to++ = {region(), false};
    for (const Node* view : views) *to++ = {view, true};
    std::copy(after_.begin(), after_.end(), to);
    ensure(end == first + before_.size() + after_.size() + nodes_.size(), "a region lost a line");
    return nodes_.size();
  }

  // Of uses_, those by nodes_ go; what is left of their results is read outside.
  void forget_reads() {
    for (const Node* n : nodes_) for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
  }

  // A view that is read inside and outside is made on both sides, where it costs nothing: as a result it would be written
  // out in full. Gives the outer ones; the inner ones get values of their own. Views that the region begins with stay.
  std::vector<const Node*> split_views() {
    Store& store = *trace_.store;
    std::vector<const Node*> views;
    for (size_t i = nodes_.size(); i-- > 0;) {  // from the last one: it may be a view of a view
      const Node* n = nodes_[i];
      if (!def(*n).view || !uses_[n->results[0]] || !inside_.has(n->args[0].v)) continue;
      views.insert(views.begin(), n);
      uses_[n->args[0].v]++;
      const ValueId own[] = {store.add(store.type(n->results[0]))};
      nodes_[i] = store.node(n->op, n->args, own, {}, n->where, n->executor);
      instead_.resize(store.size(), kNoValue);
      instead_[n->results[0]] = own[0];
    }
    if (views.empty()) return views;
    for (const Node*& n : nodes_) n = store.substitute(n, instead_);
    for (const Node* n : views) instead_[n->results[0]] = kNoValue;
    uses_.resize(store.size(), 0), inside_.resize(store.size());
    for (const Node* n : nodes_) inside_.add(*n);
    return views;
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
  std::vector<ValueId> instead_;  // by value: of the views being split, those inside
  // Of the region being formed.
  std::vector<size_t> offered_;
  std::vector<const Node*> nodes_;
  std::vector<uint8_t> flags_;
  std::vector<bool> taken_;
  std::vector<Line> before_, after_;
};

}  // namespace

void claim_regions(Trace& trace, const Executor& executor, const Op& region) { Regions(trace, executor, region).run(); }

}  // namespace thunder
