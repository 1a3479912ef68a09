#include "rows.h"

#include <cjson/cJSON.h>

#include "call.h"
#include "schema.h"
#include "scope.h"

namespace thunder_swig {

std::string Row::text(const char* key) const {
  const char* found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
  return found ? found : "";
}

bool Row::flag(const char* key) const { return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key)); }

Description::Description(const std::string& what) {
  const Values values(context());
  check(thunder_context_describe(context(), what.c_str(), values));
  const char* text = thunder_values_str(values, 0, nullptr);
  array = text ? cJSON_Parse(text) : nullptr;
  if (!array) refuse(THUNDER_OUT_OF_MEMORY, "a description cannot be read");
  const cJSON* object = nullptr;
  cJSON_ArrayForEach(object, array) rows.push_back({object});
}

Description::~Description() { cJSON_Delete(array); }

namespace {

Item text_item(const std::string& name, const std::string& text) { return {ITEM_TEXT, name, text, 0, 0, {}}; }
Item whole_item(int kind, const std::string& name, long long value) { return {kind, name, "", value, 0, {}}; }
Item mark(int kind, const std::string& name = "") { return {kind, name, "", 0, 0, {}}; }

void add_json(Items& out, const std::string& name, const cJSON* json) {
  if (cJSON_IsArray(json) || cJSON_IsObject(json)) {
    out.push_back(mark(cJSON_IsArray(json) ? ITEM_LIST : ITEM_MAP, name));
    const cJSON* child = nullptr;
    cJSON_ArrayForEach(child, json) add_json(out, child->string ? child->string : "", child);
    out.push_back(mark(ITEM_CLOSE));
  } else if (cJSON_IsBool(json)) {
    out.push_back(whole_item(ITEM_BOOLEAN, name, cJSON_IsTrue(json)));
  } else if (cJSON_IsString(json)) {
    out.push_back(text_item(name, json->valuestring));
  } else if (cJSON_IsNumber(json)) {
    out.push_back({ITEM_REAL, name, "", 0, json->valuedouble, {}});
  } else {
    out.push_back(mark(ITEM_NONE, name));
  }
}

void add_signature(Items& out, const std::string& text) {
  const Schema schema = read_schema(text);
  out.push_back(whole_item(ITEM_INTEGER, "results", static_cast<long long>(schema.results)));
  out.push_back(mark(ITEM_LIST, "parameters"));
  for (const Parameter& p : schema.parameters) {
    out.push_back(mark(ITEM_MAP));
    out.push_back(text_item("name", p.name));
    out.push_back(text_item("kind", p.kind));
    out.push_back(whole_item(ITEM_BOOLEAN, "optional", p.optional));
    if (p.has_default) out.push_back(text_item("default", p.default_text));
    out.push_back(mark(ITEM_CLOSE));
  }
  out.push_back(mark(ITEM_CLOSE));
}

}  // namespace

Items described(const std::string& what) {
  Items out{mark(ITEM_LIST)};
  for (const Row& row : rows_of(what)) {
    if (row.flag("hidden") || row.flag("prim")) continue;
    add_json(out, "", row.object);
    if (row.text("schema").empty()) continue;
    out.pop_back();  // the end of the map, which gets more
    add_signature(out, row.text("schema"));
    out.push_back(mark(ITEM_CLOSE));
  }
  out.push_back(mark(ITEM_CLOSE));
  return out;
}

}  // namespace thunder_swig
