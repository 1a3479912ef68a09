#include "base/text.h"

#include <algorithm>
#include <vector>

namespace thunder {

void append(std::string& out, double v) {
  std::array<char, 40> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  out.append(buffer.data(), end);
}

namespace {

// Levenshtein distance, given up above `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  // A name longer than any of ours cannot be a slip of one; this also bounds the work.
  if (name.size() > 64) return {};
  const size_t limit = std::max<size_t>(name.size() > 3 ? 2 : 1, name.size() / 3);
  std::string_view best;
  size_t best_distance = limit + 1;
  for (auto candidate : candidates) {
    size_t d = distance(name, candidate, limit);
    if (d < best_distance) best = candidate, best_distance = d;
  }
  return best;
}

std::string suggest(std::string_view name, std::span<const std::string_view> candidates) {
  auto best = nearest(name, candidates);
  return best.empty() ? std::string() : cat(" (did you mean '", best, "'?)");
}

}  // namespace thunder
