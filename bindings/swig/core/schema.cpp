#include "schema.h"

#include <cmath>
#include <map>
#include <mutex>

#include "call.h"
#include "names.h"
#include "rows.h"

namespace thunder_swig {

namespace {

bool is_list(const std::string& kind) { return kind.size() > 2 && kind.ends_with("[]"); }
bool is_number(const Item& item) { return item.kind == ITEM_INTEGER || item.kind == ITEM_REAL || item.kind == ITEM_BOOLEAN; }
double real_of(const Item& item) { return item.kind == ITEM_REAL ? item.real : static_cast<double>(item.integer); }

bool is_whole(const Item& item) {
  return item.kind == ITEM_INTEGER || (item.kind == ITEM_REAL && item.real == std::floor(item.real) && std::fabs(item.real) < 0x1p63);
}
int64_t whole_of(const Item& item) { return item.kind == ITEM_INTEGER ? item.integer : static_cast<int64_t>(item.real); }

thunder_any text_leaf(const Item& item, const std::string& kind) {
  thunder_any a{};
  if (kind == "dtype" && (a.u.i = dtype_named(item.text))) return a.kind = THUNDER_DTYPE, a;
  if (kind == "device" && (a.u.i = device_named(item.text))) return a.kind = THUNDER_DEVICE, a;
  a.kind = THUNDER_STRING, a.u.s = item.text.c_str(), a.count = static_cast<uint32_t>(item.text.size());
  return a;
}

thunder_any number_leaf(const Item& item, const std::string& kind) {
  thunder_any a{};
  const bool wants_int = kind == "int", wants_bool = kind == "bool";
  if (item.kind == ITEM_BOOLEAN || (wants_bool && is_whole(item)))
    a.kind = THUNDER_BOOLEAN, a.u.i = item.kind == ITEM_REAL ? item.real != 0 : item.integer != 0;
  else if (item.kind == ITEM_INTEGER || (wants_int && is_whole(item)))
    a.kind = THUNDER_INT, a.u.i = whole_of(item);
  else
    a.kind = THUNDER_FLOAT, a.u.f = item.real;
  return a;
}

thunder_any item_to_any(const Item& item, const std::string& kind) {
  thunder_any a{};
  if (item.kind == ITEM_TENSOR) return a.kind = THUNDER_TENSOR, a.u.t = item.tensor[0].handle, a;
  if (item.kind == ITEM_TEXT) return text_leaf(item, kind);
  return item.kind == ITEM_NONE ? a : number_leaf(item, kind);
}

}  // namespace

static Schema schema_of(const Row& row) {
  Schema schema;
  for (const Row& parameter : row.list("parameters"))
    schema.parameters.push_back({parameter.text("name"), parameter.text("kind")});
  schema.results = row.count("results");
  return schema;
}

const Schema* find_schema(const std::string& what, const std::string& name) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, Schema>;  // entries stay where they are
  const std::lock_guard<std::mutex> guard(mutex);
  auto found = known->find(what + ":" + name);
  if (found != known->end()) return &found->second;
  for (const Row& row : rows_of(what))
    known->insert({what + ":" + row.text("name"), schema_of(row)});
  found = known->find(what + ":" + name);
  if (found == known->end() && name.size() > 1 && name.back() == '_') {
    const auto plain = known->find(what + ":" + name.substr(0, name.size() - 1));
    if (plain != known->end()) found = known->insert({what + ":" + name, plain->second}).first;
  }
  return found == known->end() ? nullptr : &found->second;
}

void Arguments::add_list(const Items& items, size_t at, size_t end, const std::string& kind) {
  bool tensors = kind == "tensor[]", whole = kind != "float[]", numbers = true;
  for (size_t i = at; i < end; i++) {
    tensors |= items[i].kind == ITEM_TENSOR;
    whole &= is_whole(items[i]);
    numbers &= is_number(items[i]);
  }
  thunder_any a{};
  a.count = static_cast<uint32_t>(end - at);
  if (tensors) {
    auto& list = tensors_.emplace_back();
    for (size_t i = at; i < end; i++) {
      if (items[i].kind != ITEM_TENSOR) refuse(THUNDER_INVALID_ARGUMENT, "a list of tensors holds something else");
      list.push_back(items[i].tensor[0].handle);
    }
    a.kind = THUNDER_TENSORS, a.u.ts = list.data();
  } else if (!numbers) {
    refuse(THUNDER_INVALID_ARGUMENT, "a list among the arguments of an op holds neither numbers nor tensors");
  } else if (whole) {
    auto& list = dims_.emplace_back();
    for (size_t i = at; i < end; i++) list.push_back(whole_of(items[i]));
    a.kind = THUNDER_DIMS, a.u.d = list.data();
  } else {
    auto& list = floats_.emplace_back();
    for (size_t i = at; i < end; i++) list.push_back(real_of(items[i]));
    a.kind = THUNDER_FLOATS, a.u.fs = list.data();
  }
  any.push_back(a);
}

void Arguments::add(const Items& items, size_t at, size_t end, const std::string& kind) {
  const Item& item = items[at];
  if (item.kind == ITEM_LIST) return add_list(items, at + 1, end - 1, kind);
  if (item.kind == ITEM_MAP) refuse(THUNDER_INVALID_ARGUMENT, "an op takes no map; name its arguments one by one");
  if (is_list(kind) && (item.kind == ITEM_TENSOR || is_number(item))) return add_list(items, at, end, kind);
  any.push_back(item_to_any(item, kind));
}

Arguments::Arguments(const Items& items, const Schema* schema) {
  bool named = false;
  for (size_t at = 0, end; at < items.size(); at = end) {
    end = end_of_value(items, at);
    const std::string& name = items[at].name;
    const Parameter* parameter = nullptr;
    for (size_t i = 0; schema && i < schema->parameters.size(); i++)
      if (name.empty() ? i == any.size() : name == schema->parameters[i].name) parameter = &schema->parameters[i];
    add(items, at, end, parameter ? parameter->kind : "");
    names.push_back(name.empty() ? nullptr : name.c_str());
    named |= !name.empty();
  }
  if (!named) names.clear();
}

}  // namespace thunder_swig
