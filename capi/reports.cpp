// thunder/reports.h: what a compile and a call did.
#include "base/files.h"
#include "capi/compiled.h"
#include "ir/elements.h"
#include "jit/reports/examine.h"
#include "jit/reports/history/history.h"
#include "jit/reports/html.h"
#include "jit/reports/profile.h"
#include "jit/reports/repro.h"
#include "tensor/transfer.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// The name of what a leaf is part of: "0.loss.12", a number of a list in a map, is of "loss".
std::string history_name(std::string_view path, bool in_list) {
  const size_t dot = path.find('.');
  std::string_view name = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  if (in_list && !name.empty() && name.find_first_not_of("0123456789", name.rfind('.') + 1) == name.npos)
    name = name.substr(0, name.rfind('.') == name.npos ? 0 : name.rfind('.'));
  return name.empty() ? "value" : std::string(name);
}

void append_elements(const Tensor& tensor, std::vector<double>& out) {
  std::vector<std::byte> bytes(tensor.bytes());
  read_elements(tensor, bytes.data());
  const size_t size = size_of(tensor.type().dtype);
  for (size_t at = 0; at < bytes.size(); at += size) out.push_back(as_double(tensor.type().dtype, &bytes[at]));
}

std::vector<History> histories_of(const Values& values) {
  std::vector<History> out;
  const auto paths = values.paths();
  for (size_t i = 0; i < values.size(); i++) {
    const Leaf& leaf = values[i];
    const bool tensor = leaf.tensor && leaf.tensor->concrete();
    const std::string name = history_name(paths[i], !tensor || leaf.tensor->type().rank() == 0);
    if (out.empty() || out.back().name != name) out.push_back({name, {}});
    std::vector<double>& all = out.back().values;
    if (tensor) {
      check(leaf.tensor->type().rank() <= 1, "plot_history: '", name, "' is ", thunder::name(leaf.tensor->type()),
            "; a history is a list of numbers, or a tensor of one dim");
      append_elements(*leaf.tensor, all);
    } else if (leaf.kind == ArgKind::real) {
      all.push_back(leaf.f);
    } else if (leaf.kind == ArgKind::integer) {
      all.push_back(static_cast<double>(leaf.i));
    } else if (leaf.kind == ArgKind::reals) {
      all.insert(all.end(), leaf.reals.begin(), leaf.reals.end());
    } else if (leaf.kind == ArgKind::dims) {
      all.insert(all.end(), leaf.ints.begin(), leaf.ints.end());
    } else {
      fail(Code::invalid_argument, "plot_history: '", name, "' has something at ", all.size() + 1,
           " that is no number");
    }
  }
  return out;
}

}  // namespace

extern "C" {

thunder_status* thunder_context_set_logs(thunder_context* context, const char* logs) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(logs, "logs");
    core(context)->set_logs(logs);
  }));
}

thunder_status* thunder_compiled_profile(thunder_compiled* compiled, const thunder_values* in, size_t runs) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(in, "in");
    Compiled& c = *core(compiled);
    c.reports().set_last_profile(std::make_shared<const Profile>(profile(c, *core(in), runs)));
  }));
}

thunder_status* thunder_compiled_examine(thunder_compiled* compiled, const thunder_values* in) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(in, "in");
    Compiled& c = *core(compiled);
    c.reports().set_last_examination(std::make_shared<const Examination>(examine(c, *core(in))));
  }));
}

thunder_status* thunder_compiled_write_report(thunder_compiled* compiled, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    write_file(path, html_report(*core(compiled)));
  }));
}

thunder_status* thunder_plot_history(const thunder_values* histories, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(path, "path");
    const std::string_view file = path;
    const bool png = file.ends_with(".png");
    check(png || file.ends_with(".html"), "plot_history: '", path, "' ends in neither .html nor .png");
    const std::vector<History> all = histories_of(require_usable(histories, "histories"));
    write_file(path, png ? history_png(all) : history_page(all));
  }));
}

thunder_status* thunder_compiled_repro(thunder_compiled* compiled, size_t step, const char** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    CompiledHandle& h = *core(compiled);
    const auto entry = h.reports().latest();
    check(entry != nullptr, "nothing is compiled before the first call");
    *out = (h.repro_text = repro_script(*entry->program, step)).c_str();
  }));
}

}  // extern "C"
