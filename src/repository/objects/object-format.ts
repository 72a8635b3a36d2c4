import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/**
 * How an object's bytes lie in its file: independent Zstandard frames of at most `FRAME_BYTES` of content, then the
 * seek table of the Zstandard seekable format in a skippable frame. Any `zstd -d` reads it; we read it frame by frame.
 * https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md
 */
export const FRAME_BYTES = 1024 * 1024;

/** A frame that says it is larger is taken for damage, not for a reason to allocate. */
const LARGEST_FRAME_BYTES = 64 * 1024 * 1024;

/**
 * Tables as text are compressed at the speed at which a server gives them out: level 1, with a table of matches that
 * stays in the processor's first cache. Higher levels cost twice the time for the same size.
 */
const COMPRESSION = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 12 };
const SKIPPABLE_MAGIC = 0x184d2a5e;
const SEEKABLE_MAGIC = 0x8f92eab1;
const SKIPPABLE_HEADER_BYTES = 8;
const ENTRY_BYTES = 8;
export const FOOTER_BYTES = 9;

export interface Frame {
  storedBytes: number;
  bytes: number;
}

/** With room for the whole result zstd compresses in one pass, without copying into buffers of its own. */
const ROOM = FRAME_BYTES + FRAME_BYTES / 64;

/** Smaller ones than this would only make the table large; but for the last one, and those of an empty object. */
const SMALLEST_FRAME_BYTES = 64 * 1024;

/** More than any object of so much content has: what is larger is not fetched, and not unpacked. */
export function largestObject(bytes: number): number {
  return bytes + Math.ceil(bytes / 64) + mostFrames(bytes) * (ENTRY_BYTES + 512) + FRAME_BYTES / 16;
}

function mostFrames(bytes: number): number {
  return Math.ceil(bytes / SMALLEST_FRAME_BYTES) + 1;
}

export function compressFrame(content: Uint8Array): Buffer<ArrayBuffer> {
  return zstdCompressSync(content, {
    chunkSize: ROOM,
    params: COMPRESSION,
  });
}

/** Throws when the frame is damaged, or does not hold what the table says. */
export function decompressFrame(stored: Uint8Array, { bytes }: Frame): Buffer<ArrayBuffer> {
  // With a byte to spare the first buffer is seen to be the last.
  const room = { chunkSize: Math.max(64, bytes + 1), maxOutputLength: Math.max(64, bytes) };
  const content = zstdDecompressSync(stored, room);
  if (content.length !== bytes) throw damaged();
  return content;
}

export function encodeSeekTable(frames: Frame[]): Buffer {
  const contentBytes = frames.length * ENTRY_BYTES + FOOTER_BYTES;
  const table = Buffer.alloc(SKIPPABLE_HEADER_BYTES + contentBytes);
  table.writeUInt32LE(SKIPPABLE_MAGIC, 0);
  table.writeUInt32LE(contentBytes, 4);
  frames.forEach(({ storedBytes, bytes }, index) => {
    table.writeUInt32LE(storedBytes, SKIPPABLE_HEADER_BYTES + index * ENTRY_BYTES);
    table.writeUInt32LE(bytes, SKIPPABLE_HEADER_BYTES + index * ENTRY_BYTES + 4);
  });
  const footer = table.length - FOOTER_BYTES;
  table.writeUInt32LE(frames.length, footer);
  table.writeUInt32LE(SEEKABLE_MAGIC, footer + 5);
  return table;
}

/** How many bytes at the end of the object the seek table takes; throws when the footer is not one. */
export function seekTableBytes(footer: Buffer): number {
  if (footer.length !== FOOTER_BYTES || footer.readUInt32LE(5) !== SEEKABLE_MAGIC) throw damaged();
  return SKIPPABLE_HEADER_BYTES + footer.readUInt32LE(0) * ENTRY_BYTES + FOOTER_BYTES;
}

/** The frames before the table, of an object of `storedBytes` that holds `bytes`; throws when they are not these. */
export function decodeSeekTable(table: Buffer, { storedBytes, bytes }: Frame): Frame[] {
  if (table.length > mostFrames(bytes) * ENTRY_BYTES + SKIPPABLE_HEADER_BYTES + FOOTER_BYTES) throw damaged();
  const frames: Frame[] = [];
  const footer = table.length - FOOTER_BYTES;
  for (let at = SKIPPABLE_HEADER_BYTES; at < footer; at += ENTRY_BYTES) {
    frames.push({ storedBytes: table.readUInt32LE(at), bytes: table.readUInt32LE(at + 4) });
  }
  const whole = frames.reduce((sum, frame) => sum + frame.storedBytes, table.length);
  const isTooLarge = (frame: Frame): boolean =>
    frame.bytes > LARGEST_FRAME_BYTES || frame.storedBytes > largestObject(frame.bytes);
  if (whole !== storedBytes || frames.some(isTooLarge)) throw damaged();
  if (frames.reduce((sum, frame) => sum + frame.bytes, 0) !== bytes) throw contentDiffers();
  // We may not need the rest of the table; whoever reads the object with other programs does.
  if (!table.equals(encodeSeekTable(frames))) throw damaged();
  return frames;
}

/** Of content that is not what the manifest says. */
export function contentDiffers(): Error {
  return new Error('the content does not match its checksum');
}

function damaged(): Error {
  return new Error('the object has no valid seek table: it is cut short or damaged');
}
