// One leaf of the C API: thunder_any with internal names. Its layout is frozen at 16 bytes.
#pragma once

#include "tensor/tensor.h"

namespace thunder {

struct Any {
  ArgKind kind = ArgKind::none;
  uint32_t count = 0;
  union {
    int64_t i = 0;
    double f;
    const char* s;
    const int64_t* d;
    const double* fs;
    Tensor* t;
    Tensor* const* ts;
    DType dtype;
    Device device;
  };
  static Any tensor(Tensor* t) { Any a; a.kind = t ? ArgKind::value : ArgKind::none, a.t = t; return a; }
  static Any real(double f) { Any a; a.kind = ArgKind::real, a.f = f; return a; }
  static Any integer(int64_t i) { Any a; a.kind = ArgKind::integer, a.i = i; return a; }
  static Any boolean(bool b) { Any a; a.kind = ArgKind::boolean, a.i = b; return a; }
  static Any string(std::string_view s) {
    Any a;
    a.kind = ArgKind::string, a.count = static_cast<uint32_t>(s.size()), a.s = s.data();
    return a;
  }
  static Any dims(std::span<const int64_t> d) {
    Any a;
    a.kind = ArgKind::dims, a.count = static_cast<uint32_t>(d.size()), a.d = d.data();
    return a;
  }
};
static_assert(sizeof(Any) == 16);

}  // namespace thunder
