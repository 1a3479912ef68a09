# require "thunder_swig" in a stock interpreter: LUA_PATH='build/.../languages/lua/?.lua' LUA_CPATH='build/.../languages/lua/?.so'
find_program(THUNDER_STOCK_LUA lua5.4)
if(LUA_FOUND AND THUNDER_STOCK_LUA)
  thunder_swig_wrap(lua ${swig_out}/lua cpp -lua)
  thunder_swig_module(lua ${swig_out}/lua thunder_core ${LUA_INCLUDE_DIRS})
  thunder_swig_files(lua ${swig_out}/lua ${swig_source}/lua/thunder_swig.lua)
  set(program_lua ${CMAKE_COMMAND} -E env LUA_PATH=${swig_out}/lua/?.lua LUA_CPATH=${swig_out}/lua/?.so ${THUNDER_STOCK_LUA})
  set(extension_lua lua)
endif()
