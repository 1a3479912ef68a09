#include "executors/fusion/grow.h"

#include <algorithm>
#include <unordered_set>

namespace thunder::fusion {
namespace {

// How many lines may be drawn in for the sake of one.
constexpr size_t kMaxDrawn = 16;

class Growth {
 public:
  Growth(std::span<const Node* const> lines, const Store& store, std::span<uint8_t> taken) : lines_(lines), taken_(taken), group_(store) {}

  bool run() {
    if (find_prim(*lines_[0]->op)->role == Role::view || !group_.add(*lines_[0])) return false;
    taken_[0] = 1;
    for (size_t i = 0; i < lines_.size(); i++) {
      for (ValueId r : lines_[i]->results) maker_[r] = i;
      if (i == 0 || !reads_group(*lines_[i])) continue;
      std::vector<size_t> with;
      draw(*lines_[i], with);
      if (!with.empty() && with.size() <= kMaxDrawn && join(with, i)) continue;
      join({}, i);
    }
    leave_views();
    return true;
  }

 private:
  // A view that no line of the group reads would be written out in full; outside it costs nothing.
  void leave_views() {
    std::unordered_set<ValueId> read;
    for (size_t i = lines_.size(); i-- > 0;) {
      if (!taken_[i]) continue;
      const Node& line = *lines_[i];
      if (find_prim(*line.op)->role == Role::view && !read.count(line.results[0])) taken_[i] = 0;
      else for_each_value(line.args, [&](ValueId v) { read.insert(v); });
    }
  }

  bool reads_group(const Node& line) const {
    bool reads = false;
    for_each_value(line.args, [&](ValueId v) { reads |= group_.has(v); });
    return reads;
  }

  // The lines outside of the group that this one needs, from the trace's order on; views alone need not be computed.
  void draw(const Node& line, std::vector<size_t>& with) const {
    for_each_value(line.args, [&](ValueId v) {
      auto it = maker_.find(v);
      if (it == maker_.end() || taken_[it->second] || with.size() > kMaxDrawn) return;
      const Node& made_by = *lines_[it->second];
      if (find_prim(*made_by.op)->role == Role::view && !makes_anything_new(made_by)) return;
      if (std::find(with.begin(), with.end(), it->second) != with.end()) return;
      draw(made_by, with);
      with.push_back(it->second);
    });
  }
  // Whether a view is one of something that could be computed here.
  bool makes_anything_new(const Node& view) const {
    auto it = maker_.find(view.args[0].v);
    if (it == maker_.end() || taken_[it->second]) return false;
    const Node& from = *lines_[it->second];
    return find_prim(*from.op)->role != Role::view || makes_anything_new(from);
  }

  bool join(const std::vector<size_t>& with, size_t line) {
    Group grown = group_;
    for (size_t i : with)
      if (!grown.extend(*lines_[i])) return false;
    if (!grown.add(*lines_[line])) return false;
    group_ = std::move(grown);
    for (size_t i : with) taken_[i] = 1;
    taken_[line] = 1;
    return true;
  }

  std::span<const Node* const> lines_;
  std::span<uint8_t> taken_;
  Group group_;
  std::unordered_map<ValueId, size_t> maker_;  // of the lines so far
};

}  // namespace

bool grow(std::span<const Node* const> lines, const Store& store, std::span<uint8_t> taken) { return Growth(lines, store, taken).run(); }

}  // namespace thunder::fusion
