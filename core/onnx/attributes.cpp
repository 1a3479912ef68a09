// The attributes of a node, each checked for its kind and range.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "onnx/importer.h"

namespace thunder::onnx {

// In a function an attribute may refer to one of the call.
const Attribute* Node::attribute(std::string_view name) const {
  const Attribute* a = proto.find(name);
  for (const Frame* f = &frame_; a && !a->outer.empty(); f = &f->call->frame_) {
    require(f->function && f->call, "its attribute '", name, "' is that of a call, and it is in no function");
    const std::string_view outer = a->outer;
    a = f->call->proto.find(outer);
    if (a) continue;
    const auto& defaults = f->function->defaults;
    const auto it = std::find_if(defaults.begin(), defaults.end(), [&](auto& d) { return d.name == outer; });
    return it == defaults.end() ? nullptr : &*it;
  }
  return a;
}

namespace {

using Kind = Attribute::Kind;

constexpr int64_t kMostCount = std::numeric_limits<int32_t>::max();

// Old files do not state an attribute's kind.
const Attribute* checked(const Node& n, std::string_view name, Kind kind) {
  const Attribute* a = n.attribute(name);
  n.require(!a || a->kind == kind || a->kind == Kind::none, "its attribute '", name, "' is of another type");
  return a;
}

}  // namespace

int64_t Node::integer(std::string_view name, int64_t otherwise) {
  const Attribute* a = checked(*this, name, Kind::integer);
  return a ? a->i : otherwise;
}
int64_t Node::integer(std::string_view name) {
  const Attribute* a = checked(*this, name, Kind::integer);
  require(a != nullptr, "its attribute '", name, "' is missing");
  return a->i;
}
int64_t Node::count(std::string_view name, int64_t least) {
  const int64_t value = integer(name);
  require(value >= least && value <= kMostCount, "its attribute '", name, "' is ", value, ", it must be from ", least,
          " to ", kMostCount);
  return value;
}
int64_t Node::count_or(std::string_view name, int64_t otherwise, int64_t least) {
  return has_attribute(name) ? count(name, least) : otherwise;
}
const ElementType& Node::element(std::string_view name) {
  return element_type(static_cast<int32_t>(count(name)), cat("its attribute '", name, "'"));
}
const ElementType& Node::element_or(std::string_view name, int32_t otherwise) {
  return has_attribute(name) ? element(name) : element_type(otherwise, "its result");
}
double Node::real(std::string_view name, double otherwise) {
  const Attribute* a = checked(*this, name, Kind::real);
  return a ? static_cast<double>(a->f) : otherwise;
}
std::string_view Node::text(std::string_view name, std::string_view otherwise) {
  const Attribute* a = checked(*this, name, Kind::text);
  return a ? a->s : otherwise;
}
std::vector<int64_t> Node::integers(std::string_view name) {
  const Attribute* a = checked(*this, name, Kind::integers);
  return a ? a->ints : std::vector<int64_t>();
}
std::vector<int64_t> Node::counts(std::string_view name, int64_t least) {
  std::vector<int64_t> list = integers(name);
  for (int64_t i : list)
    require(i >= least && i <= kMostCount, "its attribute '", name, "' has ", i, ", which must be from ", least, " to ",
            kMostCount);
  return list;
}
std::vector<double> Node::reals(std::string_view name) {
  const Attribute* a = checked(*this, name, Kind::reals);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>();
}
const Graph& Node::graph(std::string_view name) {
  const Attribute* a = checked(*this, name, Kind::graph);
  require(a && !a->graphs.empty(), "its attribute '", name, "' is missing");
  return a->graphs[0];
}
void Node::require_attribute(std::string_view name, int64_t value) {
  const int64_t is = integer(name, value);
  if (is != value) refuse("its attribute '", name, "' is ", is, ", it is imported for ", value, " alone");
}

}  // namespace thunder::onnx
