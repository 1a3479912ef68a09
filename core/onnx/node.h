// A node of a model during import: gives rows of the table access to attributes and inputs, and records ops.
#pragma once

#include <initializer_list>

#include "onnx/model.h"
#include "onnx/types.h"
#include "onnx/value.h"
#include "tracer/scope.h"

namespace thunder::onnx {

class Importer;
struct Frame;

// An argument of one of the library's ops. Sizes may be symbolic.
struct Operand {
  Operand(Tensor* t) : any(Any::tensor(t)) {}
  Operand(double f) : any(Any::real(f)) {}
  Operand(int i) : dim(i) { any.kind = ArgKind::integer; }
  Operand(int64_t i) : dim(i) { any.kind = ArgKind::integer; }
  Operand(bool b) : any(Any::boolean(b)) {}
  Operand(const char* s) : any(Any::string(s)) {}
  Operand(std::string_view s) : any(Any::string(s)) {}
  Operand(Dim d) : dim(d) { any.kind = ArgKind::integer; }
  Operand(DType d) {
    if (d == DType::none) return;
    any.kind = ArgKind::dtype, any.dtype = d;
  }
  Operand(Device d) { any.kind = ArgKind::device, any.device = d; }
  Operand(const std::vector<int64_t>& list) : any(Any::dims(list)) {}
  Operand(const Sizes& list) : any(Any::dims({list.data(), list.size()})) {}
  Operand(const std::vector<Dim>& list) : dims(list) { any.kind = ArgKind::dims; }
  Operand(const Shape& list) : dims(list.data(), list.size()) { any.kind = ArgKind::dims; }
  Operand(const std::vector<double>& list) {
    any.kind = ArgKind::reals, any.count = static_cast<uint32_t>(list.size()), any.fs = list.data();
  }
  Operand(const std::vector<Tensor*>& list) {
    any.kind = ArgKind::values, any.count = static_cast<uint32_t>(list.size()), any.ts = list.data();
  }
  Operand(std::nullptr_t) {}

  Any any;
  Dim dim;
  std::span<const Dim> dims;
  // The name of an input, if it is not found by its place.
  const char* name = nullptr;
};
template <class T>
Operand named(const char* name, const T& value) {
  Operand o(value);
  o.name = name;
  return o;
}

// A dim of a tensor, counted from the back where it is negative. Throws where the tensor is of a lesser rank.
Dim dim_of(const Tensor* t, int64_t d);

// A dim counted from the back where it is negative. Throws where there is none, of tensors without dims too.
size_t dim_at(int64_t axis, size_t rank);

class Node {
 public:
  Node(Importer& importer, Frame& frame, const NodeProto& proto, int64_t opset);

  Scope& scope;
  const NodeProto& proto;
  const int64_t opset;  // of its domain

  // Inputs. One that is left out in the middle has an empty name.
  size_t inputs() const { return proto.inputs.size(); }
  bool has(size_t i) const;
  // Throws where it is absent.
  Tensor* operator[](size_t i) { return tensor(i); }
  Tensor* tensor(size_t i);
  Tensor* tensor_or_null(size_t i) { return has(i) ? tensor(i) : nullptr; }
  const Value& value(size_t i);
  const TensorType& type(size_t i);
  DType dtype(size_t i);
  const Shape& shape(size_t i) { return type(i).shape; }
  size_t rank(size_t i);
  Dim dim(size_t i, int64_t d);  // as dim_of
  // The input's elements if they are known while tracing without reading weights or data; else null.
  const Host* known(size_t i) { return has(i) ? value(i).host.get() : nullptr; }
  // The input's elements, on which depends what is recorded: of weights and tensors with data the current ones. Throws
  // if they are computed. `what` names the input: "shape".
  const Host& require_known(size_t i, const char* what);
  // The same for a value that is no input.
  const Host* known_value(Value& v, const char* what);
  // The same as sizes, as plain numbers, or as one number.
  std::vector<Dim> dims(size_t i, const char* what);
  std::vector<int64_t> numbers(size_t i, const char* what);
  double number(size_t i, const char* what);
  int64_t whole(size_t i, const char* what);
  // "its axes": the attribute `axes`, or since an opset the input `i`. Empty: absent.
  std::vector<int64_t> list(const char* attribute, size_t i, int64_t since);

  // Attributes, checked for their kind. Absent ones are `otherwise`.
  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise);
  int64_t integer(std::string_view name);  // throws where it is absent
  // How many of something there are: from `least` to below 2^31, so that it divides and products of two are numbers.
  int64_t count(std::string_view name, int64_t least = 1);
  int64_t count_or(std::string_view name, int64_t otherwise, int64_t least = 1);
  // A dtype by ONNX's number.
  const ElementType& element(std::string_view name);
  const ElementType& element_or(std::string_view name, int32_t otherwise);
  bool flag(std::string_view name, bool otherwise = false) { return integer(name, otherwise) != 0; }
  double real(std::string_view name, double otherwise);
  std::string_view text(std::string_view name, std::string_view otherwise);
  std::vector<int64_t> integers(std::string_view name);  // absent: empty
  std::vector<int64_t> counts(std::string_view name, int64_t least = 1);
  std::vector<double> reals(std::string_view name);
  const Graph& graph(std::string_view name);
  const Attribute* attribute(std::string_view name) const;
  // Throws if an attribute has a value other than the supported one.
  void require_attribute(std::string_view name, int64_t value);

  // Records one of the library's ops.
  Tensor* op(std::string_view name, std::initializer_list<Operand> args);
  std::vector<Tensor*> ops(std::string_view name, std::initializer_list<Operand> args);
  Tensor* cast(Tensor* t, DType dtype) { return t->type().dtype == dtype ? t : op("to", {t, dtype}); }
  // A tensor of rank 0 with this number, or of rank 1 with a list, on the device of the model's inputs.
  Tensor* constant(double value, DType dtype);
  Tensor* constant(HostRef host);
  // A constant that the model holds, made once.
  Value import_constant(const TensorProto& t);
  Value import_constant(const SparseProto& t);

  // Results, one after another.
  size_t outputs() const { return proto.outputs.size(); }
  bool has_output(size_t i) const { return i < proto.outputs.size() && !proto.outputs[i].empty(); }
  void give(Tensor* t) { give(Value{t, nullptr, nullptr}); }
  void give(HostRef host) { give(Value{nullptr, std::move(host), nullptr}); }
  void give(std::vector<Value> list);
  void give(Value v) { results.push_back(std::move(v)); }
  std::vector<Value> results;

  // "Conv", and for messages "Conv 'name'".
  std::string_view name() const { return proto.op; }
  // Throws invalid_argument unless it holds; unimplemented.
  template <class... T>
  void require(bool holds, const T&... parts) const {
    if (!holds) [[unlikely]]
      fail(Code::invalid_argument, proto.op, ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail(Code::unimplemented, proto.op, ": ", parts...);
  }

  // Subgraphs: the values of the graph's outputs.
  std::vector<Value> run(const Graph& graph, std::span<const Value> inputs);
  Importer& importer() { return importer_; }
  Frame& frame() { return frame_; }

 private:
  Value& input(size_t i);
  void check_size(const Tensor& t, const char* what) const;
  std::vector<Any> arguments(std::initializer_list<Operand> args, std::vector<const char*>& names);

  Importer& importer_;
  Frame& frame_;
  std::vector<int64_t> words_;
};

}  // namespace thunder::onnx
