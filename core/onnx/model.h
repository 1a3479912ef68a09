// A model as it is in the file: views into its bytes, which must outlive it. Nothing here knows what an op means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace thunder::onnx {

struct Graph;

// TensorProto. Its elements are decoded by tensors.h, when they are wanted.
struct TensorProto {
  std::string_view name;
  int32_t type = 0;  // ONNX's number of the dtype
  std::vector<int64_t> dims;
  std::string_view message;  // all of it
  std::string_view raw;
  bool has_raw = false, external = false;
};

// SparseTensorProto: a list of values, and where each of them is.
struct SparseProto {
  TensorProto values, indices;
  std::vector<int64_t> dims;
};

struct Attribute {
  // The values are those of AttributeProto.
  enum class Kind : int32_t {
    none,
    real,
    integer,
    text,
    tensor,
    graph,
    reals,
    integers,
    texts,
    tensors,
    graphs,
    sparse
  };
  std::string_view name;
  std::string_view outer;  // in a function: the attribute of the call that this one is
  Kind kind = Kind::none;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<TensorProto> tensors;  // one, for a tensor
  std::vector<Graph> graphs;         // likewise
  std::vector<SparseProto> sparse;
};

struct NodeProto {
  std::string_view op, domain, name, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;
  uint32_t number = 0;  // counted through the file

  const Attribute* find(std::string_view attribute) const;
};

// A dim of a type: a size, a name for one that varies, or neither.
struct DimProto {
  int64_t value = -1;
  std::string_view param;
};

// A graph's declaration of an input or output.
struct ValueInfo {
  enum class Kind : uint8_t { unknown, tensor, sequence, optional };
  std::string_view name;
  Kind kind = Kind::unknown;
  int32_t type = 0;  // ONNX's number of the (elements') dtype; 0: unknown
  std::optional<std::vector<DimProto>> dims;
};

struct Graph {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseProto> sparse;
  std::vector<ValueInfo> inputs, outputs;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<NodeProto> nodes;
  std::vector<OpsetImport> opsets;
};

struct Model {
  int64_t ir_version = 0;
  std::string_view producer, producer_version;
  std::vector<OpsetImport> opsets;
  Graph graph;
  std::vector<FunctionProto> functions;
};

// Whether bytes begin as a model does, and not as a file of another of our formats.
bool looks_like_model(std::string_view bytes);

// Throws data_lost, naming `file`, for what is no model; for one whose subgraphs are nested too deep, or that has too
// many nodes.
Model read_model(std::string_view bytes, std::string_view file);

// "ai.onnx" is the default domain's other name.
inline std::string_view domain_of(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace thunder::onnx
