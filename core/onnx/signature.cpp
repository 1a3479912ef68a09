// The inputs, outputs and contents of a model, as JSON.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "onnx/program.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

std::string quote_json(std::string_view text) {
  return json_quote(valid_utf8(text) ? text : std::string_view("?"));
}

std::string value_json(const ValueInfo& v) {
  const ElementType* type = find_element_type(v.type);
  std::string out = cat("{\"name\":", quote_json(v.name), ",\"dtype\":");
  out += type ? quote_json(type->dtype == DType::none ? type->name : name(type->dtype)) : "null";
  if (v.kind == ValueInfo::Kind::sequence) out += ",\"kind\":\"sequence\"";
  if (v.kind == ValueInfo::Kind::optional) out += ",\"kind\":\"optional\"";
  out += ",\"dims\":";
  if (!v.dims) return out + "null}";
  out +=
      cat("[", join(*v.dims, ",", [](const DimProto& d) { return d.value >= 0 ? cat(d.value) : quote_json(d.param); }),
          "]}");
  return out;
}

// The nodes of the model by op, and those that no row is for.
class Contents {
 public:
  explicit Contents(const Program& program) : program_(program) {
    nodes(program.model().graph.nodes, program.model().opsets);
    for (const FunctionProto& f : program.model().functions) nodes(f.nodes, f.opsets);
  }

  std::string operators() const {
    return join(counts_, ",", [](auto& row) {
      return cat("{\"domain\":", quote_json(row.first.first), ",\"op\":", quote_json(row.first.second),
                 ",\"count\":", row.second.count, ",\"imported\":", row.second.imported, "}");
    });
  }
  std::string unsupported() const {
    return join(unsupported_, ",", [](const std::string& row) { return row; });
  }

 private:
  struct Count {
    size_t count = 0;
    bool imported = true;
  };

  void nodes(std::span<const NodeProto> list, std::span<const OpsetImport> opsets) {
    for (const NodeProto& n : list) {
      const auto it = std::find_if(opsets.begin(), opsets.end(), [&](auto& o) { return o.domain == n.domain; });
      Count& count = counts_[{n.domain, n.op}];
      count.count++;
      if (!program_.find_function(n.domain, n.op, n.overload)) check(n, it == opsets.end() ? 1 : it->version, count);
      for (const Attribute& a : n.attributes)
        for (const Graph& g : a.graphs) nodes(g.nodes, opsets);
    }
  }

  void check(const NodeProto& n, int64_t opset, Count& count) {
    const ImportRow* row = find_row(n.domain, n.op, opset);
    if (row && row->run) return;
    count.imported = false;
    std::string why;
    try {
      if (row)
        why = row->note;
      else
        refuse_op(n.domain, n.op, opset);
    } catch (const Error& e) {
      why = e.message();
    }
    unsupported_.push_back(cat("{\"node\":", n.number, ",\"op\":", quote_json(n.op), ",\"name\":", quote_json(n.name),
                               ",\"reason\":", quote_json(why), "}"));
  }

  const Program& program_;
  std::map<std::pair<std::string_view, std::string_view>, Count> counts_;
  std::vector<std::string> unsupported_;
};

// The nodes of the main graph, each with its results.
std::string nodes_of(const Graph& graph) {
  return join(graph.nodes, ",", [](const NodeProto& n) {
    return cat("{\"node\":", n.number, ",\"op\":", quote_json(n.op), ",\"name\":", quote_json(n.name), ",\"outputs\":[",
               join(n.outputs, ",", quote_json), "]}");
  });
}

}  // namespace

std::string Program::signature() const {
  const Contents contents(*this);
  std::vector<std::string> outs;
  for (const std::string& wanted : outputs_) {
    ValueInfo unknown;
    unknown.name = wanted;
    const auto& all = model_.graph.outputs;
    const auto it = std::find_if(all.begin(), all.end(), [&](auto& o) { return o.name == wanted; });
    outs.push_back(value_json(it == all.end() ? unknown : *it));
  }
  size_t tensors = 0, bytes = 0;
  for (auto& [name, w] : weights_)
    if (!w.path.empty()) tensors++, bytes += module_->find_tensor(w.path)->tensor->bytes();
  return cat("{\"format\":\"onnx\",\"file\":", quote_json(file()), ",\"producer\":", quote_json(model_.producer),
             ",\"opsets\":{",
             join(model_.opsets, ",", [](auto& o) { return cat(quote_json(o.domain), ":", o.version); }),
             "},\"inputs\":[", join(inputs(), ",", value_json), "],\"optional_inputs\":[",
             join(all_inputs().subspan(required_), ",", value_json), "],\"outputs\":[",
             join(outs, ",", [](const std::string& o) { return o; }), "],\"weights\":", tensors,
             ",\"weight_bytes\":", bytes, ",\"operators\":[", contents.operators(), "],\"unsupported\":[",
             contents.unsupported(), "],\"nodes\":[", nodes_of(model_.graph), "]}");
}

}  // namespace thunder::onnx
