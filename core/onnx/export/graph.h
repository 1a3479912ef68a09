// An ONNX graph while it is written: nodes over values, constants each once. model.h makes bytes of it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/types.h"
#include "tensor/tensor.h"

namespace thunder::onnx_export {

using onnx::number_of;

using Val = uint32_t;       // a value of the graph
constexpr Val kAbsent = 0;  // in the place of an optional input

struct Attr {
  enum class Kind : uint8_t { integer, real, text, integers };
  std::string_view name;  // static
  Kind kind;
  int64_t i = 0;
  float f = 0;
  std::string text;
  std::vector<int64_t> ints;
};
inline Attr attr(std::string_view name, int64_t i) {
  return {name, Attr::Kind::integer, i, 0, {}, {}};
}
inline Attr attr(std::string_view name, float f) {
  return {name, Attr::Kind::real, 0, f, {}, {}};
}
inline Attr attr(std::string_view name, std::string_view s) {
  return {name, Attr::Kind::text, 0, 0, std::string(s), {}};
}
inline Attr attr(std::string_view name, std::vector<int64_t> v) {
  return {name, Attr::Kind::integers, 0, 0, {}, std::move(v)};
}
using Attrs = std::vector<Attr>;

struct GraphNode {
  std::string_view op;  // static
  std::vector<Val> inputs, outputs;
  Attrs attrs;
  const char* where = nullptr;  // the user's "file:line", or null
};

// A constant: bytes of its own, a tensor's, or neither: whoever runs the model gives it.
struct Initializer {
  Val value = kAbsent;
  std::vector<int64_t> dims;
  std::string bytes;
  Ref<Tensor> tensor;
  bool outside = false;
};

// The description of an input or output. A dim is a number or a name.
struct GraphPort {
  struct Size {
    int64_t number = 0;
    std::string name;  // "": the number
  };
  Val value = kAbsent;
  std::vector<Size> shape;
};

class Graph {
 public:
  explicit Graph(int64_t opset) : opset_(opset), values_(1) {}

  int64_t opset() const { return opset_; }
  DType dtype(Val v) const { return values_[v].dtype; }
  const std::string& name(Val v) const { return values_[v].name; }
  size_t size() const { return values_.size(); }

  // A value that no node makes. The name is made unique.
  Val value(DType dtype, const std::string& name);
  // Adds a node with types that ONNX's op supports (op_types.h): operands are widened, results narrowed back.
  Val node(std::string_view op, const std::vector<Val>& inputs, Attrs attrs = {});
  std::vector<Val> nodes(std::string_view op, const std::vector<Val>& inputs, Attrs attrs = {});
  Val cast(Val v, DType to);

  Val constant(DType dtype, std::vector<int64_t> dims, std::string bytes);
  Val scalar(double number, DType dtype);
  Val scalar(int64_t number, DType dtype);
  Val integers(const std::vector<int64_t>& list);  // i64, of rank 1
  Val add_weight(const Ref<Tensor>& tensor, const std::string& name);
  Val add_outside_weight(const TensorType& type, const std::string& name);

  // The source line of the nodes that are made from now on; null: none.
  void set_where(const char* where) { where_ = where; }
  // The name that a value has outside. Each value has one: another name takes another node.
  Val give_name(Val v, const std::string& name);

  std::vector<GraphPort> inputs, outputs;
  const std::vector<GraphNode>& all_nodes() const { return nodes_; }
  const std::vector<Initializer>& initializers() const { return initializers_; }
  // Removes nodes on which no output depends.
  void drop_unused();

 private:
  struct Value {
    DType dtype = DType::none;
    std::string name;
    bool taken = false;   // its name is one from outside
    bool scalar = false;  // a constant of rank 0, whose number follows
    bool whole = false;   // that is `i`
    int64_t i = 0;
    double f = 0;
  };
  std::vector<Val> emit(std::string_view op, std::vector<Val> inputs, const std::vector<DType>& results, Attrs attrs);
  Val add_scalar(double f, int64_t i, bool whole, DType dtype);
  std::string make_name_unique(std::string name);

  int64_t opset_;
  std::vector<Value> values_;
  std::vector<GraphNode> nodes_;
  std::vector<Initializer> initializers_;
  std::unordered_map<std::string, Val> constants_;  // by dtype, dims and bytes
  std::unordered_map<std::string, int> names_;      // how often each was asked for
  const char* where_ = nullptr;
};

}  // namespace thunder::onnx_export
