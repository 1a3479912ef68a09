// Programs for sizes that vary: functions traced with symbols, and a bounded store of what was compiled of them.
#pragma once

#include <list>
#include <mutex>

#include "jit/compile.h"
#include "jit/saved_function.h"

namespace thunder {

// A trace with symbols in the place of sizes. Its guards are those of a program; it becomes one when its sizes are known.
struct SymbolicProgram {
  std::unique_ptr<Entry> recorded;
  Ref<SavedFunction> function;
  bool fits(const Values& in) const { return guards_hold(*recorded, nullptr) && function->fits(in); }
};

// What was compiled of symbolic programs, the last used first. What is least used goes, by number and by memory.
class Plans {
 public:
  // Null: none was compiled for these inputs. Any thread.
  std::shared_ptr<const Entry> find(const Inputs& in);
  void insert(std::shared_ptr<const Entry> entry, std::shared_ptr<const SymbolicProgram> of);
  size_t size() const;

  static constexpr size_t kMost = 64, kMostBytes = size_t{1} << 30;

 private:
  struct Plan {
    std::shared_ptr<const Entry> entry;
    std::shared_ptr<const SymbolicProgram> of;
  };
  mutable std::mutex mutex_;
  std::list<Plan> plans_;
};

// The symbolic programs of one compiled function. One thread at a time, but for the plans.
class Dynamic {
 public:
  // The program for these inputs, compiled now of a trace with symbols. Null: their sizes do not vary as far as is known
  // (`all`: every size may), or the function cannot be traced so. `kept`: programs that have been compiled.
  std::shared_ptr<const Entry> compile(Context& context, Function& function, const CompileOptions& options, const Values& in, bool all,
                                       std::span<const Entry* const> kept, InterruptCheck& check);
  // A program that a file holds; nothing if it has no symbols.
  void add(std::string_view function, const SavedProgram& program);
  // Those whose guards hold.
  std::vector<SavedProgram> saved() const;
  Plans& plans() { return plans_; }
  const Plans& plans() const { return plans_; }

 private:
  std::shared_ptr<const Entry> specialised(Context& context, const CompileOptions& options, const Values& in, InterruptCheck& check);

  // Of one function; what fits none of them after that is compiled with its plain sizes.
  static constexpr size_t kMostTraces = 8;

  std::vector<std::shared_ptr<const SymbolicProgram>> programs_;
  size_t traced_ = 0;
  Plans plans_;
};

}  // namespace thunder
