import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nextSlice } from '../../.ci/prove/next-slice.ts';
import { parseOptions } from '../../.ci/prove/options.ts';
import { journalPage, proofPage } from '../../.ci/prove/page.ts';
import {
  journalOf,
  linesOf,
  type Proof,
  type ProveLine,
  parseJournal,
  proofOf,
  roundsLeft,
} from '../../.ci/prove/proof.ts';
import { trials } from '../helpers/trials.ts';
import { PARTS, PROMISES } from '../prove/promises.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const part = 'data/postgres';
const passed = (round: number, second: number): ProveLine => ({
  ...{ kind: 'round', part, seed: 7, round, ms: 1500, at: at(second) },
});
const failed = (round: number | null, second: number): ProveLine => ({
  ...{ kind: 'failure', part, seed: 7, round, message: 'it is lost | here \u202e\x1b[2J\n\nRepeat: x', at: at(second) },
});
const begun: ProveLine = {
  ...{ kind: 'begin', seed: 7, commit: 'abc', node: '24.0.0', system: 'Linux', at: at(0) },
  asked: { [part]: 5 },
};

it('docs/proof.md and the journal are generated from test/prove/proof.json', () => {
  const proof = JSON.parse(readFileSync('test/prove/proof.json', 'utf8')) as Proof;
  expect(readFileSync('docs/proof.md', 'utf8')).toBe(proofPage(proof, PARTS));
  expect(readFileSync('test/prove/journal.md', 'utf8')).toBe(journalPage(proof, PARTS));
});

it('every part of the promises has a test of its name in its file', () => {
  for (const { name, file } of PARTS) {
    const text = readFileSync(file, 'utf8');
    // By name, or by a template that ends in the kind of the server.
    const template = new RegExp(`trials\\(\`${name.replace(/\/.*/, '')}/(\\w+-)?\\$`);
    expect(text.includes(`'${name}'`) || template.test(text), `${name} in ${file}`).toBe(true);
  }
  expect(Object.keys(PROMISES).length).toBeGreaterThanOrEqual(13);
});

describe('a journal', () => {
  const lines = [begun, passed(0, 1), failed(1, 2), passed(2, 3), failed(3, 4), passed(3, 5)];

  it('lists the completed rounds, and the findings with their present state', () => {
    const found = proofOf(lines, PARTS)?.parts.find(({ name }) => name === part);
    expect(found).toMatchObject({ asked: 5, rounds: 4, seconds: 5 });
    expect(found?.findings).toEqual([
      {
        round: 1,
        message: 'it is lost | here \u202e\x1b[2J',
        repeat: `npm run prove -- --only ${part} --seed 7 --round 1`,
        passes: false,
      },
      {
        round: 3,
        message: 'it is lost | here \u202e\x1b[2J',
        repeat: `npm run prove -- --only ${part} --seed 7 --round 3`,
        passes: true,
      },
    ]);
  });

  it('distinguishes rounds with servers of other suites from those of this machine', () => {
    const elsewhere = [passed(0, 6), passed(4, 7), failed(5, 8)].map((line) => ({ ...line, suite: 'trixie' }));
    const all = [...lines, ...elsewhere];
    const proof = proofOf(all, PARTS);
    expect(proof?.parts).toEqual(proofOf(lines, PARTS)?.parts);
    expect(proof?.suites).toMatchObject([{ suite: 'trixie', parts: [{ name: part, rounds: 3 }] }]);
    expect(proof?.suites[0]?.parts[0]?.findings[0]?.repeat).toContain('--suite trixie --seed 7 --round 5');
    expect(roundsLeft(linesOf(all, 'trixie'), part, 3)).toEqual([5, 1, 2]);
    if (proof) expect(journalPage(proof, PARTS)).toMatch(/\| trixie \| `data\/postgres` \| 3 \| 1 \(1 open\) \|/);
  });

  it('is made again from the proof, for another machine', () => {
    const all = [
      ...lines,
      failed(null, 10),
      { kind: 'server', part, server: 'PostgreSQL 15' } as const,
      { ...passed(1, 9), suite: 'sid' },
    ];
    const proof = proofOf(all, PARTS);
    expect(proof && proofOf(journalOf(proof), PARTS)).toEqual(proof);
    expect(proof && roundsLeft(linesOf(journalOf(proof), null), part, 5)).toEqual([1, 4]);
  });

  it('leaves the failed rounds first, then those that were not made', () => {
    expect(roundsLeft(lines, part, 6)).toEqual([1, 4, 5]);
    expect(roundsLeft(lines, 'data/mysql', 2)).toEqual([0, 1]);
  });

  it('accepts a journal that ends in the middle of a line', () => {
    expect(parseJournal(`${JSON.stringify(begun)}\n{"kind":"round","par`)).toEqual([begun]);
  });

  it('makes a page in which a part without rounds is not run', () => {
    const page = journalPage(proofOf(lines, PARTS) as Proof, PARTS);
    expect(page).toMatch(/^\| `data\/mysql` .*\| not run \| 500 \|/m);
    expect(page).toMatch(/^\| `data\/postgres` .*\| 4 \| 2,000 \| 5 s/m);
    expect(page).toContain('it is lost \\| here \\<U+202E\\>\\<U+001B\\>\\[2J');
  });
});

