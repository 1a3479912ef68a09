// What the options of compile say, each of its type: one value that every stage and every executor of a compile gets.
#pragma once

#include <optional>

#include "tracer/function.h"
#include "tracer/options.h"

namespace thunder {

using NameList = std::vector<std::string>;  // given as a text, with commas between the names
// A number that is at least 1.
struct Count {
  constexpr Count(int64_t n = 1) : value(n) {}
  operator int64_t() const { return value; }
  int64_t value;
};

// How much of f32 operands products must keep.
enum class Precision : uint8_t {
  highest,  // all bits
  high,     // two bf16 parts of each number; on CUDA devices TF32
  medium,   // one bf16 part; on CUDA devices TF32
};
enum class CacheMode : uint8_t { constant_values, symbolic_values, same_input, no_caching };

struct CompileSettings {
#define OPTION(type, name, otherwise, doc) type name = otherwise;
#include "tracer/compile_options.def"
#undef OPTION
  bool leaves_out(std::string_view pass) const;
};
// Those of a compile without options.
const CompileSettings& default_settings();

// The table as callers see it.
std::span<const OptionRow> compile_options();

// Takes over what is given. Throws at the first name that is unknown, or whose value has another kind or cannot be.
void read_settings(const Options& given, CompileSettings& out);
// The same of one whose value is a function.
void read_settings(std::string_view name, Ref<Function> given, CompileSettings& out);

}  // namespace thunder
