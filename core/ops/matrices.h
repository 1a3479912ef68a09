// Kernels over the matrices in the last two dims of tensors, which LAPACK takes one by one as dense columns.
#pragma once

#include <mutex>
#include <new>
#include <vector>

#include "base/status.h"
#include "base/text.h"
#include "ops/batch.h"
#include "ops/declare.h"
#include "ops/kernels.h"
#include "ops/lapack.h"

namespace thunder {

// The last `lost` dims of a tensor for each position of those before them.
template <class T>
struct Matrices {
  Matrices(const Buffer& b, int32_t lost = 2) : buffer(b), batch(1), outer(b.rank - lost) {
    for (int32_t i = 0; i < outer; i++) batch *= b.shape[i];
    rows = lost == 2 ? b.shape[b.rank - 2] : lost == 1 ? b.shape[b.rank - 1] : 1;
    columns = lost == 2 ? b.shape[b.rank - 1] : 1;
    row = lost == 2 ? b.strides[b.rank - 2] : lost == 1 ? b.strides[b.rank - 1] : 0;
    column = lost == 2 ? b.strides[b.rank - 1] : 0;
  }
  T* at(int64_t i) const {
    int64_t offset = 0;
    for (int32_t d = outer; d-- > 0; i /= buffer.shape[d]) offset += i % buffer.shape[d] * buffer.strides[d];
    return buffer.as<T>() + offset;
  }
  // As dense columns, and back from there.
  std::vector<T> load(int64_t i) const {
    std::vector<T> out(static_cast<size_t>(rows * columns));
    const T* from = at(i);
    for (int64_t c = 0; c < columns; c++)
      for (int64_t r = 0; r < rows; r++) out[static_cast<size_t>(c * rows + r)] = from[r * row + c * column];
    return out;
  }
  void store(int64_t i, const T* from, int64_t leading) const {
    T* to = at(i);
    for (int64_t c = 0; c < columns; c++)
      for (int64_t r = 0; r < rows; r++) to[r * row + c * column] = from[c * leading + r];
  }
  void store(int64_t i, const std::vector<T>& from) const { store(i, from.data(), rows); }

  Buffer buffer;
  int64_t batch, rows, columns, row, column;
  int32_t outer;
};

inline void require_matrices(const Call& c) {
  const TensorType& t = c.type(0);
  c.require(t.rank() >= 2, "input must have at least 2 dims, got ", name(t));
  c.require(t.dtype == DType::f32 || t.dtype == DType::f64, "input must be float32 or float64, got ", name(t));
}
inline void require_square(const Call& c) {
  require_matrices(c);
  const TensorType& t = c.type(0);
  c.require(t.shape[t.rank() - 1] == t.shape[t.rank() - 2], "input must be square matrices, got ", name(t));
}

inline Status* refused(const KernelArgs& k, std::string_view why, int64_t i, int64_t batch) {
  const std::string which = batch > 1 ? cat(" (matrix ", i, " of the batch)") : std::string();
  return make<Status>(Code::invalid_argument, cat(k.op ? std::string_view(k.op->name()) : "linalg", ": ", why, which))
      .detach();
}

// Calls f(T{}, LAPACK's functions), which may return a status. Returns an error if there is no LAPACK, or no memory.
template <class F>
Status* with_lapack(const KernelArgs& k, F&& f) {
  const std::string* why = nullptr;
  const Lapack* lapack = Lapack::get(why);
  if (!lapack) {
    return make<Status>(Code::unimplemented, cat(k.op ? std::string_view(k.op->name()) : "linalg",
                                                 ": there is no LAPACK, which computes it: ", *why,
                                                 "; tools/setup installs it, or the package liblapack3"))
        .detach();
  }
  static std::mutex calls;
  std::unique_lock lock(calls, std::defer_lock);
  try {
    if (lapack->one_at_a_time) lock.lock();
    return k.in[0].dtype == DType::f64 ? f(double{}, lapack->of<double>()) : f(float{}, lapack->of<float>());
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

// Calls f(i), which gives a status, for each matrix of a batch, several at a time where the LAPACK allows it.
template <class T, class F>
Status* each_matrix(const KernelArgs& k, const Matrices<T>& in, const F& f) {
  const std::string* why = nullptr;
  const Lapack* lapack = Lapack::get(why);
  const int64_t each = in.rows * in.columns * std::max<int64_t>(1, std::min(in.rows, in.columns) / 8);
  KernelArgs own = k;
  if (!lapack || !lapack->reentrant) own.threads = nullptr;
  return in_parts(own, in.batch, in.batch * each, [&](int64_t begin, int64_t end) -> Status* {
    for (int64_t i = begin; i < end; i++)
      if (Status* failed = f(i)) return failed;
    return nullptr;
  });
}

// Batches of matrices are further dims in front.
inline Results batch_of_matrices(Batch& b) {
  std::vector<Arg> args(b.args.begin(), b.args.end());
  for (size_t i = 0; i < args.size(); i++)
    if (args[i].kind == ArgKind::value) args[i].v = b.operand(i).id;
  return b.builder.invoke(b.op, args);
}

consteval OpRow matrix_prim(SchemaText schema, std::string_view doc, MetaFn meta, KernelFn kernel, VjpFn vjp) {
  return primitive(schema, doc, meta, kernel, vjp, kChecksData, {.batch = batch_of_matrices});
}

}  // namespace thunder
