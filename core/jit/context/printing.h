// How tensors are printed, as options say it by torch.set_printoptions' names.
#pragma once

#include "tensor/print.h"
#include "tracer/options.h"

namespace thunder {

std::span<const OptionRow> print_option_rows();

// `now` with what is given: a profile first, then the options of their own. Throws at the first option that is unknown,
// of another kind, or says what cannot be.
// `who` begins its message.
TensorPrintOptions print_options(const Options& given, TensorPrintOptions now, std::string_view who);

// The value of an option, as text.
std::string print_option_text(const TensorPrintOptions& options, std::string_view name);

}  // namespace thunder
