import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CHUNK_BYTES,
  contentBytes,
  createOpener,
  createSealer,
  SealBroken,
  sealedBytes,
} from '../../../src/repository/encryption/sealed-format.ts';

const key = randomBytes(32);
const name = 'objects/aa/aa';
const SIZES = [0, 1, 65_487, 65_488, 65_489, 131_008, 131_009, 300_000];

function seal(content: Buffer, change: { key?: Buffer; name?: string } = {}): Buffer {
  const sealed = Buffer.alloc(sealedBytes(content.length));
  content.copy(sealed, sealed.length - content.length);
  createSealer({ key, name, total: sealed.length, ...change }).seal(sealed, 0);
  return sealed;
}

function open(sealed: Buffer, change: { key?: Buffer; name?: string } = {}): Buffer {
  return createOpener({ key, name, total: sealed.length, ...change }).open(Buffer.from(sealed), 0);
}

describe('encrypted content', () => {
  it.each(SIZES)('%i bytes are opened as they were, and their number is known from outside', (size) => {
    const content = randomBytes(size);
    const sealed = seal(content);
    expect(contentBytes(sealed.length)).toBe(size);
    expect(open(sealed).equals(content)).toBe(true);
    expect(size > 16 && sealed.includes(content.subarray(0, 16))).toBe(false);
  });

  it('is another every time, and piece by piece the same for one sealer', () => {
    const content = randomBytes(300_000);
    expect(seal(content).equals(seal(content))).toBe(false);
    const total = sealedBytes(content.length);
    const sealer = createSealer({ key, name, total });
    const piece = (start: number, end: number): Buffer => {
      const buffer = Buffer.alloc(end - start);
      const plain = content.subarray(contentBytes(start), contentBytes(end));
      plain.copy(buffer, buffer.length - plain.length);
      sealer.seal(buffer, start);
      return buffer;
    };
    const whole = piece(0, total);
    const pieces = [piece(0, CHUNK_BYTES), piece(CHUNK_BYTES, 3 * CHUNK_BYTES), piece(3 * CHUNK_BYTES, total)];
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    const opener = createOpener({ key, name, total });
    const [first = whole, ...rest] = pieces;
    const opened = [opener.open(first, 0)];
    for (const at of [3, 1]) opened.push(opener.open(rest[at === 1 ? 0 : 1] as Buffer, at * CHUNK_BYTES));
    const [one, last, middle] = opened as [Buffer, Buffer, Buffer];
    expect(Buffer.concat([one, middle, last]).equals(content)).toBe(true);
  });
});

describe('changed encrypted content is detected', () => {
  const content = randomBytes(200_000);
  const sealed = seal(content);
  const other = seal(content);
  const chunk = (of: Buffer, number: number): Buffer => of.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES);

  function flipped(at: number): Buffer {
    const copy = Buffer.from(sealed);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  }

  it.each<[string, Buffer]>([
    ['a bit of the magic', flipped(0)],
    ['a bit of the salt', flipped(20)],
    ['a bit of the first chunk', flipped(100)],
    ['a bit of a tag', flipped(CHUNK_BYTES - 1)],
    ['a bit at the end', flipped(sealed.length - 1)],
    ['cut off between two chunks', sealed.subarray(0, 2 * CHUNK_BYTES)],
    ['cut off within a chunk', sealed.subarray(0, 2 * CHUNK_BYTES + 5000)],
    ['cut off within a tag', sealed.subarray(0, 2 * CHUNK_BYTES + 7)],
    ['cut off within the header', sealed.subarray(0, 20)],
    ['nothing left', Buffer.alloc(0)],
    ['something appended', Buffer.concat([sealed, Buffer.alloc(1000)])],
    ['two chunks exchanged', Buffer.concat([chunk(sealed, 0), chunk(sealed, 2), chunk(sealed, 1), chunk(sealed, 3)])],
    ['a chunk twice', Buffer.concat([chunk(sealed, 0), chunk(sealed, 1), chunk(sealed, 1), chunk(sealed, 3)])],
    ['a chunk left out', Buffer.concat([chunk(sealed, 0), chunk(sealed, 2), chunk(sealed, 3)])],
    ['a chunk of another file', Buffer.concat([sealed.subarray(0, CHUNK_BYTES), other.subarray(CHUNK_BYTES)])],
  ])('%s', (_what, wrong) => {
    expect(() => open(wrong)).toThrow(SealBroken);
  });

  it('rejects another key, and another name', () => {
    expect(() => open(sealed, { key: randomBytes(32) })).toThrow(SealBroken);
    expect(() => open(sealed, { name: 'objects/aa/ab' })).toThrow(SealBroken);
  });
});
