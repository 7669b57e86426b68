package picture

// decodeBudget is how many bytes one decode may hold. A process may use 192 MB:
// about 28 when idle, 20 for other requests, the rest is this. It is enough for a
// picture of MaxPixels with 8 bytes a pixel, and for a progressive 4:2:0 JPEG of MaxPixels.
const decodeBudget = 140 << 20

// MemoryLimit is the value for debug.SetMemoryLimit, in bytes, in a process that
// decodes pictures: the budget and the rest of the heap. Without it the heap grows
// to a multiple of a picture before the collector runs.
const MemoryLimit = decodeBudget + 18<<20

// freeMemoryAbove is the decode size, in bytes, above which memory is returned to
// the system between two steps.
const freeMemoryAbove = 8 << 20
