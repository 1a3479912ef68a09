#include "tracer/trace_reader.h"

#include <algorithm>

#include "base/text.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "tracer/recorder.h"

namespace thunder {
namespace {

// Gives a composite the draws that its line names.
class ReadRecorder : public Recorder {
 public:
  using Recorder::Recorder;
  Draw draw() override {
    require(drawing.has_value(),
            "this operation draws random numbers: its comment must say ' drawing ORDINAL from VALUE'");
    return {var(drawing->state), drawing->ordinal++};
  }
  std::optional<FirstDraw> drawing;
};

class Reader : public OpSource {
 public:
  explicit Reader(const Registry& registry)
      : recorder_(registry, std::make_shared<Store>()), grad_(registry.find("grad")) {}

  const Op* find(std::string_view name) override { return recorder_.registry().find(name); }
  const std::shared_ptr<Store>& store() override { return recorder_.shared_store(); }

  const Node* build(const ParsedLine& line) override {
    const Node* node = &line.op == grad_ ? make_gradient_line(line) : record_line(line);
    return line.executor ? recorder_.store().claimed(node, line.executor) : node;
  }

 private:
  const Node* record_line(const ParsedLine& line) {
    recorder_.set_where(line.where);
    recorder_.drawing = line.draw;
    recorder_.nodes().clear();
    const Results results = recorder_.invoke(def(line.op), line.args);
    const auto& nodes = recorder_.nodes();
    const bool own = nodes.size() == 1 && nodes[0]->op == &line.op &&
                     std::equal(results.begin(), results.end(), nodes[0]->results.begin());
    require(own, line.op.name(), ": with these arguments it gives back one of them, and is no line of its own");
    return nodes[0];
  }

  // Recorded as scopes do: a gradient has the type of the value that it belongs to.
  const Node* make_gradient_line(const ParsedLine& line) {
    std::vector<ValueId> results;
    for (ValueId v : line.args[1].value_list()) results.push_back(recorder_.store().add(recorder_.type(v)));
    return recorder_.store().node(grad_, line.args, results, {}, line.where);
  }

  ReadRecorder recorder_;
  const Op* grad_;
};

}  // namespace

Trace read_trace(std::string_view text, const Registry& registry) {
  Reader reader(registry);
  Trace trace = parse(text, reader);
  verify(trace);
  return trace;
}

}  // namespace thunder
