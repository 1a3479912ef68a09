#include "onnx/model.h"

#include <algorithm>

#include "ir/shape.h"
#include "onnx/wire.h"

namespace thunder::onnx {
namespace {

constexpr size_t kMaxDepth = 32;       // of subgraphs: If in If
constexpr size_t kMaxNodes = 1 << 18;  // far more than any model has; bounds what a hostile file costs
constexpr size_t kMaxTensorDims = kMaxRank;

template <class Range, class List>
void take_all(const Range& range, List& list) {
  for (const auto value : range) list.push_back(value);
}

class Parser {
 public:
  Model model(std::string_view bytes) {
    Model m;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case varint(1): m.ir_version = r.get_int64(); break;
        case message(2): m.producer = view(r); break;
        case message(3): m.producer_version = view(r); break;
        case message(7): m.graph = graph(view(r)); break;
        case message(8): m.opsets.push_back(opset(view(r))); break;
        case message(25): m.functions.push_back(function(view(r))); break;
        default: r.skip();
      }
    return m;
  }

 private:
  OpsetImport opset(std::string_view bytes) {
    OpsetImport out;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): out.domain = domain_of(view(r)); break;
        case varint(2): out.version = r.get_int64(); break;
        default: r.skip();
      }
    return out;
  }

  Graph graph(std::string_view bytes) {
    if (++depth_ > kMaxDepth) fail(Code::data_lost, "its graphs are nested more than ", kMaxDepth, " deep");
    Graph g;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): g.nodes.push_back(node(view(r))); break;
        case message(2): g.name = view(r); break;
        case message(5): g.initializers.push_back(tensor(view(r))); break;
        case message(11): g.inputs.push_back(value_info(view(r))); break;
        case message(12): g.outputs.push_back(value_info(view(r))); break;
        case message(15): g.sparse.push_back(sparse(view(r))); break;
        default: r.skip();
      }
    depth_--;
    return g;
  }

  FunctionProto function(std::string_view bytes) {
    FunctionProto f;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): f.name = view(r); break;
        case message(4): f.inputs.push_back(view(r)); break;
        case message(5): f.outputs.push_back(view(r)); break;
        case message(6): f.attributes.push_back(view(r)); break;
        case message(7): f.nodes.push_back(node(view(r))); break;
        case message(9): f.opsets.push_back(opset(view(r))); break;
        case message(10): f.domain = domain_of(view(r)); break;
        case message(11): f.defaults.push_back(attribute(view(r))); break;
        case message(13): f.overload = view(r); break;
        default: r.skip();
      }
    return f;
  }

  NodeProto node(std::string_view bytes) {
    if (++nodes_ > kMaxNodes) fail(Code::data_lost, "it has more than ", kMaxNodes, " nodes");
    NodeProto n;
    n.number = static_cast<uint32_t>(nodes_);
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): n.inputs.push_back(view(r)); break;
        case message(2): n.outputs.push_back(view(r)); break;
        case message(3): n.name = view(r); break;
        case message(4): n.op = view(r); break;
        case message(5): n.attributes.push_back(attribute(view(r))); break;
        case message(7): n.domain = domain_of(view(r)); break;
        case message(8): n.overload = view(r); break;
        default: r.skip();
      }
    if (n.op.empty()) fail(Code::data_lost, "node ", n.number, " has no op_type");
    return n;
  }

  Attribute attribute(std::string_view bytes) {
    Attribute a;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): a.name = view(r); break;
        case fixed32(2): a.f = r.get_float(); break;
        case varint(3): a.i = r.get_int64(); break;
        case message(4): a.s = view(r); break;
        case message(5): a.tensors.assign(1, tensor(view(r))); break;
        case message(6): {
          auto g = graph(view(r));
          a.graphs.clear(), a.graphs.push_back(std::move(g));
          break;
        }
        case message(7): take_all(r.get_packed_float(), a.floats); break;
        case fixed32(7): a.floats.push_back(r.get_float()); break;
        case message(8): take_all(r.get_packed_int64(), a.ints); break;
        case varint(8): a.ints.push_back(r.get_int64()); break;
        case message(9): a.strings.push_back(view(r)); break;
        case message(10): a.tensors.push_back(tensor(view(r))); break;
        case message(11): a.graphs.push_back(graph(view(r))); break;
        case varint(20): a.kind = static_cast<Attribute::Kind>(r.get_int32()); break;
        case message(21): a.outer = view(r); break;
        case message(22): a.sparse.push_back(sparse(view(r))); break;
        default: r.skip();
      }
    return a;
  }

  SparseProto sparse(std::string_view bytes) {
    SparseProto s;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): s.values = tensor(view(r)); break;
        case message(2): s.indices = tensor(view(r)); break;
        case message(3): take_all(r.get_packed_int64(), s.dims); break;
        case varint(3): s.dims.push_back(r.get_int64()); break;
        default: r.skip();
      }
    check_dims(s.values.name, s.dims);
    return s;
  }

  TensorProto tensor(std::string_view bytes) {
    TensorProto t;
    t.message = bytes;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): take_all(r.get_packed_int64(), t.dims); break;
        case varint(1): t.dims.push_back(r.get_int64()); break;
        case varint(2): t.type = r.get_int32(); break;
        case message(8): t.name = view(r); break;
        case message(9): t.raw = view(r), t.has_raw = true; break;
        case varint(14): t.external = r.get_int32() == 1; break;
        default: r.skip();
      }
    check_dims(t.name, t.dims);
    return t;
  }

  static void check_dims(std::string_view name, const std::vector<int64_t>& dims) {
    if (dims.size() > kMaxTensorDims)
      fail(Code::data_lost, "tensor '", name, "' has ", dims.size(), " dims; at most ", kMaxTensorDims, " are allowed");
    for (int64_t d : dims)
      if (d < 0) fail(Code::data_lost, "tensor '", name, "' has a dim of ", d);
  }

  ValueInfo value_info(std::string_view bytes) {
    ValueInfo v;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): v.name = view(r); break;
        case message(2): type(view(r), v, 0); break;
        default: r.skip();
      }
    return v;
  }

  // The dtype of a sequence or an optional is that of its tensors.
  void type(std::string_view bytes, ValueInfo& v, size_t depth) {
    if (depth > 4) fail(Code::data_lost, "the type of '", v.name, "' is nested more than 4 deep");
    const auto inside = [&](std::string_view element, ValueInfo::Kind kind) {
      for (pbf_reader r = reader(element); r.next();) {
        if (r.tag_and_type() == message(1))
          type(view(r), v, depth + 1);
        else
          r.skip();
      }
      v.kind = kind == ValueInfo::Kind::optional && v.kind == ValueInfo::Kind::sequence ? v.kind : kind;
    };
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case message(1): tensor_type(view(r), v); break;
        case message(4): inside(view(r), ValueInfo::Kind::sequence); break;
        case message(9): inside(view(r), ValueInfo::Kind::optional); break;
        default: r.skip();
      }
  }

  void tensor_type(std::string_view bytes, ValueInfo& v) {
    v.kind = ValueInfo::Kind::tensor;
    for (pbf_reader r = reader(bytes); r.next();) switch (r.tag_and_type()) {
        case varint(1): v.type = r.get_int32(); break;
        case message(2): v.dims = shape(view(r), v.name); break;
        default: r.skip();
      }
  }

  static std::vector<DimProto> shape(std::string_view bytes, std::string_view of) {
    std::vector<DimProto> dims;
    for (pbf_reader r = reader(bytes); r.next();) {
      if (r.tag_and_type() != message(1)) {
        r.skip();
        continue;
      }
      if (dims.size() == kMaxTensorDims) fail(Code::data_lost, "'", of, "' has more than ", kMaxTensorDims, " dims");
      DimProto d;
      for (pbf_reader in = reader(view(r)); in.next();) switch (in.tag_and_type()) {
          case varint(1): d.value = in.get_int64(); break;
          case message(2): d.param = view(in); break;
          default: in.skip();
        }
      dims.push_back(d);
    }
    return dims;
  }

  size_t depth_ = 0, nodes_ = 0;
};

}  // namespace

const Attribute* NodeProto::find(std::string_view attribute) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(), [&](auto& a) { return a.name == attribute; });
  return it == attributes.end() ? nullptr : &*it;
}

bool looks_like_model(std::string_view bytes) {
  // safetensors: the header's length in eight bytes, which is less than 4 GiB, and its first brace.
  if (bytes.size() >= 9 && bytes[8] == '{' && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4)) return false;
  if (bytes.size() < 2) return false;
  const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  switch (first) {
    case varint(1):
      return second < 0x80;  // the version of the format comes first in all that writers make
    case message(2):
    case message(3):
    case message(4):
    case message(6):
    case message(7):
    case message(8):
      return bytes.size() > 2;
    default:
      return false;
  }
}

Model read_model(std::string_view bytes, std::string_view file) {
  try {
    Model m = Parser().model(bytes);
    if (m.opsets.empty()) fail(Code::data_lost, "it does not say which opset it uses");
    return m;
  } catch (const protozero::exception& e) {
    fail(Code::data_lost, "'", file, "' is not an ONNX model, or is damaged: ", e.what());
  } catch (const Error& e) {
    fail(e.code(), "'", file, "' is not an ONNX model that can be read: ", e.message());
  }
}

}  // namespace thunder::onnx
