import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { PARTS, type PartName } from '../prove/promises.ts';
import { randomFrom } from './random.ts';

/** What `npm run prove` asks of one run of Vitest: the content of the file that PROVE_PLAN names. */
export interface ProvePlan {
  part: string;
  seed: number;
  rounds: number[];
  /** A line is added for each round. */
  journal: string;
  /** When this file exists, no further round begins. */
  stop: string;
  /** No further round begins after this moment (milliseconds since 1970), but one is always made. */
  until: number;
  /** Written into each line: the suite of Debian whose servers are tried. */
  suite?: string;
  /** The process that asks; when it is gone, no further round begins. */
  asker: number;
}

/** A line of the journal. */
export type JournalLine =
  | { kind: 'round'; part: string; seed: number; round: number; ms: number; at: string }
  | { kind: 'failure'; part: string; seed: number; round: number | null; message: string; at: string }
  | { kind: 'server'; part: string; server: string };

export interface Round {
  number: number;
  /** Of this round alone. */
  seed: number;
  /** From 0 to 1, evenly spread over the rounds: for moments of a run. */
  fraction: number;
  random: () => number;
  oneOf<Item>(items: readonly Item[]): Item;
  /** For `fc.assert`: this round's case. */
  run: { seed: number; numRuns: 1; endOnFailure: false };
}

export interface BatchOptions {
  /** Only rounds for which it is the same come together. */
  alike?: (round: Round) => unknown;
}

export interface Trials {
  /** Rounds that have passed: a run may end before all of them. */
  readonly count: number;
  /** None is made by this command, so that no server has to start. */
  readonly isEmpty: boolean;
  /** For the test; 0 when `npm run prove` has asked for another part. */
  timeout: number;
  /** Enough rounds to expect each of their outcomes. */
  readonly isLong: boolean;
  /** The title, with which `npm run prove` finds the test. */
  title(text: string): string;
  each(act: (round: Round) => Promise<unknown>): Promise<void>;
  /** Several rounds at once; when they fail, one after the other, to find out which one it is. */
  eachBatch(size: number, act: (rounds: Round[]) => Promise<unknown>, options?: BatchOptions): Promise<void>;
}

const FULL = process.env.TEST_FULL === '1';
/** The same cases in each `npm test`, so that a red test is the change's doing; new ones in the long suites. */
const SEED = FULL ? Math.floor(Math.random() * 2 ** 31) : 20261122;
const LIMIT_SECONDS = 240;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

const plan: ProvePlan | null = process.env.PROVE_PLAN
  ? (JSON.parse(readFileSync(process.env.PROVE_PLAN, 'utf8')) as ProvePlan)
  : null;

/** The rounds of a part of a promise, as many as the command that runs the tests makes. */
export function trials(name: PartName): Trials {
  const part = PARTS.find((one) => one.name === name);
  if (!part) throw new Error(`no part ${name}`);
  const seed = plan?.seed ?? SEED;
  const count = FULL ? part.full : part.sample;
  const numbers = plan ? (plan.part === name ? plan.rounds : []) : Array.from({ length: count }, (_, number) => number);
  const { seconds = LIMIT_SECONDS } = part;
  let made = 0;
  const isLate = (): boolean => plan !== null && made > 0 && Date.now() > plan.until;

  async function attempt(rounds: Round[], act: () => Promise<unknown>): Promise<void> {
    const started = performance.now();
    const limit = new AbortController();
    const late = setTimeout(seconds * 1000 * rounds.length, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`no end within ${seconds} s`);
    });
    late.catch(() => {});
    await Promise.race([act(), late]).finally(() => limit.abort());
    const ms = Math.round((performance.now() - started) / rounds.length);
    made += rounds.length;
    for (const { number } of rounds) note({ kind: 'round', part: name, seed, round: number, ms, at: now() });
  }

  /** Adds to the error how to repeat it. */
  function failed(thrown: unknown, number: number): Error {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    note({ kind: 'failure', part: name, seed, round: number, message: error.message, at: now() });
    error.message += `\n\nRepeat: npm run prove -- --only ${name} --seed ${seed} --round ${number}`;
    return error;
  }

  return {
    get count() {
      return made;
    },
    isEmpty: numbers.length === 0,
    // A timer with more fires at once.
    timeout: Math.min(60_000 + numbers.length * seconds * 1000, 2 ** 31 - 1),
    get isLong() {
      return made >= 20;
    },
    title: (text) => `${text} (${name})`,
    async each(act) {
      for (const number of numbers) {
        if (isStopped() || isLate()) return;
        const round = roundOf(seed, number);
        await attempt([round], () => act(round)).catch((error) => {
          throw failed(error, number);
        });
      }
    },
    async eachBatch(size, act, { alike = () => null } = {}) {
      for (const batch of batches(numbers, size, (number) => alike(roundOf(seed, number)))) {
        if (isStopped() || isLate()) return;
        const rounds = batch.map((number) => roundOf(seed, number));
        try {
          await attempt(rounds, () => act(rounds));
        } catch (error) {
          if (rounds.length === 1) throw failed(error, rounds[0]?.number ?? 0);
          for (const { number } of rounds) {
            // A new one: it draws the same numbers again.
            const round = roundOf(seed, number);
            await attempt([round], () => act([round])).catch((own) => {
              throw failed(own, number);
            });
          }
          const each = `rounds ${batch.join()}, each of which passes alone`;
          throw new Error(`${(error as Error).message}\n\nin ${each}`, { cause: error });
        }
      }
    },
  };
}

/** How many batches are sorted at once: a run that ends early has tried some of each kind. */
const SORTED_BATCHES = 20;

function batches(numbers: number[], size: number, kindOf: (number: number) => unknown): number[][] {
  const chunks = (of: number[], length: number): number[][] =>
    Array.from({ length: Math.ceil(of.length / length) }, (_, at) => of.slice(at * length, (at + 1) * length));
  return chunks(numbers, size * SORTED_BATCHES).flatMap((chunk) =>
    [...Map.groupBy(chunk, kindOf).values()].flatMap((kind) => chunks(kind, size)),
  );
}

/** Which server a test has started, as it says by itself: for the table of docs/proof.md. */
export function noteServer(server: string): void {
  if (plan) note({ kind: 'server', part: plan.part, server });
}

function note(line: JournalLine): void {
  if (!plan) return;
  const { suite } = plan;
  appendFileSync(plan.journal, `${JSON.stringify({ ...line, suite })}\n`);
}

function isStopped(): boolean {
  return plan !== null && (existsSync(plan.stop) || !isAlive(plan.asker));
}

function isAlive(process_: number): boolean {
  try {
    return process.kill(process_, 0);
  } catch {
    return false;
  }
}

function roundOf(base: number, number: number): Round {
  const seed = Math.floor(randomFrom(base ^ Math.imul(number + 1, 0x9e3779b1))() * 2 ** 31);
  const random = randomFrom(seed);
  return {
    number,
    seed,
    fraction: (randomFrom(base)() + number * GOLDEN) % 1,
    random,
    oneOf: (items) => items[Math.floor(random() * items.length)] as never,
    run: { seed, numRuns: 1, endOnFailure: false },
  };
}

function now(): string {
  return new Date().toISOString();
}
