# Writes the commit and its date for `thunder --version`: cmake -DOUT=revision.h -DSOURCE=FOLDER -P Revision.cmake. Nothing is known of sources
# that came without git.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%h\ %cs OUTPUT_VARIABLE revision ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE " " ", " revision "${revision}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define THUNDER_REVISION \"@revision@\"\n" @ONLY)  # touched only where it differs
