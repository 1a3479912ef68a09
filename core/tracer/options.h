// Options by name. The rows of compile's options are declared here; optimizers and others have tables of their own.
#pragma once

#include "tracer/values.h"

namespace thunder {

struct OptionRow {
  std::string_view name;
  ArgKind kind;              // boolean, integer, real or string
  std::string_view fallback; // as text; how the documentation shows it
  std::string_view doc;
  bool function = false;     // its value is a function, which is no leaf; kind is none
};
// The default of an option that may be left open: None may be given, too.
constexpr std::string_view kNone = "None";

// Names with values, in the order in which they were set; not checked yet.
class Options : public Counted<Options> {
 public:
  virtual ~Options() = default;
  void set(std::string_view name, const Any& value);
  void set(std::string_view name, Leaf value);
  void clear() { values_.clear(); }
  const Leaf* find(std::string_view name) const;
  const std::vector<std::pair<std::string, Leaf>>& all() const { return values_; }

  // Throws at the first name that `rows` does not know (with the nearest one) or whose value has another kind. An
  // integer stands for a float.
  void check(std::span<const OptionRow> rows, std::string_view who) const;

  bool flag(std::string_view name, bool otherwise) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;

 private:
  std::vector<std::pair<std::string, Leaf>> values_;
};

// "a, b,c" as words.
std::vector<std::string> split_list(std::string_view text);

}  // namespace thunder
