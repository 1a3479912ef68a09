// Java: the package thunder.core, on which the package thunder is built.
%module(directors="1") ThunderCore

%typemap(jni) const thunder_swig::Bytes &, thunder_swig::Bytes "jbyteArray"
%typemap(jtype) const thunder_swig::Bytes &, thunder_swig::Bytes "byte[]"
%typemap(jstype) const thunder_swig::Bytes &, thunder_swig::Bytes "byte[]"
%typemap(javain) const thunder_swig::Bytes & "$javainput"
%typemap(javaout) thunder_swig::Bytes { return $jnicall; }
%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  if ($input) {
    const jsize size = jenv->GetArrayLength($input);
    bytes.data.resize((size_t)size);
    jenv->GetByteArrayRegion($input, 0, size, (jbyte *)bytes.data.data());
  }
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  $result = jenv->NewByteArray((jsize)$1.data.size());
  if ($result) jenv->SetByteArrayRegion($result, 0, (jsize)$1.data.size(), (const jbyte *)$1.data.data());
}

%pragma(java) jniclasscode=%{
  static { System.loadLibrary("thunder_java"); }
%}

#define THUNDER_DIRECTORS
%include "../thunder.i"
