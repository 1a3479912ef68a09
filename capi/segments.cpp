// Functions that read values: data for their proxies, and where they broke.
#include "jit/segments/segments.h"

#include <cjson/cJSON.h>

#include "capi/compiled.h"
#include "capi/tensor.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

struct JsonList {
  cJSON* const list = cJSON_CreateArray();
  ~JsonList() { cJSON_Delete(list); }
};

std::string as_json(const std::vector<CountedBreak>& breaks) {
  const JsonList made;
  for (const CountedBreak& b : breaks) {
    cJSON* one = cJSON_CreateObject();
    const bool complete = one && cJSON_AddItemToArray(made.list, one) &&
                          cJSON_AddStringToObject(one, "where", b.at.where.c_str()) &&
                          cJSON_AddStringToObject(one, "reason", b.at.reason.c_str()) &&
                          cJSON_AddNumberToObject(one, "lines", static_cast<double>(b.at.lines)) &&
                          cJSON_AddNumberToObject(one, "times", static_cast<double>(b.times));
    if (!complete) throw std::bad_alloc();
  }
  char* text = cJSON_PrintUnformatted(made.list);
  if (!text) throw std::bad_alloc();
  const std::unique_ptr<char, void (*)(void*)> owned(text, cJSON_free);
  return text;
}

}  // namespace

extern "C" {

thunder_status* thunder_tensor_materialize(thunder_tensor* tensor, const char* where, int32_t* concrete) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(concrete, "concrete");
    Tensor& t = *core(tensor);
    if (t.kind() == Tensor::Kind::failed) throw Error(t.failure());
    need_alive(t);
    *concrete = t.concrete() || (t.kind() == Tensor::Kind::proxy && t.owner()->give_data(t, where));
  }));
}

const char* thunder_compiled_breaks_report(thunder_compiled* compiled) noexcept {
  return report_of(compiled, &CompiledHandle::breaks_text, "breaks");
}

const char* thunder_compiled_graph_breaks(thunder_compiled* compiled) noexcept {
  return text_of(compiled, &CompiledHandle::breaks_json,
                 [](const Compiled& f) { return as_json(f.reports().graph_breaks()); });
}

}  // extern "C"
