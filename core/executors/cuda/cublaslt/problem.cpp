#include "executors/cuda/cublaslt/problem.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace thunder::cublaslt {
namespace {

constexpr int64_t kAligned = 8;  // elements
constexpr int kBits = 3;

int64_t alignment_of(int64_t n) { return std::min(n & -n, kAligned); }

// Rounded up, and to no better alignment.
int64_t round_up(int64_t n) {
  const int shift = std::max(static_cast<int>(std::bit_width(static_cast<uint64_t>(n))) - kBits, 0);
  const int64_t rounded = (((n - 1) >> shift) + 1) << shift;
  return rounded == n || alignment_of(rounded) == alignment_of(n) ? rounded : rounded + alignment_of(n);
}

}  // namespace

ProblemShape representative(const ProblemShape& shape) {
  ProblemShape out = shape;
  out.m = round_up(shape.m), out.n = round_up(shape.n), out.k = round_up(shape.k), out.batch = round_up(shape.batch);
  const auto lay_out = [](ProblemShape::Operand& o, int64_t rows, int64_t columns) {
    const int64_t fast = o.transposed ? rows : columns, slow = o.transposed ? columns : rows;
    o.leading = std::max(round_up(o.leading), fast);
    if (o.batch_stride) o.batch_stride = std::max(round_up(o.batch_stride), o.leading * slow);
  };
  lay_out(out.a, out.m, out.k), lay_out(out.b, out.k, out.n), lay_out(out.c, out.m, out.n);
  return out;
}

Problem::Problem(const Session& session, const ProblemShape& shape) : session_(session), shape_(shape) {
  try {
    create_descriptors();
  } catch (...) {
    destroy_descriptors();
    throw;
  }
}

Problem::~Problem() { destroy_descriptors(); }

// The library's matrices are column-major: a row-major c = a b is its c' = b' a'.
void Problem::create_descriptors() {
  const Library& l = session_.library();
  const ProblemShape& s = shape_;
  session_.require(l.desc_create(&desc_, s.compute, s.scale), "cublasLtMatmulDescCreate");
  const auto set = [&](DescAttribute which, const auto& value) {
    session_.require(l.desc_set(desc_, which, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  };
  set(kTransA, s.b.transposed ? kTransposed : kNone);
  set(kTransB, s.a.transposed ? kTransposed : kNone);
  if (s.bias) {
    // Heuristics look at the alignment of the bias; each run sets its address.
    const void* const anywhere = reinterpret_cast<const void*>(uintptr_t{256});
    set(kEpilogue, kEpilogueBias);
    set(kBiasPointer, anywhere);
  }
  create_layout(b_, s.b, s.k, s.n);
  create_layout(a_, s.a, s.m, s.k);
  create_layout(c_, s.c, s.m, s.n);
}

void Problem::destroy_descriptors() {
  const Library& l = session_.library();
  for (Layout layout : {a_, b_, c_})
    if (layout) l.layout_destroy(layout);
  if (desc_) l.desc_destroy(desc_);
}

void Problem::create_layout(Layout& layout, const ProblemShape::Operand& o, int64_t rows, int64_t columns) {
  const Library& l = session_.library();
  const auto fast = static_cast<uint64_t>(o.transposed ? rows : columns),
             slow = static_cast<uint64_t>(o.transposed ? columns : rows);
  session_.require(l.layout_create(&layout, shape_.type, fast, slow, o.leading), "cublasLtMatrixLayoutCreate");
  const auto count = static_cast<int32_t>(shape_.batch);
  session_.require(l.layout_set(layout, kBatchCount, &count, sizeof count), "cublasLtMatrixLayoutSetAttribute");
  session_.require(l.layout_set(layout, kBatchStride, &o.batch_stride, sizeof o.batch_stride),
                   "cublasLtMatrixLayoutSetAttribute");
}

std::string describe(const ProblemShape& s) {
  std::string out = cat("type ", s.type, " compute ", s.compute, " scale ", s.scale, s.bias ? " bias" : "", " ", s.m,
                        "x", s.k, "x", s.n, " of ", s.batch);
  for (const ProblemShape::Operand* o : {&s.a, &s.b, &s.c})
    out += cat(o->transposed ? " columns " : " rows ", o->leading, " ", o->batch_stride);
  return out;
}

std::vector<Choice> Problem::propose_choices(uint32_t alignment, int most, size_t workspace_bytes) const {
  const Library& l = session_.library();
  Preference preference = nullptr;
  session_.require(l.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  std::vector<Heuristic> found(static_cast<size_t>(most));
  int count = 0;
  int failed = l.preference_set(preference, kMaxWorkspace, &workspace_bytes, sizeof workspace_bytes);
  for (int which : {kAlignmentOfA, kAlignmentOfB, kAlignmentOfC, kAlignmentOfD})
    if (!failed) failed = l.preference_set(preference, which, &alignment, sizeof alignment);
  if (!failed)
    failed = l.heuristic(session_.handle(), desc_, b_, a_, c_, c_, preference, most, found.data(), &count);
  l.preference_destroy(preference);
  session_.require(failed, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Choice> out;
  for (int i = 0; i < count; i++) {
    const Heuristic& h = found[static_cast<size_t>(i)];
    if (!h.state) out.push_back({h.algorithm, h.workspace_bytes});
  }
  if (out.empty()) fail(Code::backend, "cuBLASLt has no algorithm for this product");
  return out;
}

bool Problem::check_choice(Choice& choice) const {
  Heuristic checked{};
  if (session_.library().check(session_.handle(), desc_, b_, a_, c_, c_, &choice.algorithm, &checked)) return false;
  choice.workspace_bytes = checked.workspace_bytes;
  return !checked.state && checked.workspace_bytes <= kMostWorkspace;
}

std::array<size_t, 4> Problem::operand_bytes() const {
  const ProblemShape& s = shape_;
  const auto span = [&](const ProblemShape::Operand& o, int64_t rows, int64_t columns) {
    const int64_t fast = o.transposed ? rows : columns, slow = o.transposed ? columns : rows;
    return static_cast<size_t>((s.batch - 1) * o.batch_stride + (slow - 1) * o.leading + fast) * element_bytes();
  };
  return {span(s.a, s.m, s.k), span(s.b, s.k, s.n), span(s.c, s.m, s.n),
          s.bias ? static_cast<size_t>(s.n) * element_bytes() : 0};
}

Status* Problem::run(const void* a, const void* b, void* c, const void* bias, void* workspace, size_t workspace_bytes,
                     const Algorithm& algorithm) const {
  const double one_f64 = 1, zero_f64 = 0;
  const float one = 1, zero = 0;
  const bool wide = shape_.scale == kF64;
  const void *alpha = wide ? static_cast<const void*>(&one_f64) : &one,
             *beta = wide ? static_cast<const void*>(&zero_f64) : &zero;
  std::unique_lock<std::mutex> alone(bias_mutex_, std::defer_lock);
  if (shape_.bias) {
    alone.lock();
    if (Status* failed = session_.status(session_.library().desc_set(desc_, kBiasPointer, &bias, sizeof bias),
                                         "cublasLtMatmulDescSetAttribute"))
      return failed;
  }
  const int result = session_.library().matmul(session_.handle(), desc_, alpha, b, b_, a, a_, beta, c, c_, c, c_,
                                               &algorithm, workspace, workspace_bytes,
                                               static_cast<nvidia::Stream>(session_.device().native_stream()));
  return session_.status(result, "cublasLtMatmul");
}

}  // namespace thunder::cublaslt
