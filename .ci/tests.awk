# Reads `go test -v` and prints one line for a package that passed, everything that matters of one that failed, and at the end
# every test that skipped itself; it fails if there was one, or if no test ran at all.

/^=== (RUN|PAUSE|CONT|NAME)/ { next }
/^ *--- PASS: /              { ran++; next }
/^ *--- SKIP: /              { skipped[++skips] = $3 " (" why ")"; next }

/^(ok|\?) *\t/ || /^\t.*coverage: / { print; fflush(); block = ""; next }
/^FAIL\t/ { printf "%s%s\n", block, $0; fflush(); block = ""; next }

# The reason of a skip is the line before it.
{ why = $0; sub(/^ +/, "", why); block = block $0 "\n" }

END {
	printf "%s", block == "FAIL\n" ? "" : block
	if (skips > 0) {
		print "skipped, and nothing may be:"
		for (i = 1; i <= skips; i++) print "    " skipped[i]
		exit 1
	}
	if (ran == 0) {
		print "no test ran"
		exit 1
	}
}
