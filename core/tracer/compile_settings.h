// The options of compile as typed values: one object that every stage and every executor of a compile gets.
#pragma once

#include <optional>

#include "tracer/function.h"
#include "tracer/options.h"

namespace thunder {

using NameList = std::vector<std::string>;  // given as a text, with commas between the names
// An integer option that must be at least 1.
struct Count {
  constexpr Count(int64_t n = 1) : value(n) {}
  operator int64_t() const { return value; }
  int64_t value;
};

// The precision that products must keep of f32 operands.
enum class Precision : uint8_t {
  highest,  // all bits
  high,     // two bf16 parts of each number; on CUDA devices TF32
  medium,   // one bf16 part; on CUDA devices TF32
};
enum class CacheMode : uint8_t { constant_values, symbolic_values, same_input, no_caching };
// How to treat values that a trace keeps but no call checks.
enum class SharpEdges : uint8_t { allow, warn, error };

// The checks on each step of a call.
enum class DebugCheck : uint8_t { nan, inf, reference, bounds };
// Files that a compile may write about itself.
enum class TraceFile : uint8_t {
  fx_graph,
  fx_graph_transformed,
  ir_pre_fusion,
  ir_post_fusion,
  output_code,
  graph_diagram,
  draw_orig_fx_graph,
  compile_profile,
  info_log,
  debug_log,
};
// Some of the names of E, given as a text with commas between them.
template <class E>
struct NameSet {
  constexpr NameSet(std::initializer_list<E> all = {}) {
    for (E e : all) add(e);
  }
  constexpr void add(E e) { bits |= uint32_t{1} << static_cast<uint32_t>(e); }
  constexpr bool has(E e) const { return bits >> static_cast<uint32_t>(e) & 1; }
  constexpr bool empty() const { return bits == 0; }
  uint32_t bits = 0;
};
inline constexpr NameSet<TraceFile> kUsualTraceFiles = {TraceFile::fx_graph, TraceFile::fx_graph_transformed,
                                                        TraceFile::ir_pre_fusion, TraceFile::ir_post_fusion,
                                                        TraceFile::output_code};
std::string_view name(TraceFile);

struct CompileSettings {
#define OPTION(type, name, otherwise, doc) type name = otherwise;
#include "tracer/compile_options.def"
#undef OPTION
  bool leaves_out(std::string_view pass) const;
};
// The settings of a compile without options.
const CompileSettings& default_settings();

// The table as callers see it.
std::span<const OptionRow> compile_options();

// Sets the given options. Throws at the first unknown name, or value of the wrong kind or out of range.
void read_settings(const Options& given, CompileSettings& out);
// The same for an option whose value is a function.
void read_settings(std::string_view name, Ref<Function> given, CompileSettings& out);

}  // namespace thunder
