#include "executors/fusion/structural_hash.h"

#include <vector>

#include "base/hash.h"

namespace thunder::fusion {
namespace {

class HashState {
 public:
  void add(uint64_t word) { state_ = {mix(state_[0], word), mix(state_[1] + 0x632be59bd9b4e019ull, word)}; }
  StructuralHash get() const { return state_; }

 private:
  StructuralHash state_ = {1, 2};
};

// Numbers values in the order of their first use.
class ValueNumbering {
 public:
  // Whether this is the first use.
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

void add_value(HashState& hash_state, ValueNumbering& numbers, const Store& store, ValueId v) {
  uint64_t number;
  const bool fresh = numbers.number(v, number);
  hash_state.add(number);
  if (!fresh) return;
  const TensorType& type = store.type(v);
  hash_state.add(static_cast<uint64_t>(type.dtype) << 40 |
                 static_cast<uint64_t>(static_cast<uint32_t>(type.device)) << 8 | type.rank() << 1 | type.weak);
  for (Dim d : type.shape)
    hash_state.add(d.constant() ? static_cast<uint64_t>(d.value()) : reinterpret_cast<uintptr_t>(d.expr()));
}

}  // namespace

StructuralHash structural_hash(std::span<const Node* const> nodes, const Store& store, const Capabilities& can) {
  thread_local ValueNumbering numbers;
  numbers.begin();
  HashState hash_state;
  for (uint64_t limit : {can.max_nodes, can.max_arguments, can.max_concatenated, can.max_slices}) hash_state.add(limit);
  hash_state.add(can.column_sums | can.scans << 1 | can.host_scalars << 2);
  for (int64_t limit :
       {can.row_order_sums.rows, can.row_order_sums.elements, can.row_order_sums.unaligned, can.row_order_sums.line})
    hash_state.add(static_cast<uint64_t>(limit));
  for (const Node* n : nodes) {
    hash_state.add(hash_text(n->op->name()));
    for (const Arg& a : n->args) {
      if (a.kind == ArgKind::value) {
        add_value(hash_state, numbers, store, a.v);
      } else if (a.kind == ArgKind::values) {
        hash_state.add(a.count);
        for (ValueId v : a.value_list()) add_value(hash_state, numbers, store, v);
      } else {
        hash_state.add(hash(a, 3)), hash_state.add(hash(a, 4));
      }
    }
    for (ValueId r : n->results) add_value(hash_state, numbers, store, r);
  }
  return hash_state.get();
}

}  // namespace thunder::fusion
