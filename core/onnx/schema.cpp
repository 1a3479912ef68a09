#include "onnx/schema.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace thunder::onnx {
namespace {

constexpr uint32_t kMany = std::numeric_limits<uint32_t>::max();

constexpr Schema kSchemas[] = {
#include "onnx/schemas.inc"
};

constexpr bool is_before(const Schema& a, const Schema& b) {
  if (a.domain != b.domain) return a.domain < b.domain;
  return a.op != b.op ? a.op < b.op : a.since < b.since;
}
static_assert(std::is_sorted(std::begin(kSchemas), std::end(kSchemas), is_before));

struct KindName {
  char letter;
  Attribute::Kind kind;
  std::string_view text;
};
constexpr std::array<KindName, 11> kKinds = {{{'f', Attribute::Kind::real, "a number"},
                                              {'i', Attribute::Kind::integer, "an integer"},
                                              {'s', Attribute::Kind::text, "a text"},
                                              {'t', Attribute::Kind::tensor, "a tensor"},
                                              {'g', Attribute::Kind::graph, "a graph"},
                                              {'F', Attribute::Kind::reals, "a list of numbers"},
                                              {'I', Attribute::Kind::integers, "a list of integers"},
                                              {'S', Attribute::Kind::texts, "a list of texts"},
                                              {'T', Attribute::Kind::tensors, "a list of tensors"},
                                              {'G', Attribute::Kind::graphs, "a list of graphs"},
                                              {'p', Attribute::Kind::sparse, "a sparse tensor"}}};

struct Declared {
  std::string_view name;
  char letter = 0;
  bool required = false;
};

template <class F>
void for_each_attribute(const Schema& s, F&& f) {
  for (std::string_view rest = s.attributes; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    const size_t colon = one.find(':');
    f(Declared{one.substr(0, colon), one[colon + 1], one.back() == '!'});
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
}

std::string known_attributes(const Schema& s) {
  std::string out;
  for_each_attribute(s, [&](const Declared& d) { out += cat(out.empty() ? "" : ", ", "'", d.name, "'"); });
  return out.empty() ? "it has none" : cat("it has ", out);
}

void check_kind(const Node& n, const Declared& d) {
  const Attribute* a = n.attribute(d.name);
  n.require(a || !d.required, "its attribute '", d.name, "' is missing, which opset ", n.opset, " requires");
  if (!a || a->kind == Attribute::Kind::none) return;  // old files do not state the kind
  const auto wanted = std::find_if(kKinds.begin(), kKinds.end(), [&](auto& k) { return k.letter == d.letter; });
  const auto is = std::find_if(kKinds.begin(), kKinds.end(), [&](auto& k) { return k.kind == a->kind; });
  n.require(wanted == kKinds.end() || wanted == is, "its attribute '", d.name, "' is ",
            is == kKinds.end() ? std::string_view("of an unknown kind") : is->text, ", opset ", n.opset, " has ",
            wanted->text);
}

void check_count(const Node& n, const char* what, size_t count, uint32_t least, uint32_t most) {
  const auto limit = least == most ? cat(least) : most == kMany ? cat("at least ", least) : cat(least, " to ", most);
  n.require(count >= least && count <= most, "it has ", count, " ", what, ", in opset ", n.opset, " the op has ",
            limit);
}

// Names left empty at the end of a list are as good as not there.
size_t count_of(const std::vector<std::string_view>& names) {
  size_t count = names.size();
  while (count > 0 && names[count - 1].empty()) count--;
  return count;
}

}  // namespace

std::span<const Schema> schemas() {
  return kSchemas;
}

const Schema* find_schema(std::string_view domain, std::string_view op, int64_t opset) {
  const Schema wanted = {domain, op, opset, 0, 0, 0, 0, {}};
  const Schema* after = std::upper_bound(std::begin(kSchemas), std::end(kSchemas), wanted, is_before);
  if (after == std::begin(kSchemas)) return nullptr;
  const Schema* found = after - 1;
  return found->domain == domain && found->op == op ? found : nullptr;
}

void check_schema(const Node& n) {
  const Schema* s = find_schema(n.proto.domain, n.proto.op, n.opset);
  if (!s) return;
  const auto& given = n.proto.attributes;
  for (size_t i = 0; i < given.size(); i++) {
    bool known = false;
    for_each_attribute(*s, [&](const Declared& d) { known |= d.name == given[i].name; });
    n.require(known, "opset ", n.opset, " of it has no attribute '", given[i].name.substr(0, 100), "'; ",
              known_attributes(*s));
    for (size_t k = 0; k < i; k++)
      n.require(given[k].name != given[i].name, "it has two attributes '", given[i].name, "'");
  }
  for_each_attribute(*s, [&](const Declared& d) { check_kind(n, d); });
  check_count(n, "inputs", count_of(n.proto.inputs), s->least_inputs, s->most_inputs);
  check_count(n, "outputs", count_of(n.proto.outputs), s->least_outputs, s->most_outputs);
}

}  // namespace thunder::onnx
