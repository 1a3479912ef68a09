"""What stands in a graph beside what is computed: sizes, and what torch asserts of what it captured."""
from .._rows import note

note("sym_size", "sym_numel", "sym_stride", "sym_storage_offset", size=True)
note("_assert_scalar", "_assert_tensor_metadata", "_linalg_check_errors", "sym_constrain_range", "sym_constrain_range_for_size", nothing=True)
note("_functional_assert_async.msg", asserts=True)
