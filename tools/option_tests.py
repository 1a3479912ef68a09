"""Which test shows a program on which an option makes a difference, or that what an option asks for is so: for docs/compile_options.md, which
fails to be written where one is not there."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Options of the library's own.
OWN = {
    "executors": "Products.precede_host_unless_the_executors_option_reorders_them",
    "name": "AskedFunction.a_name_stands_in_traces_errors_and_logs",
    "engine_library": "CompiledTest.an_engine_library_that_is_not_there_is_an_error_that_names_it",
    "disable_passes": "Pipeline.gives_the_same_numbers_with_each_optional_pass_left_out",
    "float32_matmul_precision": "Amx.f32_uses_tile_registers_only_if_float32_matmul_precision_allows_it",
    "allow_reciprocal": "CompiledDivision.is_a_product_where_the_option_allows_it",
    "cudnn_allow_tf32": "CudaConvolutions.round_to_tf32_where_that_is_allowed",
    "backend": "ResolveOptions.a_mode_is_the_options_that_it_stands_for",
    "mode": "ResolveOptions.a_mode_is_the_options_that_it_stands_for",
    "use_cudagraphs": "CudaGraphs.of_kernels_and_products_compute_what_steps_do",
    "freezing": "Freezing.computes_what_depends_on_captures_alone_once",
    "max_autotune": "Autotune.is_enabled_by_max_autotune",
    "deterministic": "ResolveOptions.deterministic_refuses_what_was_measured_or_is_another_library_s",
    "donate_argnums": "DonatedArguments.give_their_memory_to_what_is_computed_later",
    "verify": "Verify.names_the_pass_and_the_line_of_a_use_before_the_definition",
    "debug_checks": "Checked.nan_names_the_first_line_that_makes_one",
    "epilogue_fusion": "ResolveOptions.without_epilogue_fusion_lines_after_a_product_are_steps",
    "trace_dir": "TraceFiles.each_compile_has_a_folder_with_the_usual_ones",
    "trace_files": "TraceFiles.each_of_inductor_s_names_is_a_file",
    "sharp_edges": "AskedFunction.an_edge_is_the_error_of_the_call_where_that_is_asked_for",
    "recipe": "ResolveOptions.names_of_lightning_s_are_options_or_say_why_not",
    "plugins": "ResolveOptions.names_of_lightning_s_are_options_or_say_why_not",
    "debug_options": "ResolveOptions.names_of_lightning_s_are_options_or_say_why_not",
    "cache": "Modes.same_input_takes_the_callers_word_for_shapes_and_constants",
    "always_trace": "Modes.no_caching_compiles_each_call_and_keeps_the_last_for_reports",
    "use_last_executed": "Modes.same_input_takes_the_callers_word_for_shapes_and_constants",
    "use_static_caching": "Modes.are_refused_where_they_are_unknown_or_say_two_things",
    "dynamic": "DynamicSizesTest.what_has_been_seen_to_vary_stands_for_any_size_unless_told_otherwise",
    "dynamic_shapes": "NamedSizes.vary_without_a_trace_more",
    "automatic_dynamic_shapes": "DynamicSizesTest.automatic_ones_are_those_that_were_seen_to_vary",
    "recompile_limit": "Limit.keeps_the_programs_below_it_and_compiles_others_for_one_call",
    "accumulated_recompile_limit": "Modes.past_the_accumulated_limit_calls_run_op_by_op_after_one_warning",
    "fail_on_recompile_limit": "Limit.is_an_error_when_asked_for",
    "fullgraph": "Segments.branches_on_a_value_as_eager_does",
    "disable": "Modes.disable_compiles_nothing",
    "progress": "CallersHooks.are_told_each_stage_with_its_parts_and_cancel_by_an_error",
    "guard_filter_fn": "CallersHooks.drop_guards_of_integers_and_of_floats_that_were_read",
}

# Options of Inductor's that are another's name have its test; each that is always so, this one and what follows.
ALWAYS = "ResolveOptions.what_is_always_so_takes_that_value_alone"
PASSES = "ResolveOptions.false_leaves_the_passes_of_a_name_out"
SETS = "ResolveOptions.a_name_that_stands_for_a_value_gives_way_to_one_that_was_given"
INDUCTOR = {
    "aggressive_fusion": "Siblings.share_an_operand",
    "allow_buffer_reuse": "ArenaPlan.gives_values_of_different_times_the_same_bytes",
    "assert_indirect_indexing": "FusedKernel.writes_nothing_after_an_index_out_of_range",
    "autotune_multi_device": "Autotune.stored_choices_are_specific_to_threads_and_library",
    "comment_origin": "Print.writes_a_lua_chunk_with_types_sources_and_writes",
    "cpp.dynamic_threads": "FusedKernel.results_have_the_same_bits_for_any_number_of_threads",
    "cpp.enable_unsafe_math_opt_flag": "FusedKernel.handles_special_values",
    "cuda.use_fast_math": "CudaRows.of_softmax_in_each_length",
    "debug_index_asserts": "FusedKernel.reports_an_index_out_of_range_by_op",
    "emulate_precision_casts": "ResolveOptions.a_kernel_of_several_lines_rounds_after_each",
    "freezing_discard_parameters": "Freezing.sees_a_write_through_any_handle_of_the_memory",
    "fx_graph_cache": "KernelsOnDisk.are_found_by_the_next_process",
    "implicit_fallbacks": "Products.decline_other_dtypes",
    "inplace_buffers": "Epilogues.replace_a_product_in_its_own_memory",
    "memory_planning": "ArenaPlan.places_large_values_first_where_that_takes_less",
    "memory_pool": "EagerCalls.give_results_of_their_own_and_write_those_that_are_bound",
    "pick_loop_orders": "CpuSchedule.vectorizes_the_axis_of_unit_stride",
    "search_autotune_cache": "Autotune.uses_choices_measured_by_another_process",
    "shape_padding": "Products.handle_every_size_and_layout",
    "size_asserts": "Key.tells_shape_dtype_and_layout_apart",
    "triton.dense_indexing": "FusedKernel.reads_strided_and_transposed_inputs",
    "triton.divisible_by_16": "CudaConvolutions.begin_at_any_element",
    "triton.fast_path_cudagraph_asserts": "CudaGraphs.update_parameters_of_kernels_and_copy_what_libraries_read",
    "triton.skip_cudagraph_warmup": "CudaGraphs.say_what_cannot_be_recorded",
    "triton.slow_path_cudagraph_asserts": "CudaGraphs.update_parameters_of_kernels_and_copy_what_libraries_read",
}


def files():
    """{"Suite.claim": the file that has it}"""
    found = {}
    for path in (ROOT / "tests").rglob("*_test.cpp"):
        for suite, claim in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[f"{suite}.{claim}"] = path.relative_to(ROOT).as_posix()
    return found


class Tests:
    def __init__(self):
        self.files = files()

    def shown(self, test):
        """The test as a page names it. Ends the program where there is none."""
        if test not in self.files:
            raise SystemExit(f"tools/option_tests.py: there is no test {test}")
        return f"`{test}`"

    def of_own(self, name):
        if name not in OWN:
            raise SystemExit(f"tools/option_tests.py: no test shows a program on which the option {name} makes a difference")
        return self.shown(OWN[name])

    def of_inductor(self, row):
        """Of a row of inductor_options."""
        words = row["ours"].partition(":")[0].partition("=")[0]
        return {"option": lambda: self.of_own(words), "words": lambda: self.of_own(words), "sets": lambda: self.shown(SETS),
                "passes": lambda: self.shown(PASSES), "always": lambda: self.shown(INDUCTOR.get(row["name"], ALWAYS)),
                "refused": lambda: ""}[row["state"]]()
