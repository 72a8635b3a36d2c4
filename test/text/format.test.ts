import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumberOf,
  formatTime,
} from '../../src/text/format.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [12_345_678, '12.3 MB'],
  [99_960_000, '100 MB'],
  [999_499_999, '999 MB'],
  [999_500_000, '1.0 GB'],
])('%d bytes read %s', (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});

test.each([
  [340, '340 ms'],
  [4123, '4.1 s'],
  [59_960, '1 min 00 s'],
  [125_000, '2 min 05 s'],
  [11_220_000, '3 h 07 min'],
])('%d milliseconds read %s', (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});

test.each([
  [10_000, 'just now'],
  [300_000, '5 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [12 * 86_400_000, '12 days ago'],
])('%d milliseconds of age read %s', (milliseconds, words) => {
  expect(formatAge(milliseconds)).toBe(words);
});

test('counts are grouped in thousands, with their noun', () => {
  expect(formatCount(1_234_567)).toBe('1,234,567');
  expect(formatNumberOf(1, 'table')).toBe('1 table');
  expect(formatNumberOf(200_123, 'row')).toBe('200,123 rows');
});

test.each([
  ['Europe/Berlin', '2026-07-01T12:30:00Z', '2026-07-01 14:30+02'],
  ['Europe/Berlin', '2026-12-31T23:30:00Z', '2027-01-01 00:30+01'],
  ['America/St_Johns', '2026-01-01T03:00:00Z', '2025-12-31 23:30-03:30'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01 05:45+05:45'],
  ['UTC', '2026-01-01T00:00:00Z', '2026-01-01 00:00+00'],
])('a time in %s is local, with its offset from UTC', (zone, time, shown) => {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    expect(formatTime(time)).toBe(shown);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

test('counts of one sentence are formatted alike', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const files = ['src', 'screens', 'components', 'hub'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const sources = files.filter((file) => /\.tsx?$/.test(file));
  const mixed = sources.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    return [...text.matchAll(/\$\{(?!format)[^{}]*\} of \$\{format(Count|NumberOf)/g)].map(
      ([found]) => `${file}: ${found}`,
    );
  });
  expect(mixed).toEqual([]);
});
