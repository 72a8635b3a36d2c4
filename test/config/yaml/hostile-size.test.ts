import { expect, test } from 'vitest';
import { MAX_FLAWS, parseText } from '../../../src/config/yaml/parse-text.ts';
import { parseYaml } from '../../../src/config/yaml/yaml-source.ts';

const SIZE = 180_000;

/** Linear parsing takes about 1 s on a slow machine, quadratic parsing 40 s. */
const MOST_CPU_MS = 4000;

test.for(['{}', '[]', '"', '! ', '&a ', ']', '%a\n', '- a\nb\n'])(
  'a file of 180 kB of %j has a bounded number of problems, at little cost',
  (unit) => {
    const text = unit.repeat(SIZE / unit.length);
    const { value, cpuMs } = measured(() => parseText(text).flaws.length);
    expect(value).toBe(MAX_FLAWS);
    expect(cpuMs).toBeLessThan(MOST_CPU_MS);
  },
);

test('thousands of merge keys in a map of thousands of keys are read in linear time', () => {
  const keys = Array.from({ length: 9000 }, (_, index) => `  k${index}: 1\n`);
  const text = `x: &a { b: 1, k0: 2 }\ny:\n${'  <<: *a\n'.repeat(3000)}${keys.join('')}`;
  const { value, cpuMs } = measured(() => parseYaml(text).tree.y);
  expect(value).toMatchObject({ b: 1, k0: 1, k8999: 1 });
  expect(cpuMs).toBeLessThan(MOST_CPU_MS);
});

function measured<T>(work: () => T): { value: T; cpuMs: number } {
  const before = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(before);
  return { value, cpuMs: (user + system) / 1000 };
}
