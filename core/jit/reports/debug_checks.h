// What the option `debug_checks` asks for: a call that ends at the first step which fails a check.
#pragma once

#include <optional>

#include "jit/reports/reference_watch.h"

namespace thunder {

class DebugChecks final : public StepWatch {
 public:
  // Requires: some are asked for.
  DebugChecks(Context& context, const CompileSettings& settings, std::string_view function);

  void begin(std::span<const std::byte> arena) override { arena_ = arena; }
  void before(const Program& program, size_t at, const Launch& launch) override;
  // Throws the first finding.
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
