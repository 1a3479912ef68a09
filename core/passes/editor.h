// A trace while a caller's pass changes it. Edits are noted line by line and made at the end; each is checked when it
// is made, so that no sequence of them gives a trace that is not sound.
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

  // What is computed in scope() is inserted before this line; before lines(): at the end. It may read what is made by
  // earlier lines, and by insertions before this line or earlier ones.
  void before(size_t line);
  BuilderScope& scope() { return scope_; }

  // The values of what a caller says a line is replaced by, wherever they were made. Throws.
  Results read(const Values& results);
  // The line goes, and these stand for its results. Throws unless they have the same types and are there before the
  // line.
  void replace(size_t line, const Results& results);
  // The line goes.
  void remove(size_t line);

  // The trace with all edits; empty: there were none. Throws when something needs what a removed line made.
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
  size_t made_at(ValueId v);
  std::string describe(size_t line) const;
  template <class... T>
  [[noreturn]] void refuse(size_t line, const T&... why) const;
  void check_unused(const Trace& made) const;

  const Trace& trace_;
  const std::string pass_;
  Recorder recorder_;
  EditScope scope_;
  size_t current_ = 0;
  std::vector<size_t> made_at_;                        // by value: the line before which it may first be read
  std::vector<std::vector<const Node*>> inserted_;     // by line
  std::vector<bool> gone_;                             // by line
  std::vector<ValueId> to_;                            // by value: what stands for it
};

}  // namespace thunder
