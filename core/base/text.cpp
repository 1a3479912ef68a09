#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <vector>

#include "base/pytorch_names.h"

namespace thunder {

namespace {

template <size_t kMost, class T>
void append_number(std::string& out, T v) {
  std::array<char, kMost> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  out.append(buffer.data(), end);
}

}  // namespace

void append(std::string& out, std::string_view s) { out += s; }
void append(std::string& out, const char* s) { out += s ? s : "(null)"; }
void append(std::string& out, char c) { out += c; }
void append_decimal(std::string& out, int64_t v) { append_number<24>(out, v); }
void append_decimal(std::string& out, uint64_t v) { append_number<24>(out, v); }
void append(std::string& out, double v) { append_number<40>(out, v); }

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Twice the insertions, deletions, replacements and exchanges of neighbours that turn a into b; another case is the
// slightest slip there is and counts one. Given up above `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (2 * a.size() > 2 * b.size() + limit || 2 * b.size() > 2 * a.size() + limit) return limit + 1;
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) last[j] = 2 * j;
  for (size_t i = 1; i <= a.size(); i++) {
    row[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); j++) {
      const char x = a[i - 1], y = b[j - 1];
      const size_t replaced = x == y ? 0 : lower(x) == lower(y) ? 1 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + replaced});
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y) row[j] = std::min(row[j], before[j - 2] + 2);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

constexpr size_t kFew = 12;

// "; there are a, b" of few names.
std::string all_of(std::span<const std::string_view> names) {
  if (names.empty() || names.size() > kFew) return {};
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return cat(sorted.size() == 1 ? "; there is " : "; there are ", join(sorted, ", ", [](auto n) { return n; }));
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  // A name longer than all known names cannot be a misspelling of one; this also bounds the work.
  if (name.size() > 64) return {};
  const size_t limit = 2 * std::max<size_t>(name.size() > 5 ? 2 : 1, name.size() / 3);
  // Among equally near candidates the one of the nearest length, then the first in the alphabet.
  const auto longer = [&](std::string_view n) {
    return n.size() > name.size() ? n.size() - name.size() : name.size() - n.size();
  };
  std::string_view best;
  size_t best_distance = limit + 1;
  for (auto candidate : candidates) {
    const size_t d = distance(name, candidate, limit);
    if (d > limit) continue;
    if (std::tuple(d, longer(candidate), candidate) < std::tuple(best_distance, longer(best), best))
      best = candidate, best_distance = d;
  }
  return best;
}

std::string suggest(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(name, candidates);
  const PyTorchName* known = same_letters(name, best) ? nullptr : find_pytorch_name(name);
  if (known) {
    const std::string instead = known->instead.empty() ? "" : cat("; instead: ", known->instead);
    return cat("; PyTorch's '", name, "' is not in libthunder", instead, instead.empty() ? all_of(candidates) : "");
  }
  return best.empty() ? all_of(candidates) : cat(" (did you mean '", best, "'?)");
}

}  // namespace thunder
