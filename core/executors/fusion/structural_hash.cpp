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
  bool number_value(ValueId v, uint64_t& out) {
    if (seen_.size() <= v) seen_.resize(v + size_t{1}, {0, 0});
    const bool fresh = seen_[v].round != round_;
    if (fresh) seen_[v] = {round_, next_++};
    out = seen_[v].number;
    return fresh;
  }
  void restart() { round_++, next_ = 0; }

 private:
  struct Seen {
    uint64_t round, number;
  };
  std::vector<Seen> seen_;
  uint64_t round_ = 0, next_ = 0;
};

// Sizes as they are.
struct ExactSizes {
  static constexpr bool kExact = true;
  void add(HashState& hash_state, Dim d) { hash_state.add(static_cast<uint64_t>(d.value())); }
};

// Sizes by what a group can tell of them: which are equal, and which divide which, to what. Small ones are themselves,
// since dims and counts stand in the same lists.
class RelatedSizes {
 public:
  static constexpr bool kExact = false;
  void add(HashState& hash_state, Dim d) {
    hash_state.add(size_id(d.value()));
  }
  // Must be called after all sizes were added.
  void add_relations(HashState& hash_state) {
    for (size_t i = 0; i < sizes_.size() && sizes_.size() <= kMost; i++)
      for (size_t k = 0; k < i; k++) add_quotient(hash_state, i, k), add_quotient(hash_state, k, i);
    if (sizes_.size() > kMost)
      for (const int64_t size : sizes_) hash_state.add(static_cast<uint64_t>(size));
  }

 private:
  static constexpr int64_t kSmall = 16;
  static constexpr size_t kMost = 64;

  uint64_t size_id(int64_t size) {
    size_t at = 0;
    while (at < sizes_.size() && sizes_[at] != size) at++;
    if (at == sizes_.size() && size > 1) sizes_.push_back(size);
    return static_cast<uint64_t>(size <= kSmall ? size : kSmall + 1 + static_cast<int64_t>(at));
  }
  // Adds quotients that are new to the sizes.
  void add_quotient(HashState& hash_state, size_t i, size_t k) {
    hash_state.add(sizes_[i] % sizes_[k] ? UINT64_MAX : size_id(sizes_[i] / sizes_[k]));
  }
  std::vector<int64_t> sizes_;
};

template <class Sizes>
void add_value(HashState& hash_state, ValueNumbering& numbers, Sizes& sizes, const Store& store, ValueId v) {
  uint64_t number;
  const bool fresh = numbers.number_value(v, number);
  hash_state.add(number);
  if (!fresh) return;
  const TensorType& type = store.type(v);
  hash_state.add(static_cast<uint64_t>(type.dtype) << 40 |
                 static_cast<uint64_t>(static_cast<uint32_t>(type.device)) << 8 | type.rank() << 1 | type.weak);
  for (Dim d : type.shape) sizes.add(hash_state, d);
  if constexpr (!Sizes::kExact) hash_state.add(is_large_operand(type));
}

template <class Sizes>
void add_argument(HashState& hash_state, Sizes& sizes, const Arg& a) {
  if constexpr (Sizes::kExact) {
    hash_state.add(hash(a, 3));
  } else if (a.kind == ArgKind::dims) {
    hash_state.add(a.count);
    for (Dim d : a.dim_list()) sizes.add(hash_state, d);
  } else if (a.kind == ArgKind::real) {
    hash_state.add(static_cast<uint64_t>(a.kind));  // no group looks at it
  } else {
    hash_state.add(hash(a, 3));
  }
}

// Numbers that no other hash of this thread uses at the same time.
ValueNumbering& restarted_numbering() {
  thread_local ValueNumbering numbers;
  numbers.restart();
  return numbers;
}

void add_limits(HashState& hash_state, const Capabilities& can) {
  for (uint64_t limit : {can.max_nodes, can.max_arguments, can.max_concatenated, can.max_slices}) hash_state.add(limit);
  hash_state.add(can.column_sums | can.scans << 1 | can.host_scalars << 2);
  for (int64_t limit :
       {can.row_order_sums.rows, can.row_order_sums.elements, can.row_order_sums.unaligned, can.row_order_sums.line})
    hash_state.add(static_cast<uint64_t>(limit));
}

template <class Sizes>
void add_nodes(HashState& hash_state, ValueNumbering& numbers, Sizes& sizes, std::span<const Node* const> nodes,
               const Store& store, const Capabilities& can) {
  add_limits(hash_state, can);
  for (const Node* n : nodes) {
    hash_state.add(hash_text(n->op->name()));
    for (const Arg& a : n->args) {
      if (a.kind != ArgKind::value && a.kind != ArgKind::values) {
        add_argument(hash_state, sizes, a);
        continue;
      }
      hash_state.add(a.kind == ArgKind::values ? a.count : 0);
      if (a.kind == ArgKind::value)
        add_value(hash_state, numbers, sizes, store, a.v);
      else
        for (ValueId v : a.value_list()) add_value(hash_state, numbers, sizes, store, v);
    }
    for (ValueId r : n->results) add_value(hash_state, numbers, sizes, store, r);
    if constexpr (Sizes::kExact) continue;
    const Role role = find_prim(*n->op)->role;
    if (role == Role::reduction) hash_state.add(sums_in_row_order(*n, store, can));
    if (role == Role::concat) sizes.add(hash_state, static_cast<int64_t>(operands(*n).size()));
  }
}

void add_layout(HashState& hash_state, const Buffer& b) {
  hash_state.add(static_cast<uint64_t>(b.dtype) << 32 | static_cast<uint32_t>(b.rank));
  for (int32_t i = 0; i < b.rank; i++) hash_state.add(static_cast<uint64_t>(b.strides[i]));
}

}  // namespace

StructuralHash structural_hash(std::span<const Node* const> nodes, const Store& store, const Capabilities& can) {
  HashState hash_state;
  ExactSizes sizes;
  add_nodes(hash_state, restarted_numbering(), sizes, nodes, store, can);
  return hash_state.get();
}

StructuralHash hash_for_any_size(std::span<const Node* const> nodes, const Store& store, const Capabilities& can) {
  HashState hash_state;
  RelatedSizes sizes;
  add_nodes(hash_state, restarted_numbering(), sizes, nodes, store, can);
  sizes.add_relations(hash_state);
  return hash_state.get();
}

StructuralHash laid_out_hash(const NodeView& view, std::span<const Node* const> nodes, const Target& target) {
  ValueNumbering& numbers = restarted_numbering();
  HashState hash_state;
  ExactSizes sizes;
  add_nodes(hash_state, numbers, sizes, nodes, view.store, target.capabilities());
  for_each_value(view.node.args, [&](ValueId v) { add_value(hash_state, numbers, sizes, view.store, v); });
  for (ValueId r : view.node.results) add_value(hash_state, numbers, sizes, view.store, r);
  for (const Buffer& b : view.inputs) add_layout(hash_state, b);
  for (const Buffer& b : view.outputs) add_layout(hash_state, b);
  hash_state.add(static_cast<uint64_t>(view.epilogue_input + 1));
  hash_state.add(reinterpret_cast<uintptr_t>(&target));
  return hash_state.get();
}

}  // namespace thunder::fusion
