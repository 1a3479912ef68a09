"""Mutants: the core with one line changed, each a fault of a kind that the harness is there to find. A row: the file, what of it is
replaced (it stands there once) by what, the door at which it shows and the observables that may show it."""
import typing


class Mutant(typing.NamedTuple):
    file: str
    right: str
    wrong: str
    door: str
    observables: tuple


MUTANTS = {
    "a view in a program begins where its base does": Mutant("core/program/plan.cpp",
        "if (there) locations_[n.results[0]]", "if (there) there->offset = locations_[n.args[0].v].offset, locations_[n.results[0]]",
        "compiled", ("values",)),
    "a program does not advance the generator": Mutant("core/tracer/tracing_finish.cpp",
        "if (draws_) {", "if (draws_ > 1) {", "compiled", ("generator",)),
    "a segment advances the generator by less than it drew": Mutant("core/jit/segments/segment_call.cpp",
        "context.random()->data())[1] += draws;", "context.random()->data())[1] += draws / 2;", "segments", ("generator",)),
    "a tensor that a function makes and writes is one for all calls": Mutant("core/tracer/tracing_finish.cpp",
        "  const bool alone = kept->unique() &&", "  const bool alone = kept->type().shape.empty() && kept->unique() &&", "compiled",
        ("values", "later")),
    "a view does not see a write to what it shows": Mutant("core/tracer/aliases.cpp",
        "  if (now == from) return v;\n", "  if (now == from || view_of(v)) return v;\n", "compiled", ("values",)),
    "a guard does not look at the host again": Mutant("capi/function.cpp",
        "bool holds() const override { return !fact_(user_); }", "bool holds() const override { return true; }", "compiled",
        ("values",)),
    "a tape forgets what was written over": Mutant("core/tracer/eager_writes.cpp",
        "builder_.replace(held, dense_copy(*slot));", "builder_.replace(held, slot);", "compiled on a tape", ("gradients",)),
    "a tape gives zeros where a loss depends on nothing": Mutant("core/tracer/eager.cpp",
        "it->second != kNoValue && needed.has(it->second);", "it->second != kNoValue;", "compiled on a tape", ("gradients",)),
    "a program writes before an op that may refuse": Mutant("core/program/plan.cpp",
        "strides_[w.input]);\n      direct = direct && type(w.value).dtype == type(old).dtype && can_overwrite_input(old, w.value, r.made);\n"
        "      direct = direct && (r.made > last_work_ || is_less(kSmallWrite, bytes_of(type(old))));",
        "strides_[w.input]) || is_unplaced_root(w.value);", "compiled", ("written",)),
    "a size that was read as a number may be another": Mutant("core/jit/record/record.cpp",
        "if (clear_dims_read_as_numbers(reads, with_symbols.places, mask)) continue;",
        "(void)clear_dims_read_as_numbers;", "compiled for any size", ("values", "types")),
    "an argument is read as if it were dense": Mutant("core/program/plan.cpp",
        "strides.assign(given.begin(), given.end());", "(void)given;", "compiled", ("values",)),
    "a write in no_grad takes the gradient away": Mutant("core/ops/defs/detach.cpp",
        "return c.builder.call(Prim::set_data, {c.builder.var(base), c.builder.var(written)}).id;",
        "return (void)c, (void)base, written;", "compiled on a tape", ("gradients",)),
}
