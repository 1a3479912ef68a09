#include "ir/alike_lines.h"

#include <array>
#include <map>
#include <string_view>

#include "base/hash.h"

namespace thunder {
namespace {

using Hash = std::array<uint64_t, 2>;  // so long that what has equal hashes is taken as equal

class LineHash {
 public:
  explicit LineHash(const Store& store) : store_(store), number_(store.size()) {}

  Hash of(const Node& line) {
    hash_ = {1, 2}, used_.clear();
    add_node(line);
    for (ValueId v : used_) number_[v] = 0;
    return hash_;
  }

 private:
  void add(uint64_t word) { hash_ = {mix(hash_[0], word), mix(hash_[1] + 0x632be59bd9b4e019ull, word)}; }
  void add(Dim d) { add(d.constant() ? static_cast<uint64_t>(d.value()) : d.expr()->hash); }
  void add_text(const char* text) { add(text ? hash_text(text) : 0); }

  // Values count in the order of their first use.
  void add_value(ValueId v) {
    if (number_[v]) return add(uint64_t{number_[v]});
    used_.push_back(v);
    number_[v] = static_cast<uint32_t>(used_.size());
    const TensorType& type = store_.type(v);
    add(static_cast<uint64_t>(type.dtype) << 40 | static_cast<uint64_t>(static_cast<uint32_t>(type.device)) << 8 |
        type.rank() << 1 | type.weak);
    for (Dim d : type.shape) add(d);
  }

  // The recursion follows how deep ops are nested in their own definitions.
  void add_node(const Node& n) {
    add(hash_text(n.op->name()));
    add_text(n.executor);
    for (const Arg& a : n.args) {
      add(static_cast<uint64_t>(a.kind) << 32 | a.count);
      if (a.kind == ArgKind::value) add_value(a.v);
      else if (a.kind == ArgKind::values)
        for (ValueId v : a.value_list()) add_value(v);
      else add(hash(a, 3));
    }
    add(n.body.size());
    for (const Node* inner : n.body) add_node(*inner);
    for (ValueId v : n.results) add_value(v);
  }

  const Store& store_;
  Hash hash_;
  std::vector<uint32_t> number_;  // by value; 0: not used yet
  std::vector<ValueId> used_;
};

}  // namespace

std::vector<uint32_t> first_alike(const Trace& trace) {
  std::map<Hash, uint32_t> first;
  LineHash hash(*trace.store);
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < trace.nodes.size(); i++)
    out.push_back(first.try_emplace(hash.of(*trace.nodes[i]), i).first->second);
  return out;
}

}  // namespace thunder
