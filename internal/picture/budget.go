package picture

// budget is how many bytes one decode may hold. The process may have 192 MB
// resident: 25 when idle, 16 for what else goes on, the rest is this.
const budget = 148 << 20
