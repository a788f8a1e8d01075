# Sourced by the scripts that run tests: where the test data and the peers are, and what is skipped without them.

if [ -z "${INGOT_SHARED:-}" ] && [ -d ../shared ]; then
  INGOT_SHARED=$(cd ../shared && pwd)
fi
if [ -n "${INGOT_SHARED:-}" ] && [ -d "$INGOT_SHARED" ]; then
  export INGOT_SHARED
  echo "test data: $INGOT_SHARED"
else
  unset INGOT_SHARED
  echo "**** no test data: set INGOT_SHARED, or put it into ../shared"
  echo "**** SKIPPED: the newest ONNX backend tests and the corpus of real models (Debian's libonnx-testdata is used)"
fi

if [ -z "${INGOT_PEERS:-}" ] && [ -f build/peers/installed.json ]; then
  INGOT_PEERS=$PWD/build/peers/node_modules
fi
if [ -n "${INGOT_PEERS:-}" ]; then
  export INGOT_PEERS
  echo "peers: $INGOT_PEERS"
else
  echo "**** SKIPPED: comparisons with ONNX Runtime, TF.js and TFLite (script/bootstrap could not install them)"
fi

jobs=${INGOT_JOBS:-$(nproc)}

# run_ctest <preset> [ctest options]: ctest's own summary, then whole tests that were skipped with what they said, and each
# skipped GoogleTest case with its reason.
run_ctest() {
  preset=$1
  shift
  status=0
  ctest --preset "$preset" --output-on-failure -j "$jobs" "$@" || status=$?
  awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
       /^Output:$/ { getline; getline; said = $0 }
       /^Test Skipped\.$/ || /^Test not run/ { print "**** SKIPPED: " test ": " said }' "build/$preset/Testing/Temporary/LastTest.log"
  awk '/: Skipped$/ { getline reason; reasons[reason]++; total++ }
       END { if (total) { print "**** " total " cases skipped:"; for (r in reasons) print "****   " reasons[r] " x " r } }' \
    "build/$preset/Testing/Temporary/LastTest.log"
  return "$status"
}
