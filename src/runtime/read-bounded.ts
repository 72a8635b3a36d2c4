/** Reads a body from outside, which may never end: throws `tooLarge` after `most` bytes. */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
  tooLarge = () => new Error('the response is too large'),
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > most) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
