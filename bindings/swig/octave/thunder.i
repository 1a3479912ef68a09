// Octave: the module thunder_core, on which the functions of this folder are built.
%module(directors="1") thunder_core

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  const uint8NDArray array = $input.uint8_array_value();
  bytes.data.assign((const char *)array.data(), (size_t)array.numel());
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  uint8NDArray array(dim_vector(1, (octave_idx_type)$1.data.size()));
  for (octave_idx_type i = 0; i < array.numel(); i++) array(i) = octave_uint8((unsigned char)$1.data[(size_t)i]);
  $result = octave_value(array);
}
// SWIG gives doubles, which lose what is beyond 2^53.
%typemap(out) long long { $result = octave_value(octave_int64((int64_t)$1)); }
%typemap(in) long long { $1 = (long long)$input.int64_scalar_value().value(); }

#define THUNDER_DIRECTORS
%include "../thunder.i"
