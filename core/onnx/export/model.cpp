#include "onnx/export/model.h"

#include <algorithm>
#include <functional>

#include "base/files.h"
#include "base/text.h"
#include "onnx/export/wire.h"
#include "tensor/transfer.h"

namespace thunder::onnx_export {
namespace {

using protozero::pbf_writer;

// A tensor that is stored outside of the model's bytes.
struct Outside {
  std::string file;  // "": whoever runs the model gives it
  uint64_t offset = 0, bytes = 0;
};
using Outsides = std::unordered_map<Val, Outside>;

// The oldest version of the format that has the opset.
int64_t ir_version(int64_t opset) {
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  return opset - 12;
}

std::string serialize(const std::function<void(pbf_writer&)>& write) {
  std::string out;
  pbf_writer to(out);
  write(to);
  return out;
}

void write_attribute(pbf_writer& to, const Attr& a) {
  to.add_string(AttributeField::name, a.name.data(), a.name.size());
  switch (a.kind) {
    case Attr::Kind::integer:
      to.add_int64(AttributeField::i, a.i);
      break;
    case Attr::Kind::real:
      to.add_float(AttributeField::f, a.f);
      break;
    case Attr::Kind::text:
      to.add_bytes(AttributeField::s, a.text);
      break;
    case Attr::Kind::integers:
      for (const int64_t i : a.ints) to.add_int64(AttributeField::ints, i);
  }
  constexpr int32_t kTypes[] = {2, 1, 3, 7};
  to.add_enum(AttributeField::type, kTypes[static_cast<int>(a.kind)]);
}

void write_node(pbf_writer& to, const Graph& graph, const GraphNode& n, size_t number) {
  for (const Val v : n.inputs) to.add_string(NodeField::input, graph.name(v));
  for (const Val v : n.outputs) to.add_string(NodeField::output, graph.name(v));
  to.add_string(NodeField::name, cat(n.op, "_", number));
  to.add_string(NodeField::op_type, n.op.data(), n.op.size());
  for (const Attr& a : n.attrs)
    to.add_message(NodeField::attribute, serialize([&](pbf_writer& inner) { write_attribute(inner, a); }));
  if (n.where) to.add_string(NodeField::doc_string, n.where);
}

void write_entry(pbf_writer& to, std::string_view key, const std::string& value) {
  to.add_message(TensorField::external_data, serialize([&](pbf_writer& entry) {
                   entry.add_string(1, key.data(), key.size());
                   entry.add_string(2, value);
                 }));
}

void write_tensor(pbf_writer& to, const Graph& graph, const Initializer& t, const Outsides& outside) {
  for (const int64_t d : t.dims) to.add_int64(TensorField::dims, d);
  to.add_int32(TensorField::data_type, number_of(graph.dtype(t.value)));
  to.add_string(TensorField::name, graph.name(t.value));
  if (const auto found = outside.find(t.value); found != outside.end()) {
    const Outside& at = found->second;
    write_entry(to, "location", at.file.empty() ? graph.name(t.value) : at.file);
    if (!at.file.empty()) write_entry(to, "offset", cat(at.offset)), write_entry(to, "length", cat(at.bytes));
    return to.add_enum(TensorField::data_location, 1);
  }
  if (!t.tensor) return to.add_bytes(TensorField::raw_data, t.bytes);
  std::string data(t.tensor->bytes(), '\0');
  read_elements(*t.tensor, data.data());
  to.add_bytes(TensorField::raw_data, data);
}

void write_port(pbf_writer& to, const Graph& graph, const GraphPort& p) {
  to.add_string(PortField::name, graph.name(p.value));
  const std::string shape = serialize([&](pbf_writer& dims) {
    for (const GraphPort::Size& s : p.shape)
      dims.add_message(1, serialize([&](pbf_writer& dim) {
                         if (s.name.empty())
                           dim.add_int64(1, s.number);
                         else
                           dim.add_string(2, s.name);
                       }));
  });
  const std::string tensor = serialize([&](pbf_writer& type) {
    type.add_int32(1, number_of(graph.dtype(p.value)));
    type.add_message(2, shape);
  });
  to.add_message(PortField::type, serialize([&](pbf_writer& type) { type.add_message(1, tensor); }));
}

std::string serialize_model(const Graph& graph, const std::string& name, const Outsides& outside) {
  std::string inner;
  pbf_writer to(inner);
  for (size_t i = 0; i < graph.all_nodes().size(); i++)
    to.add_message(GraphField::node,
                   serialize([&](pbf_writer& w) { write_node(w, graph, graph.all_nodes()[i], i + 1); }));
  to.add_string(GraphField::name, name.empty() ? "graph" : name);
  for (const Initializer& t : graph.initializers())
    to.add_message(GraphField::initializer, serialize([&](pbf_writer& w) { write_tensor(w, graph, t, outside); }));
  for (const GraphPort& p : graph.inputs)
    to.add_message(GraphField::input, serialize([&](pbf_writer& w) { write_port(w, graph, p); }));
  for (const GraphPort& p : graph.outputs)
    to.add_message(GraphField::output, serialize([&](pbf_writer& w) { write_port(w, graph, p); }));
  std::string out;
  pbf_writer model(out);
  model.add_int64(ModelField::ir_version, ir_version(graph.opset()));
  model.add_string(ModelField::producer_name, "libthunder");
  model.add_message(ModelField::graph, inner);
  model.add_message(ModelField::opset_import,
                    serialize([&](pbf_writer& opset) { opset.add_int64(2, graph.opset()); }));
  return out;
}

}  // namespace

std::string model_bytes(const Graph& graph, const std::string& name) {
  Outsides outside;
  for (const Initializer& i : graph.initializers())
    if (i.outside) outside.emplace(i.value, Outside());
  return serialize_model(graph, name, outside);
}

void write_model(const Graph& graph, const std::string& name, const std::string& path, bool external) {
  constexpr uint64_t kAlignment = 4096;
  uint64_t total = 0;
  for (const Initializer& t : graph.initializers()) total += t.tensor ? t.tensor->bytes() : t.bytes.size();
  if (!external && total <= kMostInside) return write_file(path, serialize_model(graph, name, {}));
  const std::string beside = path + ".data", file = beside.substr(beside.rfind('/') + 1);
  OutputFile data(beside);
  Outsides outside;
  uint64_t end = 0;
  for (const Initializer& t : graph.initializers()) {
    if (!t.tensor || !t.tensor->bytes()) continue;
    const uint64_t begin = (end + kAlignment - 1) / kAlignment * kAlignment;
    data.write(std::string(begin - end, '\0'));
    std::string bytes(t.tensor->bytes(), '\0');
    read_elements(*t.tensor, bytes.data());
    data.write(bytes);
    outside.emplace(t.value, Outside{file, begin, bytes.size()});
    end = begin + bytes.size();
  }
  const std::string model = serialize_model(graph, name, outside);
  data.commit();
  write_file(path, model);
}

}  // namespace thunder::onnx_export
