# Run by ctest: install, configure a user's project against the installed tree, build it, run it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${WORK}/consumer -D CMAKE_PREFIX_PATH=${WORK}/prefix
    -D INGOT_VERSION=${VERSION} -D EXAMPLES=${EXAMPLES} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_C_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/build_graph ${WORK}/small.onnx)
run(${WORK}/consumer/c_interface ${WORK}/small.onnx ${WORK}/converted.onnx)
if(EXISTS ${WORK}/prefix/bin/ingot)
  run(${WORK}/prefix/bin/ingot --version)
endif()
