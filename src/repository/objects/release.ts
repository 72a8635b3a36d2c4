/** Up to this size a buffer may be in Node's shared pool, which has 64 kB, and some bytes more since Node 26. */
const POOL_BYTES = 128 * 1024;

export function ownsMemory(bytes: Uint8Array<ArrayBuffer>): boolean {
  return bytes.buffer.byteLength > Math.max(POOL_BYTES, 2 * Buffer.poolSize);
}

/**
 * Frees the memory of a buffer at once; it must not be used afterwards. The garbage collector otherwise lets some 60 MB
 * per thread accumulate.
 */
export function release(bytes: Uint8Array<ArrayBuffer>): void {
  if (ownsMemory(bytes)) bytes.buffer.transfer(0);
}

/** Frees a chunk of a pipe, which owns its memory unless it is a part of another one. */
export function releaseChunk(chunk: Uint8Array<ArrayBuffer>): void {
  if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0);
}
