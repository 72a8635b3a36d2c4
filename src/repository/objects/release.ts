/** Smaller ones may lie in the pool that Node shares between buffers. */
const OWN_MEMORY = 256 * 1024;

/** Whether the memory is the buffer's own, so that it can be handed over or given back. */
export function ownsMemory(bytes: Uint8Array<ArrayBuffer>): boolean {
  return bytes.buffer.byteLength >= OWN_MEMORY;
}

/**
 * Gives the memory of a buffer back at once, which nobody may use afterwards: the garbage collector lets some sixty
 * megabytes a thread lie before it looks.
 */
export function release(bytes: Uint8Array<ArrayBuffer>): void {
  if (ownsMemory(bytes)) bytes.buffer.transfer(0);
}

/** The same of what came out of a pipe: however small, it lies in memory of its own, unless it is a part of another. */
export function releaseChunk(chunk: Uint8Array<ArrayBuffer>): void {
  if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0);
}
