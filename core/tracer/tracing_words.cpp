// Sizes that stand for any, as numbers that callers can hold: words, which are less than any size or axis.
#include <algorithm>
#include <atomic>
#include <limits>

#include "base/text.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

constexpr int64_t kWordsOfScope = 1 << 20;

}  // namespace

int64_t TracingScope::next_words() {
  static std::atomic<int64_t> scopes{0};
  return std::numeric_limits<int64_t>::min() + kWordsOfScope * (1 + scopes.fetch_add(1, std::memory_order_relaxed));
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

// A function that is called in another one, for a transform, has the words of that one, as it has its sizes.
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
  return given >= kWordsEnd ||
                 (given >= first_word_ + kWordsOfScope || given < std::numeric_limits<int64_t>::min() + kWordsOfScope)
             ? Dim(given)
             : dim_of(given);
}

}  // namespace thunder
