#include "ir/terms.h"

#include <algorithm>

namespace thunder {
namespace {

constexpr uint32_t kMaxSymbols = 4096;
constexpr uint32_t kMaxPlace = 1u << 30;
constexpr size_t kMaxNesting = 64;

uint64_t key(char table, uint32_t k) { return static_cast<uint64_t>(static_cast<unsigned char>(table)) << 32 | k; }

}  // namespace

void Terms::declare_symbol(Cursor& c) {
  c.expect("s");
  const uint32_t k = c.count(kMaxSymbols);
  c.expect("=");
  const int64_t hint = c.integer();
  // Symbols count from zero in their store; those in between are not used.
  if (k < symbols_.size()) c.bad("s", k, " is declared after s", symbols_.size() - 1);
  while (symbols_.size() < k) {
    store_.dims().symbol(1);
    symbols_.push_back(-1);
  }
  symbols_.push_back(store_.dims().symbol(hint));
}

void Terms::define(const Cursor& c, char table, uint32_t k, ValueId v) {
  if (!values_.emplace(key(table, k), v).second) c.bad(table, "[", k, "] is defined twice");
}

Dim Terms::size(Cursor& c, size_t depth) {
  if (depth > kMaxNesting) c.bad("a size is nested more than ", kMaxNesting, " deep");
  if (c.accept("s")) {
    const uint32_t k = c.count(kMaxSymbols);
    if (k >= symbols_.size() || symbols_[k].constant()) c.bad("size s", k, " is not declared");
    return symbols_[k];
  }
  if (!c.accept("(")) return c.integer();
  const Dim a = size(c, depth + 1);
  Dim out;
  if (c.accept("+")) out = a + size(c, depth + 1);
  else if (c.accept("-")) out = a - size(c, depth + 1);
  else if (c.accept("*")) out = a * size(c, depth + 1);
  else if (c.accept("//")) out = a / size(c, depth + 1);
  else if (c.accept("%")) out = a % size(c, depth + 1);
  else c.expected("an operator");
  c.expect(")");
  return out;
}

DType Terms::dtype(Cursor& c) {
  for (auto& row : all_dtypes())
    if (c.accept_word(row.name)) return row.dtype;
  c.expected("a dtype");
}

Device Terms::device(Cursor& c) {
  if (c.accept_word("cpu")) return Device::cpu;
  if (c.accept_word("cuda")) {
    c.expect("(");
    const uint32_t index = c.count(0xffff);
    c.expect(")");
    return cuda(static_cast<int32_t>(index));
  }
  if (!c.accept_word("device")) c.expected("a device");
  c.expect("(");
  const uint32_t kind = c.count(0x7fff);
  c.expect(",");
  const uint32_t index = c.count(0xffff);
  c.expect(")");
  return static_cast<Device>(kind << 16 | index);
}

TensorType Terms::type(Cursor& c) {
  TensorType t;
  if (c.at("cpu") || c.at("cuda") || c.at("device")) t.device = device(c);
  t.dtype = dtype(c);
  t.weak = c.accept("~");
  c.expect("[");
  while (!c.accept("]")) {
    if (t.rank()) c.expect(",");
    if (t.rank() == kMaxRank) c.bad("a tensor has at most ", kMaxRank, " dims");
    const Dim d = size(c);
    if (hint(d) < 0) c.bad("a size must not be negative, got ", hint(d));
    t.shape.push_back(d);
  }
  if (!fits_in_memory(t)) c.bad("a tensor of type ", name(t), " would not fit in memory");
  return t;
}

bool Terms::at_value(Cursor& c) { return c.at("t[") || c.at("i[") || c.at("p[") || c.at("c["); }

std::pair<char, uint32_t> Terms::place(Cursor& c, std::string_view tables) {
  for (char table : tables) {
    if (!c.accept(cat(table, "["))) continue;
    const uint32_t k = c.count(kMaxPlace);
    if (k == 0) c.bad("places count from 1");
    c.expect("]");
    return {table, k};
  }
  c.expected("a value such as ", tables[0], "[1]");
}

ValueId Terms::value(Cursor& c) {
  auto [table, k] = place(c, "tipc");
  auto it = values_.find(key(table, k));
  if (it == values_.end()) c.bad(table, "[", k, "] is not defined");
  return it->second;
}

template <class T, class F>
std::span<const T> Terms::list(Cursor& c, std::deque<std::vector<T>>& kept, F&& item) {
  c.expect("{");
  auto& items = kept.emplace_back();
  while (!c.accept("}")) {
    if (!items.empty()) c.expect(",");
    items.push_back(item());
  }
  return items;
}

Arg Terms::number_for(Cursor& c, const Param& p) {
  int64_t i = 0;
  double f = 0;
  const bool whole = c.number(i, f);
  if (p.kind == ParamKind::real) return Arg::real(whole ? static_cast<double>(i) : f);
  return whole ? Arg::integer(i) : Arg::real(f);
}

// An integer, or a symbolic one.
Arg Terms::integer_for(Cursor& c) {
  return c.at("s") || c.at("(") ? Arg::integer(size(c)) : Arg::integer(c.integer());
}

Arg Terms::argument(Cursor& c, const Op& op, const Param& p) {
  if (c.accept_word("nil")) {
    if (!p.optional && !(p.has_default && !p.fallback.present()))
      c.bad(op.name(), ": argument '", p.name, "' must not be nil");
    return Arg::none();
  }
  switch (p.kind) {
    case ParamKind::tensor:
      if (at_value(c) || !p.number) return Arg::value(value(c));
      if (c.accept_word("true")) return Arg::boolean(true);
      if (c.accept_word("false")) return Arg::boolean(false);
      return c.at("s") || c.at("(") ? integer_for(c) : number_for(c, p);
    case ParamKind::real: return number_for(c, p);
    case ParamKind::integer: return integer_for(c);
    case ParamKind::boolean:
      if (c.accept_word("true")) return Arg::boolean(true);
      if (c.accept_word("false")) return Arg::boolean(false);
      c.expected("true or false for argument '", p.name, "'");
    case ParamKind::string: return Arg::string(strings_.emplace_back(c.quoted()));
    case ParamKind::dims:
      if (p.text && c.at("\"")) return Arg::string(strings_.emplace_back(c.quoted()));
      return Arg::dims(list(c, dims_, [&] { return size(c); }));
    case ParamKind::tensors: return Arg::values(list(c, lists_, [&] { return value(c); }));
    case ParamKind::reals:
      return Arg::reals(
          list(c, reals_, [&] { return number_for(c, {.name = {}, .kind = ParamKind::real, .fallback = {}}).f; }));
    case ParamKind::dtype: return Arg::of(dtype(c));
    case ParamKind::device: return Arg::of(device(c));
  }
  c.expected("an argument");
}

std::span<const Arg> Terms::arguments(Cursor& c, const Op& op) {
  args_.clear(), dims_.clear(), reals_.clear(), lists_.clear(), strings_.clear();
  const auto& params = op.schema.params;
  c.expect("(");
  while (!c.accept(")")) {
    if (!args_.empty()) c.expect(",");
    if (args_.size() == params.size())
      c.bad(op.name(), " takes at most ", params.size(), " arguments; ", op.schema.text);
    args_.push_back(argument(c, op, params[args_.size()]));
  }
  for (size_t i = args_.size(); i < params.size(); i++) {
    if (!params[i].has_default && !params[i].optional)
      c.bad(op.name(), ": argument '", params[i].name, "' is missing; ", op.schema.text);
    args_.push_back(params[i].fallback);
  }
  return args_;
}

}  // namespace thunder
