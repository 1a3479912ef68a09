// Lists of tensors, and values that may be absent: both are known while tracing.
#include <algorithm>

#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/rows.h"
#include "onnx/slices.h"

namespace thunder::onnx {
namespace {

const std::vector<Value>& list_of(Node& n, size_t i) {
  const Value& v = n.value(i);
  n.require(v.list != nullptr, "its input ", i + 1, " is no sequence");
  return *v.list;
}

// A place in a list, counted from the back where it is negative; `end`: how many places there are.
size_t place_of(Node& n, size_t i, size_t end) {
  const auto count = static_cast<int64_t>(end);
  int64_t at = n.whole(i, "position");
  n.require(at >= -count && at < count, "position ", at, " of a sequence with ", count, " places");
  return static_cast<size_t>(at < 0 ? at + count : at);
}

void construct(Node& n) {
  std::vector<Value> list;
  for (size_t i = 0; i < n.inputs(); i++) list.push_back(n.value(i));
  n.give(std::move(list));
}
void empty(Node& n) {
  n.give(std::vector<Value>());
}
void at(Node& n) {
  const std::vector<Value>& list = list_of(n, 0);
  n.give(list[place_of(n, 1, list.size())]);
}
void length(Node& n) {
  n.give(host_of(Dim(static_cast<int64_t>(list_of(n, 0).size()))));
}
void insert(Node& n) {
  std::vector<Value> list = list_of(n, 0);
  const size_t place = n.has(2) ? place_of(n, 2, list.size() + 1) : list.size();
  // Behind the last one from the back is before it.
  const bool back = n.has(2) && n.number(2, "position") < 0;
  list.insert(list.begin() + static_cast<ptrdiff_t>(back ? place - 1 : place), n.value(1));
  n.give(std::move(list));
}
void erase(Node& n) {
  std::vector<Value> list = list_of(n, 0);
  n.require(!list.empty(), "the sequence is empty");
  list.erase(list.begin() + static_cast<ptrdiff_t>(n.has(1) ? place_of(n, 1, list.size()) : list.size() - 1));
  n.give(std::move(list));
}

void concat_sequence(Node& n) {
  std::vector<Tensor*> parts;
  for (Value v : list_of(n, 0)) parts.push_back(n.importer().materialize(v));
  n.give(n.op(n.flag("new_axis") ? "stack" : "cat", {parts, n.integer("axis")}));
}

void split_to_sequence(Node& n) {
  const size_t axis = dim_at(n.integer("axis", 0), n.rank(0));
  const int64_t size = hint(n.shape(0)[axis]);
  std::vector<int64_t> sizes;
  bool keep = true;
  if (!n.has(1)) {
    sizes.assign(static_cast<size_t>(size), 1);
    keep = n.flag("keepdims", true);
  } else {
    const Host& h = n.require_known(1, "split");
    for (Dim d : h.ints) sizes.push_back(hint(d));
    if (h.shape.empty() && sizes.size() == 1) {
      const int64_t part = sizes[0];
      n.require(part > 0, "a part of ", part, " elements");
      sizes.clear();
      for (int64_t left = size; left > 0; left -= part) sizes.push_back(std::min(part, left));
    }
  }
  std::vector<Value> list;
  for (Tensor* t : n.ops("split", {n[0], sizes, static_cast<int64_t>(axis)}))
    list.push_back(
        {keep ? t : n.op("squeeze", {t, std::vector<int64_t>{static_cast<int64_t>(axis)}}), nullptr, nullptr});
  n.give(std::move(list));
}

void map(Node& n) {
  const std::vector<Value>& first = list_of(n, 0);
  std::vector<std::vector<Value>> out(n.outputs());
  for (size_t i = 0; i < first.size(); i++) {
    std::vector<Value> in;
    for (size_t k = 0; k < n.inputs(); k++) {
      const Value& v = n.value(k);
      n.require(!v.list || v.list->size() == first.size(), "its sequences have ", first.size(), " and ",
                v.list ? v.list->size() : 0, " elements");
      in.push_back(v.list ? (*v.list)[i] : v);
    }
    std::vector<Value> made = n.run(n.graph("body"), in);
    n.require(made.size() >= out.size(), "its body gives ", made.size(), " values");
    for (size_t k = 0; k < out.size(); k++) out[k].push_back(std::move(made[k]));
  }
  for (auto& list : out) n.give(std::move(list));
}

void optional(Node& n) {
  n.give(n.has(0) ? n.value(0) : Value());
}
void has_element(Node& n) {
  n.give(host_of(Dim(n.has(0)), DType::boolean));
}
void get_element(Node& n) {
  n.require(n.has(0), "the optional has no element");
  n.give(n.value(0));
}

constexpr ImportRow kRows[] = {
    {"SequenceConstruct", 11, kNow, construct},
    {"SequenceEmpty", 11, kNow, empty},
    {"SequenceAt", 11, kNow, at},
    {"SequenceLength", 11, kNow, length},
    {"SequenceInsert", 11, kNow, insert},
    {"SequenceErase", 11, kNow, erase},
    {"SequenceMap", 17, kNow, map},
    {"ConcatFromSequence", 11, kNow, concat_sequence},
    {"SplitToSequence", 11, kNow, split_to_sequence},
    {"Optional", 15, kNow, optional},
    {"OptionalHasElement", 15, kNow, has_element},
    {"OptionalGetElement", 15, kNow, get_element},
};

}  // namespace

constinit const ImportTable sequences_rows = {"", kRows};

}  // namespace thunder::onnx
