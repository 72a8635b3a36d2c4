import { expect, test } from 'vitest';
import { benchmarksPage, type PageFigures, readmeWithTimes } from '../../.ci/bench/page.ts';

const FIGURES: PageFigures = {
  machine: '2 × a processor, 24 GB',
  versions: ['tool 0.1.0', 'pg_dump 15.18'],
  at: '2026-11-27',
  commit: 'abc1234',
  rounds: 3,
  sizes: ['3 MB', '443 MB', '500 tables'],
  rows: [
    {
      task: 'dump',
      command: 'pg_dump -Fd',
      isOwn: false,
      seconds: { '3 MB': [0.2, 0.1, 0.3], '443 MB': [12, 10, 11] },
    },
    { task: 'dump', command: 'pg_dump -Fc', isOwn: false, seconds: { '3 MB': [0.1], '443 MB': [20.4] } },
    { task: 'dump', command: 'tool build', isOwn: true, seconds: { '3 MB': [0.3], '443 MB': [5.5, 5.4, 5.6] } },
    { task: 'dump', command: 'tool build, again', isOwn: true, seconds: { '3 MB': [0.2], '443 MB': [1.1] } },
    { task: 'restore', command: 'pg_restore -j2', isOwn: false, seconds: { '443 MB': [10] } },
    { task: 'restore', command: 'tool load', isOwn: true, seconds: { '443 MB': [15] } },
    { task: 'return to the start', command: 'CREATE DATABASE', isOwn: false, seconds: { '443 MB': [1] } },
    { task: 'return to the start', command: 'tool reset', isOwn: true, seconds: { '443 MB': [0.5] } },
    { task: 'save', command: 'tool save', isOwn: true, seconds: { '443 MB': [4] } },
  ],
};

test('the page has median and spread of each command, and of ours the ratio to the fastest alternative: wins and losses', () => {
  const lines = benchmarksPage(FIGURES)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.replaceAll(/ +/g, ' '));
  expect(lines.slice(0, 1).concat(lines.slice(2))).toEqual([
    '| task | command | 3 MB | 443 MB | 500 tables |',
    '| dump | `pg_dump -Fd` | 0.20±0.10 | 11±1.00 | |',
    '| dump | `pg_dump -Fc` | 0.10±0.00 | 20±0.00 | |',
    '| dump | `tool build` | 0.30±0.00 **×3.00** | 5.50±0.10 **×0.50** | |',
    '| dump | `tool build, again` | 0.20±0.00 **×2.00** | 1.10±0.00 **×0.10** | |',
    '| restore | `pg_restore -j2` | | 10±0.00 | |',
    '| restore | `tool load` | | 15±0.00 **×1.50** | |',
    '| return to the start | `CREATE DATABASE` | | 1.00±0.00 | |',
    '| return to the start | `tool reset` | | 0.50±0.00 **×0.50** | |',
    '| save | `tool save` | | 4.00±0.00 | |',
  ]);
});

test('the README has the times of the largest database, replaced as often as they are measured', () => {
  const readme = 'above\n\n<!-- Times: npm run bench -- page -->\n\nold\n\n<!-- End of times -->\n\nbelow\n';
  const written = readmeWithTimes(readme, FIGURES);
  expect(written.replaceAll(/ +/g, ' ')).toContain('| `tool load` | 15 s | 10 s | `pg_restore -j2` |\n');
  expect(written).toMatch(/^above\n\n<!-- Times[\s\S]*End of times -->\n\nbelow\n$/);
  expect(written).not.toContain('old');
  expect(readmeWithTimes(written, FIGURES)).toBe(written);
  expect(() => readmeWithTimes('without a place', FIGURES)).toThrow('no place for times');
});
