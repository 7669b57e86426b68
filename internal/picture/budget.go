package picture

// budget is how many bytes one decode may hold. A process may have 192 MB
// resident: about 28 when idle, 20 for what else goes on, the rest is this. It is
// enough for a picture of MaxPixels with 8 bytes a pixel, and for a progressive JPEG
// of MaxPixels as telephones make them (4:2:0).
const decodeBudget = 140 << 20

// MemoryLimit is what a process that decodes pictures should give to
// debug.SetMemoryLimit, in bytes: the budget and what the rest of the service keeps
// on its heap. Without it the collector lets the heap grow to a multiple of a
// picture before it looks. It bounds no other work: nothing else comes near.
const MemoryLimit = decodeBudget + 18<<20

// settleAt is from how many bytes on it is worth collecting and giving back.
const freeMemoryAbove = 8 << 20
