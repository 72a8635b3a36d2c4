import type { JournalLine } from '../../test/helpers/trials.ts';
import type { NamedPart } from '../../test/prove/promises.ts';
import { isSuite, isTriedIn } from './suites.ts';

/** Written by each run before its rounds. */
export interface BeginLine {
  kind: 'begin';
  seed: number;
  commit: string;
  node: string;
  system: string;
  at: string;
  /** Rounds that each part is to have, in the parts of this run. */
  asked: Record<string, number>;
}

/** A part that could not be tried, and why. */
export interface SkippedLine {
  kind: 'skipped';
  part: string;
  reason: string;
}

/** `suite`: with the servers of another suite of Debian. */
export type ProveLine = (JournalLine | BeginLine | SkippedLine) & { suite?: string };

interface Finding {
  /** Null: outside of the rounds. */
  round: number | null;
  message: string;
  repeat: string;
  /** Whether the same round has passed since. */
  passes: boolean;
}

interface PartProof {
  name: string;
  asked: number;
  /** Rounds that were really made, those that failed included. */
  rounds: number;
  /** Which ones have passed: `0-99,105`. */
  passed: string;
  seconds: number;
  servers: string[];
  skipped: string | null;
  findings: Finding[];
}

/** The results of all runs with one seed: test/prove/proof.json. */
export interface Proof {
  seed: number;
  from: string;
  to: string;
  commits: string[];
  node: string[];
  systems: string[];
  parts: PartProof[];
  /** Parts with the servers of other suites of Debian. */
  suites: { suite: string; parts: PartProof[] }[];
}

/** What a journal comes to. A line that was cut off by the end of a process is none. */
export function parseJournal(text: string): ProveLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as ProveLine];
    } catch {
      return [];
    }
  });
}

export function proofOf(lines: ProveLine[], parts: NamedPart[]): Proof | null {
  const begins = lines.filter((line) => line.kind === 'begin');
  const first = begins[0];
  if (!first) return null;
  const times = lines.flatMap((line) => ('at' in line ? [line.at] : [])).sort();
  return {
    seed: first.seed,
    from: times[0] ?? first.at,
    to: times.at(-1) ?? first.at,
    commits: distinct(begins.map(({ commit }) => commit)),
    node: distinct(begins.map(({ node }) => node)),
    systems: distinct(begins.map(({ system }) => system)),
    parts: parts.map(({ name }) => partProof(name, linesOf(lines, null))),
    suites: distinct(lines.flatMap(({ suite }) => suite ?? []))
      .sort()
      .map((suite) => ({ suite, parts: tried(parts, linesOf(lines, suite), suite) })),
  };
}

/** Null: of this machine's servers. */
export function linesOf(lines: ProveLine[], suite: string | null): ProveLine[] {
  return lines.filter((line) => (line.suite ?? null) === suite);
}

function tried(parts: NamedPart[], lines: ProveLine[], suite: string): PartProof[] {
  return parts
    .filter((part) => isSuite(suite) && isTriedIn(suite, part))
    .map(({ name }) => partProof(name, lines, suite))
    .filter(({ rounds, findings }) => rounds + findings.length > 0);
}

function partProof(name: string, lines: ProveLine[], suite?: string): PartProof {
  const own = lines.filter((line) => 'part' in line && line.part === name);
  const passed = own.filter((line) => line.kind === 'round');
  const failures = own.filter((line) => line.kind === 'failure');
  const numbers = new Set([...passed, ...failures].map(({ round }) => round).filter((round) => round !== null));
  const asked = lines.filter((line) => line.kind === 'begin').map((line) => line.asked[name] ?? 0);
  const findings = new Map(failures.map((failure) => [failure.round, failure]));
  const skipped = own.findLast((line) => line.kind === 'skipped');
  return {
    name,
    asked: Math.max(0, ...asked),
    rounds: numbers.size,
    passed: ranges(passed.map(({ round }) => round)),
    seconds: Math.round(passed.reduce((sum, { ms }) => sum + ms, 0) / 1000),
    servers: distinct(own.flatMap((line) => (line.kind === 'server' ? [line.server] : []))).sort(),
    skipped: numbers.size === 0 && skipped ? skipped.reason : null,
    findings: [...findings.values()].map(({ round, message, seed, at }) => ({
      round,
      message: firstLine(message),
      repeat: repeatCommand({ part: name, seed, round, suite }),
      passes: passed.some((line) => (round === null || line.round === round) && line.at > at),
    })),
  };
}

interface Repeated {
  part: string;
  seed: number;
  round: number | null;
  suite: string | undefined;
}

function repeatCommand({ part, seed, round, suite }: Repeated): string {
  return `npm run prove -- --only ${part}${suite ? ` --suite ${suite}` : ''} --seed ${seed}${round === null ? '' : ` --round ${round}`}`;
}

/** Rounds of a part that a run has yet to make: those that failed last first. */
export function roundsLeft(lines: ProveLine[], name: string, asked: number): number[] {
  const own = lines.filter((line) => line.kind === 'round' || line.kind === 'failure');
  const last = new Map(own.filter(({ part }) => part === name).map(({ round, kind }) => [round, kind]));
  const all = Array.from({ length: asked }, (_, number) => number);
  const failed = [...last].flatMap(([round, kind]) => (kind === 'failure' && round !== null ? [round] : []));
  return [...failed, ...all.filter((number) => !last.has(number))];
}

function firstLine(message: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a message of Vitest
  const [line = ''] = message.replaceAll(/\x1b\[[\d;]*m/g, '').split('\n');
  return line.slice(0, 300).replaceAll(/\s+/g, ' ').trim();
}

function distinct<Item>(items: Item[]): Item[] {
  return [...new Set(items)];
}

function ranges(numbers: number[]): string {
  const runs: [number, number][] = [];
  for (const number of distinct(numbers).sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join();
}

function numbersIn(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((run) => {
    const [from = 0, to = from] = run.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

/** A journal that gives the same proof: with it a run goes on where another machine's has ended. */
export function journalOf({ seed, from, to, commits, node, systems, parts, suites }: Proof): ProveLine[] {
  const asked = Object.fromEntries(parts.map((part) => [part.name, part.asked]));
  const begins = commits.map((commit, at): ProveLine => {
    const system = systems[at] ?? systems.at(-1) ?? '';
    return { kind: 'begin', seed, commit, node: node[at] ?? node.at(-1) ?? '', system, at: from, asked };
  });
  const linesOfPart = ({ name, passed, seconds, servers, findings, skipped }: PartProof): ProveLine[] => {
    const rounds = numbersIn(passed);
    const line = { part: name, seed };
    return [
      ...servers.map((server): ProveLine => ({ kind: 'server', part: name, server })),
      // Before the rounds that have passed since, or after all.
      ...findings.map(
        ({ round, message, passes }): ProveLine => ({
          kind: 'failure',
          ...line,
          round,
          message,
          at: passes ? from : to,
        }),
      ),
      ...rounds.map(
        (round): ProveLine => ({ kind: 'round', ...line, round, ms: (seconds * 1000) / rounds.length, at: to }),
      ),
      ...(skipped === null ? [] : [{ kind: 'skipped' as const, part: name, reason: skipped }]),
    ];
  };
  const elsewhere = suites.flatMap(({ suite, parts: own }) =>
    own.flatMap(linesOfPart).map((line) => ({ ...line, suite })),
  );
  return [...begins, ...parts.flatMap(linesOfPart), ...elsewhere];
}
