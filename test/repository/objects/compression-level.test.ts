import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  chooseLevel,
  createLevelChooser,
  LEVELS,
  type Meter,
} from '../../../src/repository/objects/compression-level.ts';
import { packFile } from '../../../src/repository/objects/object-file.ts';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { fc } from '../../helpers/fast-check.ts';
import { temporaryFolder } from '../../helpers/postgres-server.ts';

const load = fc.record({
  level: fc.constantFrom(...LEVELS.map(({ level }) => level)),
  busy: fc.double({ min: 0, max: 1, noNaN: true }),
  unused: fc.double({ min: 0, max: 1, noNaN: true }),
});

test('a thread that waits, on a machine with unused processors, compresses with the strongest level', () => {
  expect(chooseLevel({ level: 1, busy: 0.04, unused: 0.9 })).toBe(9);
});

test('a busy machine gets the lightest level, however long the thread waits', () => {
  fc.assert(fc.property(load, (each) => chooseLevel({ ...each, unused: Math.min(each.unused, 0.1) }) === 1));
});

test('a thread that compresses all the time gets a lighter level, until there is none', () => {
  const down = LEVELS.slice(1).map(({ level }) => chooseLevel({ level, busy: 1, unused: 0.9 }) < level);
  expect(down).not.toContain(false);
  expect(chooseLevel({ level: 1, busy: 1, unused: 0.9 })).toBe(1);
});

test('no level makes a waiting thread the bottleneck, and none takes more than half of what is unused', () => {
  const costOf = (wanted: number): number => LEVELS.find(({ level }) => level === wanted)?.cost ?? Number.NaN;
  fc.assert(
    fc.property(load, ({ level, busy, unused }) => {
      const chosen = chooseLevel({ level, busy, unused });
      const then = (busy * costOf(chosen)) / costOf(level);
      return chosen === 1 || (then <= 0.6 && then - busy <= unused / 2);
    }),
  );
});

/** A machine whose time passes by itself, and with processors of which a share is unused. */
function meter(unused: number): Meter & { pass(ms: number): void } {
  let time = 0;
  return {
    pass: (ms) => {
      time += ms;
    },
    now: () => {
      time += 1;
      return time;
    },
    processors: () => ({ unused: unused * time, all: time }),
  };
}

test.each([
  { what: 'waits for a slow server', waiting: 300, unused: 0.8, level: 5, comparison: 'zstd -5' },
  { what: 'has no unused processor', waiting: 300, unused: 0.05, level: 1, comparison: 'zstd -1' },
])('a file whose thread $what is no larger than with $comparison', async ({ waiting, unused, level }) => {
  await using folder = await temporaryFolder();
  const source = join(folder.path, 'source');
  const content = rows(12 * FRAME_BYTES);
  writeFileSync(source, '');
  const output = openSync(source, 'a');
  const machine = meter(unused);
  let written = 0;
  const packed = packFile({
    source,
    destination: join(folder.path, 'object'),
    terminator: null,
    complete: () => written === content.length,
    wait() {
      machine.pass(waiting);
      written += writeSync(output, content, written, Math.min(FRAME_BYTES, content.length - written));
    },
    onBytes: () => {},
    levels: createLevelChooser(machine),
  });
  const whole = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  expect(packed.bytes).toBe(content.length);
  expect(readFileSync(join(folder.path, 'object')).length).toBe(packed.storedBytes);
  expect(packed.storedBytes).toBeLessThanOrEqual(whole.length);
});

/** Lines of COPY, as of a log of requests. */
function rows(bytes: number): Buffer {
  const words = ['shoes', 'lamps', 'books', 'garden', 'kitchen', 'toys', 'music', 'bicycles', 'tea', 'tools'];
  const lines: string[] = [];
  let seed = 7;
  /** Mulberry32: with a generator of a short period, far matches would count. */
  const next = (most: number): number => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
  for (let length = 0, id = 1; length < bytes; id += 1) {
    const line = `${id}\t${next(50_000)}\t2024-01-${10 + next(18)} 1${next(9)}:${10 + next(49)}:${10 + next(49)}\t${next(100_000) / 100}\t/shop/${words[next(10)]}/${next(5000)}\tMozilla/5.0 (X11; Linux x86_64) Chrome/${next(1201)}.0\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, bytes);
}
