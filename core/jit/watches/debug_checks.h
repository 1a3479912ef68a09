// The option `debug_checks`: a call ends at the first step that fails a check.
#pragma once

#include <optional>

#include "jit/watches/reference_watch.h"

namespace thunder {

class DebugChecks final : public StepWatch {
 public:
  // Requires: at least one check is enabled.
  DebugChecks(Context& context, const CompileSettings& settings, std::string_view function);

  void begin(std::span<const std::byte> arena) override { arena_ = arena; }
  void before(const Program& program, size_t at, const Launch& launch) override;
  // Throws at the first failed check.
  void after(const Program& program, size_t at, const Launch& launch) override;

 private:
  void check_bounds(const Program& program, size_t at, const Launch& launch) const;
  [[noreturn]] void fail_at(size_t at, const Difference& found) const;

  const std::string_view function_;
  std::optional<ReferenceWatch> reference_;  // of values and numbers
  const bool bounds_;
  std::span<const std::byte> arena_;
  std::vector<std::byte> before_;  // what the arena held before the step
};

}  // namespace thunder
