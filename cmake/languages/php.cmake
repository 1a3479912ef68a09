# require 'Thunder.php' with -d extension=build/.../languages/php/thunder_core.so -d include_path=build/.../languages/php
find_program(THUNDER_PHP php)
find_program(THUNDER_PHP_CONFIG php-config)
thunder_ask(php_include ${THUNDER_PHP_CONFIG} --includes)
# It loads extensions by RTLD_DEEPBIND, which AddressSanitizer refuses.
if(THUNDER_PHP AND php_include AND NOT THUNDER_SANITIZE)
  string(REPLACE "-I" "" php_include "${php_include}")
  separate_arguments(php_include)
  thunder_swig_wrap(php ${swig_out}/php cpp -php7 -prefix Thunder_Core_)
  thunder_swig_module(php ${swig_out}/php thunder_core ${swig_out}/php ${php_include})
  thunder_swig_files(php ${swig_out}/php ${swig_source}/php/Thunder.php)
  set(program_php ${THUNDER_PHP} -d extension=${swig_out}/php/thunder_core.so -d include_path=${swig_out}/php)
  set(extension_php php)
endif()
