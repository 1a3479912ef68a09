#include "items.h"

#include "call.h"
#include "names.h"

namespace thunder_swig {

void check(thunder_status* status) {
  if (status) throw Refusal{status};
}

void refuse(thunder_code code, const std::string& text) {
  throw Refusal{thunder_status_create(code, text.data(), text.size())};
}

size_t end_of_value(const Items& items, size_t at) {
  size_t depth = 0;
  do {
    if (at >= items.size()) refuse(THUNDER_INVALID_ARGUMENT, "a list or map was opened and not closed");
    const int kind = items[at++].kind;
    if (kind == ITEM_LIST || kind == ITEM_MAP) depth++;
    if (kind == ITEM_CLOSE) depth--;
  } while (depth > 0);
  return at;
}

static void push_leaf(const Item& item, thunder_values* out) {
  thunder_any a{};
  switch (item.kind) {
    case ITEM_BOOLEAN: a.kind = THUNDER_BOOLEAN, a.u.i = item.integer; break;
    case ITEM_INTEGER: a.kind = THUNDER_INT, a.u.i = item.integer; break;
    case ITEM_REAL: a.kind = THUNDER_FLOAT, a.u.f = item.real; break;
    case ITEM_TEXT:
      a.kind = THUNDER_STRING, a.u.s = item.text.c_str();
      a.count = static_cast<uint32_t>(item.text.size());
      break;
    case ITEM_TENSOR: a.kind = THUNDER_TENSOR, a.u.t = item.tensor[0].handle; break;
    default: break;
  }
  thunder_values_push(out, &a);
}

void fill_values(const Items& items, thunder_values* out) {
  for (const Item& item : items) {
    if (!item.name.empty()) thunder_values_key(out, item.name.c_str());
    if (item.kind == ITEM_LIST || item.kind == ITEM_MAP)
      thunder_values_open(out, item.kind == ITEM_MAP, nullptr);
    else if (item.kind == ITEM_CLOSE)
      thunder_values_close(out);
    else
      push_leaf(item, out);
  }
  check(thunder_values_status(out));
}

static Item tensor_item(thunder_tensor* tensor) { return {ITEM_TENSOR, "", "", 0, 0, {Tensor(tensor)}}; }

// A leaf; a list of numbers becomes a list.
static void append_leaf(Items& out, const thunder_values* values, size_t leaf, bool traced, const std::string& key) {
  thunder_any a;
  const size_t first = out.size();
  if (traced && thunder_values_kind(values, leaf) == THUNDER_FLOAT) {
    out.push_back(tensor_item(thunder_values_tensor(values, leaf)));
    out.back().name = key;
    return;
  }
  check(thunder_values_get(values, leaf, &a));
  switch (a.kind) {
    case THUNDER_TENSOR: out.push_back(tensor_item(a.u.t)); break;
    case THUNDER_INT: out.push_back({ITEM_INTEGER, "", "", a.u.i, static_cast<double>(a.u.i), {}}); break;
    case THUNDER_BOOLEAN: out.push_back({ITEM_BOOLEAN, "", "", a.u.i, 0, {}}); break;
    case THUNDER_FLOAT: out.push_back({ITEM_REAL, "", "", 0, a.u.f, {}}); break;
    case THUNDER_STRING: out.push_back({ITEM_TEXT, "", std::string(a.u.s, a.count), 0, 0, {}}); break;
    case THUNDER_DTYPE: out.push_back({ITEM_TEXT, "", dtype_name(static_cast<thunder_dtype>(a.u.i)), 0, 0, {}}); break;
    case THUNDER_DIMS:
    case THUNDER_FLOATS:
      out.push_back({ITEM_LIST, "", "", 0, 0, {}});
      for (uint32_t i = 0; i < a.count; i++)
        out.push_back(a.kind == THUNDER_DIMS ? Item{ITEM_INTEGER, "", "", a.u.d[i], 0, {}}
                                             : Item{ITEM_REAL, "", "", 0, a.u.fs[i], {}});
      out.push_back({ITEM_CLOSE, "", "", 0, 0, {}});
      break;
    default: out.push_back({ITEM_NONE, "", "", 0, 0, {}});
  }
  out[first].name = key;
}

Items items_of(const thunder_values* values, bool traced) {
  Items out;
  std::string key;
  size_t leaf = 0;
  for (const char* at = thunder_values_structure(values); *at;) {
    const char c = *at++;
    if (c == '"') {
      key.clear();
      for (; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++;
        key += *at;
      }
      if (*at) at++;
    } else if (c == '[' || c == '{') {
      out.push_back({c == '{' ? ITEM_MAP : ITEM_LIST, key, "", 0, 0, {}});
      key.clear();
    } else if (c == ']' || c == '}') {
      out.push_back({ITEM_CLOSE, "", "", 0, 0, {}});
    } else if (c == '*') {
      append_leaf(out, values, leaf++, traced, key);
      key.clear();
    }
  }
  return out;
}

}  // namespace thunder_swig
