#include "modules/text.h"

#include <unordered_map>

#include "base/text.h"
#include "modules/kind.h"

namespace thunder {

std::string real_text(double value) {
  std::string out;
  append(out, value);
  return out.find_first_not_of("-0123456789") == out.npos ? out + ".0" : out;
}

std::string leaf_text(const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::boolean:
      return leaf.i ? "True" : "False";
    case ArgKind::integer:
      return cat(leaf.i);
    case ArgKind::real:
      return real_text(leaf.f);
    case ArgKind::string:
      return cat("'", leaf.text, "'");
    case ArgKind::reals:
      return cat("[", join(leaf.reals, ", ", real_text), "]");
    case ArgKind::dims:
      return cat("[", join(leaf.ints, ", ", [](int64_t d) { return d; }), "]");
    case ArgKind::dtype:
      return std::string(name(static_cast<DType>(leaf.i)));
    default:
      return "None";
  }
}

namespace {

class Writer {
 public:
  void write(const Module& m, const std::string& path, size_t indent) {
    out_ += m.kind().name();
    auto [first, fresh] = shown_.emplace(&m, path);
    if (!fresh && !m.children().empty()) {
      out_ += cat(" (the same as ", first->second.empty() ? "the whole" : first->second, ")");
      return;
    }
    out_ += "(";
    write_options(m);
    const bool own_tensors = !m.kind().init && !m.tensors().empty();
    if (own_tensors)
      for (auto& slot : m.tensors())
        begin_line(indent + 1, slot.name),
            out_ += cat(name(slot.tensor->type()), slot.role == Role::parameter ? "" : " buffer");
    for (auto& child : m.children()) {
      begin_line(indent + 1, child.name);
      write(*child.module, join_path(path, child.name), indent + 1);
    }
    if (own_tensors || !m.children().empty()) begin_line(indent);
    out_ += ")";
  }
  std::string take() { return std::move(out_); }

 private:
  void write_options(const Module& m) {
    size_t shown = 0;
    for (const Param& p : m.kind().schema().params) {
      const Leaf& value = m.option(p.name);
      if (value.kind == ArgKind::none || is_usual(p, value)) continue;
      out_ += cat(shown++ ? ", " : "", p.name, "=", leaf_text(value));
    }
  }
  // Rarely used options are printed only if they are set, as in PyTorch.
  static bool is_usual(const Param& p, const Leaf& value) {
    if (p.name == "inplace" || p.name == "scale_grad_by_freq" || p.name == "sparse" || p.name == "include_last_offset")
      return !value.i;
    return (p.name == "padding_mode" && value.text == p.fallback.text()) ||
           (p.name == "norm_type" && p.has_default && value.f == p.fallback.f);
  }
  void begin_line(size_t indent) { out_ += "\n" + std::string(2 * indent, ' '); }
  void begin_line(size_t indent, std::string_view name) { begin_line(indent), out_ += cat("(", name, "): "); }

  std::string out_;
  std::unordered_map<const Module*, std::string> shown_;
};

}  // namespace

std::string module_text(Module& root) {
  Writer writer;
  writer.write(root, "", 0);
  return writer.take();
}

}  // namespace thunder
