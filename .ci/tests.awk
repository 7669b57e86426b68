# Reads the output of `go test -v`. It prints one line for a package that passed, the failures of one that did not, and all skipped
# tests at the end. It fails if no test ran, or if a test was skipped for another reason than that a program of `lacks` is missing:
# awk -v lacks='zsh|PgBouncer' -f .ci/tests.awk. Without `lacks` no test may be skipped.

/^=== PAUSE/           { next }
/^=== (RUN|CONT|NAME)/ { test = $3; next }
/^ *--- PASS: /        { ran++; next }
/^ *--- SKIP: / {
	ran++
	if (lacks != "" && why[$3] ~ "^[a-z0-9_]+\\.go:[0-9]+: no (" lacks "): (install Debian's packages? |run go -C )") missing++
	else skipped[++skips] = $3 " (" why[$3] ")"
	next
}

/^(ok|\?) *\t/ || /^\t.*coverage: / { print; fflush(); block = ""; split("", why); next }
/^FAIL\t/ { printf "%s%s\n", block, $0; fflush(); block = ""; split("", why); next }

# The last line that a test prints before it is skipped is its reason.
{ why[test] = $0; sub(/^ +/, "", why[test]); block = block $0 "\n" }

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
	if (missing > 0) print missing " tests were skipped, each for a program that this system lacks"
}
