# Installs into a folder of the build tree, builds every example against what was installed, runs it and checks what it
# says. For ctest: cmake -D BUILD=… -D EXAMPLES=… -D GENERATOR=… -D COMPILER=… -D LAUNCHER=… -P examples.cmake
set(WORK ${BUILD}/tests/install)
set(EXPECTED_first "context \\[1, 2, 4\\], weights \\[1, 2, 2, 3\\]\n.*score\\.0\\.vector \\[2\\]\n")
# Distances² of 5, 2 and 8: e^(−2) is most of the sum.
set(EXPECTED_extend "^0\\.0473[0-9]*\n0\\.950[0-9]*\n0\\.00235[0-9]*\n.*the nearest is \"distance\"\n$")
set(EXPECTED_loop "step 200: loss [0-9.]+, on held-out pairs [0-9.]+\n.*attend → dnetta\nstep 200: .*\\(best so far\\)\n.*attend → dnetta\ntracked \\[[0-9]+, [0-9]+\\]\n")
set(EXPECTED_task "^2,000 pairs read; 2,000 kept.*\no c s i t r\nexact: (9[0-9]|100)[0-9.]* % of 100\n.* sing\n.* cats\n.* old\n +o ")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} failed (${failed}):\n${said}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})  # nothing of an earlier version may serve
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${WORK}/prefix/bin/attend --version)
# Beside the program: recipes by name, manual pages, completions, documents.
run(${WORK}/prefix/bin/attend train multi30k-de-en-transformer --dump-config)
run(${WORK}/prefix/bin/attend list recipes)
foreach(file share/attend/recipes/shapes-hard.yml share/man/man1/attend.1 share/man/man1/attend-train.1
             share/bash-completion/completions/attend share/zsh/site-functions/_attend
             share/fish/vendor_completions.d/attend.fish share/doc/attend/README.md share/doc/attend/docs/library.md)
  file(SIZE ${WORK}/prefix/${file} bytes)
  if(bytes EQUAL 0)
    message(FATAL_ERROR "${file} was installed empty")
  endif()
endforeach()

file(GLOB examples RELATIVE ${EXAMPLES} ${EXAMPLES}/*)
list(LENGTH examples count)
if(count LESS 2)
  message(FATAL_ERROR "no examples in ${EXAMPLES}")
endif()
foreach(example IN LISTS examples)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${EXAMPLES}/${example} -B ${WORK}/${example} -D CMAKE_BUILD_TYPE=Release
      -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
  execute_process(COMMAND ${WORK}/${example}/${example} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed OR NOT DEFINED EXPECTED_${example} OR NOT said MATCHES "${EXPECTED_${example}}")
    message(FATAL_ERROR "${example} (${failed}) said\n${said}\nexpected\n${EXPECTED_${example}}")
  endif()
  message("${example}:\n${said}")
endforeach()
