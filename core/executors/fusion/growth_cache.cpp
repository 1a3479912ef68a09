#include "executors/fusion/growth_cache.h"

#include "base/hash.h"

namespace thunder::fusion {
namespace {

class Words {
 public:
  void add(uint64_t word) { words_ = {mix(words_[0], word), mix(words_[1] + 0x632be59bd9b4e019ull, word)}; }
  StructuralHash get() const { return words_; }

 private:
  StructuralHash words_ = {1, 2};
};

// Values by the order in which they are met.
class Numbers {
 public:
  // Whether it is met for the first time.
  bool number(ValueId v, uint64_t& out) {
    if (seen_.size() <= v) seen_.resize(v + size_t{1}, {0, 0});
    const bool fresh = seen_[v].round != round_;
    if (fresh) seen_[v] = {round_, next_++};
    out = seen_[v].number;
    return fresh;
  }
  void begin() { round_++, next_ = 0; }

 private:
  struct Seen {
    uint64_t round, number;
  };
  std::vector<Seen> seen_;
  uint64_t round_ = 0, next_ = 0;
};

void add_value(Words& words, Numbers& numbers, const Store& store, ValueId v) {
  uint64_t number;
  const bool fresh = numbers.number(v, number);
  words.add(number);
  if (!fresh) return;
  const TensorType& type = store.type(v);
  words.add(static_cast<uint64_t>(type.dtype) << 40 | static_cast<uint64_t>(static_cast<uint32_t>(type.device)) << 8 |
            type.rank() << 1 | type.weak);
  for (Dim d : type.shape)
    words.add(d.constant() ? static_cast<uint64_t>(d.value()) : reinterpret_cast<uintptr_t>(d.expr()));
}

}  // namespace

StructuralHash structural_hash(std::span<const Node* const> lines, const Store& store, const Capabilities& can) {
  thread_local Numbers numbers;
  numbers.begin();
  Words words;
  for (uint64_t limit : {can.max_lines, can.max_arguments, can.max_concatenated, can.max_cuts}) words.add(limit);
  words.add(can.column_sums | can.scans << 1 | can.host_scalars << 2);
  for (int64_t limit :
       {can.row_order_sums.rows, can.row_order_sums.elements, can.row_order_sums.unaligned, can.row_order_sums.line})
    words.add(static_cast<uint64_t>(limit));
  for (const Node* n : lines) {
    words.add(hash_text(n->op->name()));
    for (const Arg& a : n->args) {
      if (a.kind == ArgKind::value) {
        add_value(words, numbers, store, a.v);
      } else if (a.kind == ArgKind::values) {
        words.add(a.count);
        for (ValueId v : a.value_list()) add_value(words, numbers, store, v);
      } else {
        words.add(hash(a, 3)), words.add(hash(a, 4));
      }
    }
    for (ValueId r : n->results) add_value(words, numbers, store, r);
  }
  return words.get();
}

GrowthCache& GrowthCache::of_this_thread() {
  thread_local GrowthCache cache;
  return cache;
}

const GrowthCache::Answer* GrowthCache::find(const StructuralHash& of) const {
  const auto it = answers_.find(of);
  return it == answers_.end() ? nullptr : &it->second;
}

void GrowthCache::add(const StructuralHash& of, Answer answer) {
  if (answers_.size() == kMost) answers_.clear();
  answers_[of] = std::move(answer);
}

}  // namespace thunder::fusion
