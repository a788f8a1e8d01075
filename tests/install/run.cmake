# Run by ctest: install, move what was installed, configure a user's project against it, build it, run it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)  # nothing may know where it was
run(${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${WORK}/consumer -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D INGOT_VERSION=${VERSION} -D EXAMPLES=${EXAMPLES} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_C_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/build_graph ${WORK}/small.onnx)
run(${WORK}/consumer/c_interface ${WORK}/small.onnx ${WORK}/converted.onnx)
run(${WORK}/prefix/bin/ingot --version)
foreach(file IN ITEMS bin/ingot-tflite-driver share/man/man1/ingot-convert.1 share/bash-completion/completions/ingot
                      share/zsh/site-functions/_ingot share/fish/vendor_completions.d/ingot.fish)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