describe('next slice', () => {
  const parts = PARTS.filter(({ promise }) => promise === PROMISES.data.promise).slice(0, 3);
  const [first, second, third] = parts.map(({ name }) => name);
  const of = (name: string | undefined, rounds: number, ms: number): ProveLine[] =>
    Array.from({ length: rounds }, (_, round) => ({
      ...{ kind: 'round', part: name ?? '', seed: 7, round, ms, at: at(round) },
    }));
  const choose = (lines: ProveLine[], given: { tried?: number[]; givenUp?: string[] } = {}) =>
    nextSlice({
      ...{ parts, roundsOf: () => 20, lines },
      tried: new Map([[first ?? '', new Set(given.tried)]]),
      givenUp: new Set(given.givenUp),
    });

  it('is a part without rounds, shortly', () => {
    expect(choose(of(first, 3, 1000))).toMatchObject({ part: { name: second }, minutes: 1 });
  });

  it('is then a part that is soon complete, with all of its rounds', () => {
    const slice = choose([...of(first, 3, 1e7), ...of(second, 12, 1000), ...of(third, 1, 2e7)]);
    expect(slice).toMatchObject({ part: { name: second }, rounds: [12, 13, 14, 15, 16, 17, 18, 19] });
  });

  it('is then that farthest from its number, and nothing when all is made or given up', () => {
    const lines = [...of(first, 3, 1e7), ...of(second, 20, 1000), ...of(third, 1, 1e7)];
    expect(choose(lines)).toMatchObject({ part: { name: third }, minutes: 10 });
    expect(choose(lines, { givenUp: [third ?? ''] })?.part.name).toBe(first);
    const all = Array.from({ length: 20 }, (_, round) => round);
    expect(choose(lines, { givenUp: [third ?? ''], tried: all })).toBeNull();
  });
});

describe('the options', () => {
  const shareOf = (rounds: string, name: string): number | undefined => {
    const options = parseOptions(['--rounds', rounds], PARTS);
    const found = options.parts.find((one) => one.name === name);
    return found && options.roundsOf(found);
  };

  it('divide rounds among the parts of a promise, or take a share of those of the table', () => {
    const [first] = PARTS;
    expect(shareOf('10%', first?.name ?? '')).toBe(Math.round((first?.rounds ?? 0) / 10));
    expect(shareOf('1', first?.name ?? '')).toBe(1);
    expect(parseOptions(['--only', 'kills'], PARTS).parts.map(({ name }) => name)).toContain('kills/postgres');
  });

  it('takes names of promises as words, and "equal" for equal data', () => {
    const namesOf = (words: string[]): string[] => parseOptions(words, PARTS).parts.map(({ name }) => name);
    expect(namesOf(['equal'])).toEqual(namesOf(['--only', 'data']));
    expect(namesOf(['equal/mysql-defaults', 'data/mysql'])).toEqual(['data/mysql-defaults', 'data/mysql']);
  });

  it.each([
    [['--suite', 'buzz'], 'No suite "buzz"'],
    [['--suite', 'sid', '--only', 'faults'], 'No part of "faults"'],
    [['--only', 'nothing'], 'No promise "nothing"'],
    [['--rounds', 'many'], '--rounds is a number'],
    [['--rounds', '0'], '--rounds is a number'],
    [['--seed', '-1'], ''],
    [['--round', '3'], '--round repeats one round'],
    [['--minutes', '0'], '--minutes is a number'],
    [['--all'], "Unknown option '--all'"],
  ])('%s is an error', (words, message) => {
    expect(() => parseOptions(words as string[], PARTS)).toThrow(message as string);
  });
});

it('the rounds of a part are the same ones in each run, and differ', async () => {
  const draw = async (): Promise<number[]> => {
    const drawn: number[] = [];
    await trials('faults/often').each(async ({ seed, fraction, random }) => void drawn.push(seed, fraction, random()));
    return drawn;
  };
  const numbers = await draw();
  expect(await draw()).toEqual(numbers);
  expect(new Set(numbers).size).toBe(numbers.length);
});

it('a round that fails is named with the command that repeats it; of a batch, the one round that fails', async () => {
  const fails = trials('faults/often').each(async () => {
    throw new Error('lost');
  });
  await expect(fails).rejects.toThrow(/lost\n\nRepeat: npm run prove -- --only faults\/often --seed \d+ --round 0/);
  const batch = trials('faults/often').eachBatch(2, async (rounds) => {
    if (rounds.some(({ number }) => number === 1)) throw new Error('lost');
  });
  await expect(batch).rejects.toThrow(/--round 1$/);
  const together = trials('faults/often').eachBatch(2, async (rounds) => {
    if (rounds.length > 1) throw new Error('lost');
  });
  await expect(together).rejects.toThrow('rounds 0,1, each of which passes alone');
});

it('rounds that are alike come together, each once', async () => {
  const batches: number[][] = [];
  const isOdd = ({ number }: { number: number }): boolean => number % 2 === 1;
  await trials('faults/often').eachBatch(2, async (rounds) => void batches.push(rounds.map(({ number }) => number)), {
    alike: isOdd,
  });
  const all = batches.flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(1);
  expect(batches.filter((batch) => new Set(batch.map((number) => number % 2)).size > 1)).toEqual([]);
});

it('a part counts the rounds that have passed, also when it ends before the last one', async () => {
  const part = trials('faults/often');
  const rounds = part.each(async ({ number }) => {
    if (number === 1) throw new Error('lost');
  });
  await expect(rounds).rejects.toThrow('lost');
  expect(part.count).toBe(1);
});
