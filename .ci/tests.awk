# Reads the output of `go test -v`. It prints one line for a package that passed, the failures of one that did not, and all skipped
# tests at the end. It fails if a test was skipped or if no test ran.

/^=== (RUN|PAUSE|CONT|NAME)/ { next }
/^ *--- PASS: /              { ran++; next }
/^ *--- SKIP: /              { skipped[++skips] = $3 " (" why ")"; next }

/^(ok|\?) *\t/ || /^\t.*coverage: / { print; fflush(); block = ""; next }
/^FAIL\t/ { printf "%s%s\n", block, $0; fflush(); block = ""; next }

# The line before a skip is its reason.
{ why = $0; sub(/^ +/, "", why); block = block $0 "\n" }

END {
	printf "%s", block == "FAIL\n" ? "" : block
	if (skips > 0) {
		print "skipped tests, which fail here:"
		for (i = 1; i <= skips; i++) print "    " skipped[i]
		exit 1
	}
	if (ran == 0) {
		print "no test ran"
		exit 1
	}
}
