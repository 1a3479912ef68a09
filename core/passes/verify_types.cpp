#include "passes/verify_types.h"

#include "base/text.h"
#include "ir/verify.h"
#include "passes/inside.h"
#include "tracer/recorder.h"

namespace thunder {

void verify_types(const Trace& trace, const Registry& registry) {
  Recorder recorder(registry, trace.store);  // meta functions get types from it; nothing is recorded
  size_t line = 0;
  auto check = [&](const Node& n) {
    // The prims with lists of results, grad and region, have no meta function: their types were given when recorded.
    if (!n.op->prim || n.op->schema.variadic()) return;
    Types types;
    try {
      def(n).meta(Call(recorder, def(n), n.args), types);
    } catch (const Error& e) {
      ensure(false, describe_line(trace, line), ": ", e.message());
    }
    if (types.count != n.results.size())
      ensure(false, describe_line(trace, line), ": ", n.op->name(), " has ", types.count, " results, the line ",
             n.results.size());
    for (size_t i = 0; i < types.count; i++)
      if (!(types.at[i] == trace.type(n.results[i])))
        ensure(false, describe_line(trace, line), ": ", n.op->name(), " gives ", name(types.at[i]), ", the line says ",
               name(trace.type(n.results[i])));
  };
  for (; line < trace.nodes.size(); line++) for_each_inside(*trace.nodes[line], check);
}

}  // namespace thunder
