// A graph of cuDNN's operations on tensors of four dims. All throw what the library reports.
#pragma once

#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "executors/cuda/cudnn/session.h"
#include "ir/type.h"

namespace thunder::cudnn {

// The data type of the library for a real type.
inline DataType data_type(DType d) {
  switch (d) {
    case DType::f64: return kF64;
    case DType::bf16: return kBF16;
    case DType::f16: return kF16;
    default: return kF32;
  }
}

using Sizes4 = std::array<int64_t, 4>;

// Strides in elements.
struct Layout {
  Sizes4 sizes{}, strides{};
};

Layout dense(const Sizes4& sizes);
// The same tensor with the last two dims exchanged.
Layout transposed(const Layout& layout);

struct Window {
  std::array<int64_t, 2> stride, padding, dilation;
};

class Graph {
 public:
  explicit Graph(const Session& session) : session_(session) {}

  struct Tensor {
    Desc desc;
    int64_t id;  // by which a plan's run is given its memory
    Layout layout;
  };

  // A tensor in memory that each run is given, at addresses that are multiples of `alignment` bytes.
  Tensor tensor(const Layout& layout, DataType type, int64_t alignment) {
    return add_tensor(layout, type, alignment, false, false);
  }
  // An intermediate result of the graph, without memory of its own.
  Tensor intermediate(const Layout& layout, DataType type = kF32) {
    return add_tensor(layout, type, kAlignment, true, false);
  }
  // A scalar constant, stored in the plan.
  Tensor scalar(float value);

  // Computed in f32; comparisons, whose result is kBool, in that type.
  Tensor pointwise(Mode mode, const Tensor& x, const Tensor* b = nullptr, DataType type = kF32);
  void pointwise(Mode mode, const Tensor& x, const Tensor* b, const Tensor& to);
  // Selects x where `chosen` is true, else y.
  Tensor select(const Tensor& x, const Tensor& y, const Tensor& chosen);
  // The index of each element along an axis.
  Tensor dim_index(const Tensor& like, int64_t axis);
  // Over the dims in which the result has one element.
  void reduce(Reduction how, const Tensor& x, const Tensor& to);
  void matmul(const Tensor& a, const Tensor& b, const Tensor& to);
  // Copies the elements into the order of `layout`.
  Tensor reshape(const Tensor& x, const Layout& layout, DataType type);
  // `operation`: kForward, kBackwardData or kBackwardFilter, of which the operand that it computes is the result.
  void convolution(Kind operation, const Window& window, const Tensor& filter, const Tensor& image,
                   const Tensor& result, DataType computed);

  const Session& session() const { return session_; }
  const Descriptor& finalize();
  // Whether heuristics propose any engine. Requires: finalize() was not called.
  bool is_supported();

  static constexpr int64_t kAlignment = 16;

 private:
  friend class Plan;
  Descriptor& make_descriptor(Kind kind) { return kept_.emplace_back(session_, kind); }
  Tensor add_tensor(const Layout& layout, DataType type, int64_t alignment, bool is_virtual, bool by_value);
  void add_pointwise(Mode mode, DataType computed, int64_t axis, const Tensor& x, const Tensor* b, const Tensor* chosen,
                     const Tensor& to);
  void add_operation(Descriptor& operation);

  const Session& session_;
  // All descriptors are kept: the library does not say that one may be destroyed before those that refer to it.
  std::deque<Descriptor> kept_;
  std::vector<Desc> operations_;
  std::vector<std::pair<int64_t, float>> scalars_;  // by id
  int64_t next_id_ = 1;
};

// The configurations of engines that heuristics of this mode propose for a graph, the best first.
std::vector<Descriptor> find_engine_configs(const Session& session, const Descriptor& graph, int mode);

}  // namespace thunder::cudnn
