import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type PackResult, packFile, packStored, readFrames } from '../../../src/repository/objects/object-file.ts';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { fc } from '../../helpers/fast-check.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const TERMINATOR = '\\.\n\n\n';

const folder = suiteResource(() => temporaryFolder());
let number = 0;

function pack(content: Uint8Array): PackResult & { path: string } {
  number += 1;
  const source = join(folder.path, `${number}.source`);
  const path = join(folder.path, `${number}.object`);
  writeFileSync(source, content);
  const packed = packFile({
    source,
    destination: path,
    terminator: null,
    complete: () => true,
    wait: () => {},
    onBytes: () => {},
  });
  return { ...packed, path };
}

function read(object: { path: string; sha256: string; bytes: number }): Buffer {
  return Buffer.concat([...readFrames(object)].map((frame) => Buffer.from(frame)));
}

test.for([0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 17])(
  'content of %i bytes comes back, and is counted',
  (length) => {
    const content = Buffer.alloc(length, 'line of text\n');
    const object = pack(content);
    expect(object).toMatchObject({ bytes: length, lines: content.toString().split('\n').length - 1 });
    expect(read(object).equals(content)).toBe(true);
  },
);

test.for([0, 1, FRAME_BYTES, 2 * FRAME_BYTES + 17])('any zstd reads the object of %i bytes', (length) => {
  const content = Buffer.alloc(length, 'line of text\n');
  expect(zstdDecompressSync(readFileSync(pack(content).path)).equals(content)).toBe(true);
});

test('content is packed again unless it is that of an intact object', () => {
  const content = Buffer.alloc(2 * FRAME_BYTES + 17, 'line of text\n');
  const { path, sha256, bytes, storedBytes, storedSha256, lines } = pack(content);
  const stored = { path, sha256, bytes, storedBytes, storedSha256 };
  const source = join(folder.path, 'again.source');
  const packAgain = (now: Uint8Array) => {
    writeFileSync(source, now);
    return packStored({ source, terminator: '\n' }, stored);
  };
  expect(packAgain(content)).toEqual({ sha256, bytes, storedBytes, storedSha256, lines, terminated: false });
  expect(packAgain(Buffer.concat([content, content]))).toBeNull();
  expect(packAgain(Buffer.from(content).fill('x', FRAME_BYTES, FRAME_BYTES + 1))).toBeNull();
  const damaged = readFileSync(path);
  writeFileSync(path, damaged.fill((damaged[100] ?? 0) + 1, 100, 101));
  expect(packAgain(content)).toBeNull();
  rmSync(path);
  expect(packAgain(content)).toBeNull();
});

test('the same content makes the same object', () => {
  const content = Buffer.alloc(100_000, 'abc');
  expect(readFileSync(pack(content).path).equals(readFileSync(pack(content).path))).toBe(true);
});

test('a file is followed while it grows, up to its terminator, also across the border of a frame', () => {
  const body = 'x'.repeat(FRAME_BYTES - 3);
  const source = join(folder.path, 'growing.source');
  const destination = join(folder.path, 'growing.object');
  writeFileSync(source, '');
  const parts = [body, '\\.', '\n\n', '\n'];
  const wait = (): void => appendFileSync(source, parts.shift() ?? 'never written');
  const packed = packFile({
    source,
    destination,
    terminator: TERMINATOR,
    complete: () => parts.length === 0,
    wait,
    onBytes: () => {},
  });
  expect(packed).toMatchObject({ terminated: true, bytes: FRAME_BYTES + 2, lines: 3 });
});

test.for([0, 1, 2, 3, 4, 5, 6])(
  'a file that is complete is known by its terminator, %i bytes of it before a border',
  (before) => {
    number += 1;
    const source = join(folder.path, `${number}.source`);
    writeFileSync(source, `${'x'.repeat(FRAME_BYTES - before)}${TERMINATOR}`);
    const packed = packFile({
      source,
      destination: join(folder.path, `${number}.object`),
      terminator: TERMINATOR,
      complete: () => false,
      wait: () => {
        throw new Error('it waits for more');
      },
      onBytes: () => {},
    });
    expect(packed).toMatchObject({ terminated: true, bytes: FRAME_BYTES - before + TERMINATOR.length });
  },
);

test('a file whose writer ended before its terminator is known to be cut short', () => {
  const source = join(folder.path, 'cut.source');
  writeFileSync(source, 'a\nb\n\\.\n');
  const destination = join(folder.path, 'cut.object');
  const packed = packFile({
    source,
    destination,
    terminator: TERMINATOR,
    complete: () => true,
    wait: () => {},
    onBytes: () => {},
  });
  expect(packed.terminated).toBe(false);
});

test('damage anywhere is found', () => {
  const object = pack(Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i}\tsome text ${i * 7919}\n`).join('')));
  const whole = readFileSync(object.path);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ change, at);
      const path = join(folder.path, 'damaged.object');
      writeFileSync(path, damaged);
      try {
        // A bit that zstd itself passes over, such as the unused one of a frame's header, may change; the content may not.
        expect(read({ ...object, path }).equals(read(object))).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
    { numRuns: 300 },
  );
  const table = 8 + 8 + 9;
  for (let at = whole.length - table; at < whole.length; at += 1) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    const path = join(folder.path, 'damaged.object');
    writeFileSync(path, damaged);
    expect(() => read({ ...object, path })).toThrow();
  }
  writeFileSync(join(folder.path, 'short.object'), whole.subarray(0, whole.length - 20));
  expect(() => read({ ...object, path: join(folder.path, 'short.object') })).toThrow('cut short');
});
