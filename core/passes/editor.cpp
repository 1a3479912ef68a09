#include "passes/editor.h"

#include "base/text.h"
#include <utility>

#include "ir/print.h"

namespace thunder {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

}  // namespace

Editor::Editor(const Trace& trace, const ScopeEnvironment& environment, std::string pass)
    : trace_(trace), pass_(std::move(pass)), recorder_(*environment.registry, trace.store), scope_(environment, *this),
      made_at_(trace.store->size(), kNowhere), inserted_(trace.nodes.size() + 1), gone_(trace.nodes.size(), false),
      to_(trace.store->size(), kNoValue) {
  for (const Input& in : trace.inputs) made_at_[in.value] = 0;
  for (size_t i = 0; i < trace.nodes.size(); i++)
    for (ValueId r : trace.nodes[i]->results) made_at_[r] = i + 1;
  before(0);
}

const Node& Editor::line(size_t index) const {
  require(index < lines(), "pass '", pass_, "': there is no line ", index, ", there are ", lines());
  return *trace_.nodes[index];
}

std::string Editor::describe_line(size_t line) const {
  return line == lines() ? "the end" : cat("line ", line, ", ", print_line(trace_, *trace_.nodes[line]));
}

template <class... T>
void Editor::reject(size_t line, const T&... why) const {
  fail(Code::invalid_argument, "pass '", pass_, "': ", describe_line(line), ", ", why...);
}

// Assigns the nodes recorded since the last call to the current line.
void Editor::flush() {
  for (const Node* n : recorder_.nodes()) {
    inserted_[current_].push_back(n);
    for (ValueId r : n->results) {
      if (r >= made_at_.size()) made_at_.resize(r + 1, kNowhere);
      made_at_[r] = current_;
    }
  }
  recorder_.nodes().clear();
}

void Editor::before(size_t line) {
  require(line <= lines(), "pass '", pass_, "': there is no line ", line, " to insert before, there are ", lines());
  flush();
  current_ = line;
  const Node* at = line < lines() ? trace_.nodes[line] : lines() ? trace_.nodes.back() : nullptr;
  recorder_.set_where(at ? at->where : nullptr);
}

size_t Editor::line_that_made(ValueId v) {
  flush();
  return v < made_at_.size() ? made_at_[v] : kNowhere;
}

void Editor::EditScope::check_readable(ValueId v) {
  const size_t at = editor_.line_that_made(v), here = editor_.current_;
  require(at != kNowhere, what_, " reads a value that no line makes");
  if (at > here)
    thunder::fail(Code::invalid_argument, what_, " inserts before ", editor_.describe_line(here),
                  " what reads a value that is made later");
}

Results Editor::read(const Values& results) {
  flush();
  struct Restored {
    size_t &at, value;
    ~Restored() { at = value; }
  } here{current_, std::exchange(current_, lines())};
  return scope_.results(results);
}

void Editor::replace(size_t line, const Results& results) {
  const Node& node = this->line(line);
  if (gone_[line]) reject(line, "is replaced twice");
  if (results.size() != node.results.size())
    reject(line, "has ", node.results.size(), " results, it is replaced by ", results.size());
  for (size_t i = 0; i < results.size(); i++) {
    const TensorType &from = recorder_.type(results[i]), &to = recorder_.type(node.results[i]);
    if (!(from == to)) reject(line, "has a result that is ", name(to), ", it is replaced by one that is ", name(from));
    if (line_that_made(results[i]) > line) reject(line, "is replaced by what comes after it");
  }
  for (size_t i = 0; i < results.size(); i++) to_[node.results[i]] = results[i];
  gone_[line] = true;
}

void Editor::remove(size_t line) {
  this->line(line);
  if (gone_[line]) reject(line, "is removed twice");
  gone_[line] = true;
}

void Editor::check_unused(const Trace& made) const {
  std::vector<size_t> removed(trace_.store->size(), kNowhere);
  for (size_t i = 0; i < lines(); i++)
    for (ValueId r : trace_.nodes[i]->results)
      if (gone_[i] && to_[r] == kNoValue) removed[r] = i;
  auto check = [&](ValueId v, std::string_view by, std::string_view how) {
    if (removed[v] != kNowhere) reject(removed[v], "is removed, but ", by, how);
  };
  for (const Node* n : made.nodes)
    for_each_value(n->args, [&](ValueId v) { check(v, n->op->name(), " reads its result"); });
  for (ValueId v : made.outputs) check(v, "its result", " is returned");
  for (const Write& w : made.writes) check(w.value, "its result", " is stored");
}

std::optional<Trace> Editor::finish() {
  flush();
  bool edited = false;
  for (bool gone : gone_) edited |= gone;
  for (auto& list : inserted_) edited |= !list.empty();
  if (!edited) return std::nullopt;
  // A replacement may have been replaced itself, by an earlier value, so this loop ends.
  for (ValueId& v : to_)
    while (v != kNoValue && v < to_.size() && to_[v] != kNoValue) v = to_[v];
  Trace out = trace_;
  out.nodes.clear();
  for (size_t i = 0; i <= lines(); i++) {
    for (const Node* n : inserted_[i]) out.nodes.push_back(out.store->substitute(n, to_));
    if (i < lines() && !gone_[i]) out.nodes.push_back(out.store->substitute(trace_.nodes[i], to_));
  }
  auto mapped = [&](ValueId v) { return v < to_.size() && to_[v] != kNoValue ? to_[v] : v; };
  for (ValueId& v : out.outputs) v = mapped(v);
  for (Write& w : out.writes) w.value = mapped(w.value);
  check_unused(out);
  return out;
}

}  // namespace thunder
