#include "tracer/structure.h"

#include <string>
#include <vector>

namespace thunder {
namespace {

constexpr std::string_view kSpecial = "[]{}*,:\"";

class StructureReader {
 public:
  explicit StructureReader(std::string_view text) : text_(text) {}

  std::optional<size_t> count_leaves() {
    // Each iteration reads one entry: a leaf or a group, with its key in a map.
    if (text_.empty()) return 0;
    for (;;) {
      if (!levels_.empty() && levels_.back().map && !read_key()) return std::nullopt;
      if (!take('*')) {
        if (!open()) return std::nullopt;
        if (!at_end_of_group()) continue;
      } else {
        leaves_++;
      }
      while (!levels_.empty() && at_end_of_group()) {
        at_++;
        levels_.pop_back();
      }
      if (at_ == text_.size()) return levels_.empty() ? std::optional(leaves_) : std::nullopt;
      if (!take(',')) return std::nullopt;
    }
  }

 private:
  struct Level {
    bool map;
    bool any = false;
    std::string last;
  };

  bool take(char c) { return at_ < text_.size() && text_[at_] == c && (at_++, true); }
  bool at_end_of_group() const { return at_ < text_.size() && text_[at_] == (levels_.back().map ? '}' : ']'); }

  bool open() {
    at_ = std::min(text_.find_first_of(kSpecial, at_), text_.size());  // behind the tag
    const bool map = take('{');
    if ((!map && !take('[')) || levels_.size() == kDeepestStructure) return false;
    levels_.push_back({map, false, {}});
    return true;
  }

  bool read_key() {
    if (!take('"')) return false;
    std::string key;
    for (; at_ < text_.size() && text_[at_] != '"'; at_++) {
      if (text_[at_] == '\\' && (++at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\'))) return false;
      key += text_[at_];
    }
    if (!take('"') || !take(':')) return false;
    Level& level = levels_.back();
    if (level.any && level.last >= key) return false;
    level.any = true;
    level.last = std::move(key);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0, leaves_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

std::optional<size_t> structure_leaves(std::string_view text) {
  return StructureReader(text).count_leaves();
}

}  // namespace thunder
