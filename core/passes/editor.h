// A trace that a caller's pass edits. Edits are recorded by line and applied by finish(). Each is checked when it is
// requested, so that every sequence of edits gives a valid trace. A line is a node of the trace, by its index.
#pragma once

#include "base/text.h"
#include "tracer/builder_scope.h"
#include "tracer/recorder.h"

namespace thunder {

class Editor {
 public:
  // `pass` is its name, for messages. The trace outlives the editor.
  Editor(const Trace& trace, const ScopeEnvironment& environment, std::string pass);

  const Trace& trace() const { return trace_; }
  size_t lines() const { return trace_.nodes.size(); }
  const Node& line(size_t index) const;  // throws beyond the last

  // From now on, nodes recorded in scope() are inserted before this line; before lines(): at the end. They may read
  // results of earlier lines and of nodes that are inserted before this line or earlier ones.
  void before(size_t line);
  BuilderScope& scope() { return scope_; }

  // The values of the results that a caller gives for a line, wherever they are computed. Throws.
  Results read(const Values& results);
  // Removes the line and replaces its results by these. Throws unless they have the same types and are computed before
  // the line.
  void replace(size_t line, const Results& results);
  // Removes the line.
  void remove(size_t line);

  // The trace with all edits. Empty: there were none. Throws if the result of a removed line is still used.
  std::optional<Trace> finish();

 private:
  class EditScope : public BuilderScope {
   public:
    EditScope(const ScopeEnvironment& environment, Editor& editor)
        : BuilderScope(environment, editor.recorder_, cat("pass '", editor.pass_, "'")), editor_(editor) {}

   protected:
    void check_readable(ValueId v) override;

   private:
    Editor& editor_;
  };

  void flush();
  size_t line_that_made(ValueId v);
  std::string describe_line(size_t line) const;
  template <class... T>
  [[noreturn]] void reject(size_t line, const T&... why) const;
  void check_unused(const Trace& made) const;

  const Trace& trace_;
  const std::string pass_;
  Recorder recorder_;
  EditScope scope_;
  size_t current_ = 0;
  std::vector<size_t> made_at_;                        // by value: the first line that may read it
  std::vector<std::vector<const Node*>> inserted_;     // by line
  std::vector<bool> gone_;                             // by line
  std::vector<ValueId> to_;                            // by value: the value that replaces it
};

}  // namespace thunder
