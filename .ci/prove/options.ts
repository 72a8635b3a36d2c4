import { parseArgs } from 'node:util';
import type { NamedPart } from '../../test/prove/promises.ts';
import { isSuite, isTriedIn, SUITES, type Suite } from './suites.ts';

export interface ProveOptions {
  /** Of one part, how many rounds it is to have had. */
  roundsOf(part: NamedPart): number;
  /** Null: that of the state, or a new one. */
  seed: number | null;
  parts: NamedPart[];
  /** One round of one part, to repeat it. */
  round: number | null;
  state: string;
  /** Null: the servers of this machine. */
  suite: Suite | null;
  begin: boolean;
  /** Null: until all rounds are made. */
  minutes: number | null;
}

export const USAGE = `Usage: npm run prove -- [NAME …] [OPTIONS]

  NAME            promises, or parts of them: kills, kills/load-postgres; equal is data (default: all)
  --only NAME,…   the same
  --rounds N      rounds of each promise, or N% of those for docs/proof.md (default: 100%)
  --minutes N     ends after so long; the parts farthest from their number come first
  --seed S        repeats the cases of an earlier run (default: random)
  --round N       repeats one round of one part: with --only and --seed
  --suite NAME    with the servers of another suite of Debian: ${Object.keys(SUITES).join(', ')}
  --state FOLDER  finished rounds, with which the next run goes on (default: .prove)
  --new           begins again, and keeps the earlier journal beside the new one

Ctrl-C ends the run after the present round, a second one at once.`;

/** Throws an error that says what is wrong with the arguments. */
export function parseOptions(args: string[], all: NamedPart[]): ProveOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '100%' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      round: { type: 'string' },
      suite: { type: 'string' },
      state: { type: 'string', default: '.prove' },
      new: { type: 'boolean', default: false },
    },
  });
  const suite = values.suite === undefined ? null : suiteNamed(values.suite);
  const names = [...positionals, ...(values.only?.split(',') ?? [])];
  const chosen = names.length === 0 ? all : [...new Set(names.flatMap((name) => named(name, all)))];
  const parts = suite === null ? chosen : chosen.filter((part) => isTriedIn(suite, part));
  if (parts.length === 0) throw new Error(`No part of "${names.join()}" is tried with the servers of ${suite}`);
  const seed = values.seed === undefined ? null : whole(values.seed, '--seed');
  const minutes = values.minutes === undefined ? null : whole(values.minutes, '--minutes');
  const round = values.round === undefined ? null : whole(values.round, '--round');
  if (round !== null && (parts.length !== 1 || seed === null)) {
    throw new Error('--round repeats one round of one part: name it with --only, and its seed with --seed');
  }
  if (minutes === 0) throw new Error('--minutes is a number of minutes, from 1');
  const { state, new: begin } = values;
  return { roundsOf: rounds(values.rounds, all), seed, parts, round, state, suite, begin, minutes };
}

function suiteNamed(name: string): Suite {
  if (isSuite(name)) return name;
  throw new Error(`No suite "${name}". There are: ${Object.keys(SUITES).join(', ')}`);
}

/** Other words for promises. */
const ALIASES = new Map([['equal', 'data']]);

function named(word: string, all: NamedPart[]): NamedPart[] {
  const name = word.replace(/^[^/]+/, (promise) => ALIASES.get(promise) ?? promise);
  const found = all.filter((part) => part.name === name || part.name.startsWith(`${name}/`));
  if (found.length > 0) return found;
  throw new Error(`No promise "${word}". There are: ${all.map((part) => part.name).join(', ')}`);
}

/** A number is divided among the parts of a promise; each has one round at least. */
function rounds(text: string, all: NamedPart[]): ProveOptions['roundsOf'] {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const amount = Number(number);
  if (number === '' || amount === 0) throw new Error(`--rounds is a number, or a percentage like 10%, not "${text}"`);
  return (part) => {
    if (percent) return Math.max(1, Math.round((part.rounds * amount) / 100));
    const siblings = all.filter(({ promise }) => promise === part.promise);
    const sum = siblings.reduce((total, one) => total + one.rounds, 0);
    return Math.max(1, Math.round((part.rounds / sum) * amount));
  };
}

function whole(text: string, option: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${option} is a number, not "${text}"`);
  return Number(text);
}
