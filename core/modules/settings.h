// Options checked against a table of rows: every name has a value, the row's default if none was given.
#pragma once

#include "tracer/options.h"

namespace thunder {

class Settings {
 public:
  // `given` may be null; what it leaves out is as in `otherwise`, if there is one, else the row's default. Throws at an
  // unknown name, another kind, or a row without a default that was not given.
  Settings(std::span<const OptionRow> rows, const Options* given, std::string_view who,
           const Settings* otherwise = nullptr);

  double real(std::string_view name) const { return leaf(name).f; }
  int64_t integer(std::string_view name) const { return leaf(name).i; }
  bool flag(std::string_view name) const { return leaf(name).i != 0; }
  const std::vector<double>& reals(std::string_view name) const { return leaf(name).reals; }
  bool has(std::string_view name) const;
  const Leaf& leaf(std::string_view name) const;
  // A number, or one of a list, "betas.0": as its kind holds it. Throws where there is no such number.
  void set_number(std::string_view who, std::string_view name, double value);
  double number(std::string_view who, std::string_view name) const;
  // These set the value that an option which is None means.
  void set_integer(std::string_view name, int64_t value);
  void set_real(std::string_view name, double value);

 private:
  std::vector<std::pair<std::string_view, Leaf>> values_;
};

}  // namespace thunder
