import { releaseChunk } from '../../../repository/objects/release.ts';

/** Output between marks, in pieces whose memory is reused, and `null` for each mark. */
export async function* splitAtMark(
  chunks: AsyncIterable<Buffer<ArrayBuffer>>,
  mark: Buffer,
): AsyncGenerator<Buffer | null> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let rest: Buffer = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    for (let at = rest.indexOf(mark); at !== -1; at = rest.indexOf(mark)) {
      if (at > 0) yield rest.subarray(0, at);
      yield null;
      rest = rest.subarray(at + mark.length);
    }
    const whole = rest.length - begunBytes(rest, mark);
    held = Buffer.from(rest.subarray(whole));
    if (whole > 0) yield rest.subarray(0, whole);
    releaseChunk(chunk);
  }
  if (held.length > 0) yield held;
}

function begunBytes(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length -= 1) {
    if (bytes.subarray(-length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
