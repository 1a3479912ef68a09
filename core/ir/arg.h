// One argument of an operation, as recorded: a value, or something known while compiling.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/device.h"
#include "ir/dim.h"
#include "ir/dtype.h"

namespace thunder {

using ValueId = uint32_t;
constexpr ValueId kNoValue = 0xffffffff;

// The values are those of thunder_kind, but for the last: an integer that depends on symbols, which stays inside.
enum class ArgKind : int32_t {
  none,
  value,
  integer,
  real,
  boolean,
  string,
  dims,
  reals,
  values,
  dtype,
  device,
  symbolic
};

// 16 bytes. Pointers are borrowed for the call; a recorded node owns copies in its store's arena.
struct Arg {
  ArgKind kind = ArgKind::none;
  uint32_t count = 0;  // bytes of a string, elements of a list
  union {
    int64_t i = 0;
    double f;
    ValueId v;
    const char* s;
    const Dim* d;
    const DimExpr* e;
    const double* fs;
    const ValueId* vs;
    DType dtype;
    Device device;
  };

  static Arg none() { return {}; }
  static Arg value(ValueId v) { Arg a; a.kind = ArgKind::value, a.i = 0, a.v = v; return a; }
  static Arg integer(int64_t i) { Arg a; a.kind = ArgKind::integer, a.i = i; return a; }
  // An integer that may be symbolic.
  static Arg integer(Dim d) {
    if (d.constant()) return integer(d.value());
    Arg a; a.kind = ArgKind::symbolic, a.e = d.expr(); return a;
  }
  static Arg real(double f) { Arg a; a.kind = ArgKind::real, a.f = f; return a; }
  static Arg boolean(bool b) { Arg a; a.kind = ArgKind::boolean, a.i = b; return a; }
  static Arg string(std::string_view s) {
    Arg a; a.kind = ArgKind::string, a.count = static_cast<uint32_t>(s.size()), a.s = s.data(); return a;
  }
  static Arg dims(std::span<const Dim> d) {
    Arg a; a.kind = ArgKind::dims, a.count = static_cast<uint32_t>(d.size()), a.d = d.data(); return a;
  }
  static Arg reals(std::span<const double> d) {
    Arg a; a.kind = ArgKind::reals, a.count = static_cast<uint32_t>(d.size()), a.fs = d.data(); return a;
  }
  static Arg values(std::span<const ValueId> v) {
    Arg a; a.kind = ArgKind::values, a.count = static_cast<uint32_t>(v.size()), a.vs = v.data(); return a;
  }
  // An argument of a kind that is one word.
  static Arg of(ArgKind kind, int64_t i) { Arg a; a.kind = kind, a.i = i; return a; }
  static Arg of(DType d) { Arg a; a.kind = ArgKind::dtype, a.i = 0, a.dtype = d; return a; }
  static Arg of(Device d) { Arg a; a.kind = ArgKind::device, a.i = 0, a.device = d; return a; }

  std::string_view text() const { return {s, count}; }
  std::span<const Dim> dim_list() const { return {d, count}; }
  std::span<const double> real_list() const { return {fs, count}; }
  std::span<const ValueId> value_list() const { return {vs, count}; }
  bool present() const { return kind != ArgKind::none; }
  bool is_integer() const { return kind == ArgKind::integer || kind == ArgKind::symbolic; }
  // Requires: is_integer().
  Dim dim() const { return kind == ArgKind::symbolic ? Dim(e) : Dim(i); }
  // The same; for a symbolic integer the value that was seen while tracing.
  Arg plain() const { return kind == ArgKind::symbolic ? integer(hint(Dim(e))) : *this; }
};
static_assert(sizeof(Arg) == 16);

// A plain number: an integer, a float or a boolean.
inline bool is_number(const Arg& a) { return a.is_integer() || a.kind == ArgKind::real || a.kind == ArgKind::boolean; }
// The same as a double; for a symbolic integer the value that was seen while tracing.
inline double number_of(const Arg& a) { return a.kind == ArgKind::real ? a.f : static_cast<double>(a.plain().i); }

bool same(const Arg& a, const Arg& b);  // by content; floats by bits
uint64_t hash(const Arg& a, uint64_t seed);

}  // namespace thunder
