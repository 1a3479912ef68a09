#include "jit/reports/option_use.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "jit/options/executor_names.h"
#include "jit/logs/perf_hints.h"

namespace thunder {
namespace {

std::string value_of(const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::boolean: return leaf.i ? "true" : "false";
    case ArgKind::integer: return cat(leaf.i);
    case ArgKind::real: return cat(leaf.f);
    case ArgKind::string: return json_quote(leaf.text);
    default: return "null";
  }
}

// Why an option about these executors has no effect; "": `executors` names one of them, or is empty.
std::string why_executors_unused(const Compiled& f, std::initializer_list<std::string_view> those,
                                 std::string_view what) {
  const NameList& named = f.options().settings().executors;
  const auto is_one = [&](const std::string& name) {
    return find_product_name(name) || std::find(those.begin(), those.end(), name) != those.end();
  };
  if (named.empty() || std::any_of(named.begin(), named.end(), is_one)) return "";
  return cat("none of the executors that `executors` names computes ", what, " in another way");
}

// An option that could not be fulfilled, and why; "": it was.
struct Wish {
  std::string_view name;
  std::string (*unfulfilled)(const Compiled&, const Entry&);
};
constexpr std::array kWishes = {
    Wish{"use_cudagraphs",
         [](const Compiled&, const Entry& e) {
           const std::string report = e.program->recording_report();
           return report.starts_with("recorded") || report.starts_with("not recorded yet") ? "" : report;
         }},
    Wish{"max_autotune",
         [](const Compiled&, const Entry& e) -> std::string {
           return choices_report(*e.program).empty() ? "no product of the program was timed in several ways" : "";
         }},
    Wish{"freezing",
         [](const Compiled&, const Entry& e) -> std::string {
           return e.frozen.empty() ? "the function captures no tensor that it does not write" : "";
         }},
    Wish{"donate_argnums",
         [](const Compiled&, const Entry& e) -> std::string {
           return e.donated.empty() ? "the program keeps nothing in the memory of these arguments" : "";
         }},
    Wish{"fullgraph",
         [](const Compiled& f, const Entry&) -> std::string {
           const bool breaks = f.reports().statistics().graph_breaks > 0;
           return f.options().flag("fullgraph", true) || breaks ? "" : "the function is one program";
         }},
    Wish{"float32_matmul_precision",
         [](const Compiled& f, const Entry&) { return why_executors_unused(f, {"products", "cublaslt"}, "products"); }},
    Wish{"cudnn_allow_tf32",
         [](const Compiled& f, const Entry&) { return why_executors_unused(f, {"cudnn"}, "convolutions"); }},
};

}  // namespace

std::string option_use(const Compiled& f) {
  const auto entry = f.reports().latest();
  if (!entry) return "";
  std::string used, unused;
  for (const auto& [name, value] : f.options().all()) {
    const bool asks = value.kind != ArgKind::boolean || value.i != 0 || name == "fullgraph";
    std::string why;
    for (const Wish& wish : kWishes)
      if (asks && wish.name == name) why = wish.unfulfilled(f, *entry);
    std::string& to = why.empty() ? used : unused;
    to += cat(to.empty() ? "" : ",", json_quote(name), ":", why.empty() ? value_of(value) : json_quote(why));
  }
  return cat("{\"used\":{", used, "},\"unused\":{", unused, "},\"unknown\":{}}");
}

}  // namespace thunder
