// Sizes that stand for any, as numbers that callers can hold: words, which are less than any size or axis.
#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

// A word is the least integer plus, from its lowest bits on: its number in the scope, the scope's number, a digest of
// that, and a one. So plain integers are no words, also those that are nearly as small: not one in a million of the
// scopes' numbers and digests that there could be is in use.
constexpr int kNumberBits = 20, kScopeBits = 30, kDigestBits = 11;
constexpr int64_t kWordsOfScope = int64_t{1} << kNumberBits;
static_assert(kNumberBits + kScopeBits + kDigestBits == 61);  // below 2^62 with the one: less than any size

// Counts from 1: 0 has no digest.
std::atomic<uint64_t> scopes{1};

constexpr uint64_t scope_digest(uint64_t scope) { return scope * 0x9e3779b97f4a7c15 >> (64 - kDigestBits); }

constexpr int64_t first_word(uint64_t scope) {
  const uint64_t bits = uint64_t{1} << kDigestBits | scope_digest(scope);
  return static_cast<int64_t>(uint64_t{1} << 63 | (bits << kScopeBits | scope) << kNumberBits);
}

// Whether it is a word of any scope that there has been.
bool is_word(int64_t given) {
  if (given >= TracingScope::kWordsEnd) return false;
  const uint64_t scope = static_cast<uint64_t>(given) >> kNumberBits & ((uint64_t{1} << kScopeBits) - 1);
  return scope > 0 && scope < scopes.load(std::memory_order_relaxed) && given - first_word(scope) >= 0 &&
         given - first_word(scope) < kWordsOfScope;
}

}  // namespace

int64_t TracingScope::next_words() {
  const uint64_t scope = scopes.fetch_add(1, std::memory_order_relaxed);
  require(scope < uint64_t{1} << kScopeBits, "a process may trace no more than ", uint64_t{1} << kScopeBits,
          " functions");
  return first_word(scope);
}

Dim TracingScope::integer(int64_t value) {
  integers_.push_back(symbol(value));
  return integers_.back();
}

bool TracingScope::is_size(Dim d) const {
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->is_size(d);
  return !d.constant() && d.expr()->op == DimOp::symbol &&
         std::find(integers_.begin(), integers_.end(), d) == integers_.end();
}

// A function traced inside of another one, for a transform, shares its words, as it shares its sizes.
int64_t TracingScope::word(Dim size) {
  if (size.constant()) return size.value();
  if (auto* tracing = dynamic_cast<TracingScope*>(around_)) return tracing->word(size);
  const auto it = std::find(words_.begin(), words_.end(), size);
  const auto number = it - words_.begin();
  require(number < kWordsOfScope, "a function may look at no more than ", kWordsOfScope, " sizes that stand for any");
  if (it == words_.end()) words_.push_back(size);
  return first_word_ + number;
}

Dim TracingScope::dim_of(int64_t word) const {
  if (word >= kWordsEnd) return word;
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->dim_of(word);
  require(word >= first_word_ && word - first_word_ < static_cast<int64_t>(words_.size()),
          "a size of another traced function, or no size at all");
  return words_[static_cast<size_t>(word - first_word_)];
}

Dim TracingScope::integer_of(int64_t given) const {
  if (auto* tracing = dynamic_cast<const TracingScope*>(around_)) return tracing->integer_of(given);
  return is_word(given) ? dim_of(given) : Dim(given);
}

}  // namespace thunder
