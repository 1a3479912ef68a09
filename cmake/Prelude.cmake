# Turns Lua files into one C file: cmake -DOUT=prelude.c "-DFILES=a.lua;b.lua" -P Prelude.cmake
set(arrays "")
set(rows "")
foreach(file ${FILES})
  cmake_path(GET file STEM name)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" count)
  math(EXPR count "${count} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${name}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", (const char *)text_${name}, ${count}},\n")
endforeach()
file(WRITE ${OUT} "#include \"lua/prelude.h\"\n\n${arrays}\n"
  "const thunder_prelude thunder_prelude_files[] = {\n${rows}    {0, 0, 0}};\n")
