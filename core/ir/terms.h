// The parts of a trace's lines that stand for something: sizes, types, devices, values, arguments.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "ir/cursor.h"
#include "ir/trace.h"

namespace thunder {

// The names defined by the text so far, and their values.
class Terms {
 public:
  explicit Terms(Store& store) : store_(store) {}

  // "local s3 = 32" after "local".
  void declare_symbol(Cursor& c);
  // A name such as t[3]; `table` one of "tipc". Refuses a second definition.
  void define(const Cursor& c, char table, uint32_t k, ValueId v);

  Dim size(Cursor& c) { return size(c, 0); }
  TensorType type(Cursor& c);
  DType dtype(Cursor& c);
  Device device(Cursor& c);
  // The name of a value, not looked up.
  std::pair<char, uint32_t> place(Cursor& c, std::string_view tables);
  ValueId value(Cursor& c);
  bool at_value(Cursor& c);

  // "(...)" of a call to `op`, complete. What it points to lives until the next call.
  std::span<const Arg> arguments(Cursor& c, const Op& op);

 private:
  Dim size(Cursor& c, size_t depth);
  Arg argument(Cursor& c, const Op& op, const Param& p);
  Arg number_for(Cursor& c, const Param& p);
  Arg integer_for(Cursor& c);
  template <class T, class F>
  std::span<const T> list(Cursor& c, std::deque<std::vector<T>>& kept, F&& item);

  Store& store_;
  std::vector<Dim> symbols_;  // by number; an undeclared one is the constant -1
  std::unordered_map<uint64_t, ValueId> values_;
  std::vector<Arg> args_;
  std::deque<std::vector<Dim>> dims_;
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<ValueId>> lists_;
  std::deque<std::string> strings_;
};

}  // namespace thunder
