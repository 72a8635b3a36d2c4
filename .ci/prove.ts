/** `npm run prove`: the rounds of test/prove/promises.ts, as many as asked for; goes on where the last run ended. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canHaveSid, debianTree } from '../test/helpers/postgres/debian-tree.ts';
import { PARTS } from '../test/prove/promises.ts';
import { build } from './build.mjs';
import { nextSlice, type Slice } from './prove/next-slice.ts';
import { parseOptions, USAGE } from './prove/options.ts';
import { journalPage, proofPage } from './prove/page.ts';
import {
  type BeginLine,
  journalOf,
  linesOf,
  type Proof,
  type ProveLine,
  parseJournal,
  proofOf,
} from './prove/proof.ts';
import { startRounds } from './prove/rounds.ts';
import { createProgress } from './prove/show-progress.ts';
import { SUITES } from './prove/suites.ts';

/** A part that fails so often in one run is left for the next one. */
const FAILURES = 3;

const root = fileURLToPath(new URL('..', import.meta.url));
process.exitCode = await prove(process.argv.slice(2));

async function prove(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(USAGE);
    return 0;
  }
  let options: ReturnType<typeof parseOptions>;
  try {
    options = parseOptions(args, PARTS);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { parts, round, roundsOf, suite } = options;
  if (suite !== null && !canHaveSid) {
    console.error(`The servers of ${suite} need root and debootstrap.`);
    return 2;
  }
  const state = resolve(root, options.state);
  // The journal of a round that is repeated is none of the proof.
  const journal = join(state, round === null ? 'journal.jsonl' : 'repeat.jsonl');
  mkdirSync(join(state, 'logs'), { recursive: true });
  if (options.begin && round === null && existsSync(journal)) {
    renameSync(journal, join(state, `journal-${new Date().toISOString().replaceAll(':', '')}.jsonl`));
  }
  if (round !== null) rmSync(journal, { force: true });
  const read = (): ProveLine[] => (existsSync(journal) ? parseJournal(readFileSync(journal, 'utf8')) : []);
  const add = (line: ProveLine): void =>
    appendFileSync(journal, `${JSON.stringify({ ...line, ...(suite && { suite }) })}\n`);
  const own = (): ProveLine[] => linesOf(read(), suite);
  // Another machine's run, as it was committed.
  const written = join(root, 'test/prove/proof.json');
  if (!existsSync(journal) && round === null && !options.begin && existsSync(written)) {
    const proof = JSON.parse(readFileSync(written, 'utf8')) as Proof;
    const lines = options.seed === null || options.seed === proof.seed ? journalOf(proof) : [];
    writeFileSync(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
  const earlier = read().find((line) => line.kind === 'begin');
  if (earlier && options.seed !== null && options.seed !== earlier.seed) {
    console.error(
      `The rounds in ${options.state} have the seed ${earlier.seed}. Begin again with --new, or name another folder with --state.`,
    );
    return 2;
  }
  const seed = options.seed ?? earlier?.seed ?? Math.floor(Math.random() * 2 ** 31);
  add(begun(seed, Object.fromEntries(parts.map((part) => [part.name, roundsOf(part)]))));

  const progress = createProgress(process.stdout);
  const stop = join(state, 'stop');
  rmSync(stop, { force: true });
  let isStopping = false;
  let running: ReturnType<typeof startRounds> | null = null;
  const interrupt = (): void => {
    if (isStopping) running?.kill();
    else progress.say('Ends after the present round. Ctrl-C again ends at once.');
    isStopping = true;
    writeFileSync(stop, '');
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  await build();
  const tree = suite && (await debianTree(suite, SUITES[suite].packages));

  const deadline = options.minutes === null ? Number.POSITIVE_INFINITY : Date.now() + options.minutes * 60_000;
  const tried = new Map(parts.map((part) => [part.name as string, new Set<number>()]));
  const failures = new Map<string, number>();
  const givenUp = new Set<string>();
  const write = (): Proof | null => {
    const proof = proofOf(read(), PARTS);
    if (!proof || round !== null) return proof;
    replaceFile(written, `${JSON.stringify(proof, null, 2)}\n`);
    replaceFile(join(root, 'docs/proof.md'), proofPage(proof, PARTS));
    replaceFile(join(root, 'test/prove/journal.md'), journalPage(proof, PARTS));
    return proof;
  };
  const next = (): Slice | null => {
    if (round === null) return nextSlice({ parts, roundsOf, lines: own(), tried, givenUp });
    const [part] = parts;
    return part && tried.get(part.name)?.size === 0 ? { part, rounds: [round], minutes: 1 } : null;
  };
  while (!isStopping && Date.now() < deadline) {
    const slice = next();
    if (!slice) break;
    await proveSlice(slice);
    write();
  }

  async function proveSlice({ part, rounds: left, minutes }: Slice): Promise<void> {
    const before = own().length;
    const show = (lines: ProveLine[]): void =>
      progress.part({ part, parts, left: left.length, lines: lines.slice(before) });
    const until = Math.min(Date.now() + minutes * 60_000, deadline);
    const asked = { part: part.name, seed, rounds: left, journal, stop, until, asker: process.pid };
    const plan = suite ? { ...asked, suite } : asked;
    running = startRounds({ root, state, part, plan, tree });
    const watching = setInterval(() => show(own()), 2000);
    const end = await running.ended;
    clearInterval(watching);
    const made = own().slice(before);
    show(own());
    const numbers = made.flatMap((line) => (line.kind === 'round' || line.kind === 'failure' ? [line.round] : []));
    for (const number of numbers) if (number !== null) tried.get(part.name)?.add(number);
    if (end.skipped !== null) add({ kind: 'skipped', part: part.name, reason: end.skipped });
    const isKnown = made.some((line) => line.kind === 'failure');
    if (end.failure !== null && !isKnown && !isStopping) {
      add({
        kind: 'failure',
        part: part.name,
        seed,
        round: null,
        message: end.failure,
        at: new Date().toISOString(),
      });
    }
    if (end.failure !== null) failures.set(part.name, (failures.get(part.name) ?? 0) + 1);
    const isLost = end.failure !== null && !isKnown;
    if (isLost || numbers.length === 0 || (failures.get(part.name) ?? 0) >= FAILURES) givenUp.add(part.name);
    progress.done(part, { lines: own(), required: roundsOf(part) });
  }

  const proof = write();
  const shown = suite === null ? proof?.parts : proof?.suites.find((one) => one.suite === suite)?.parts;
  const findings = (shown ?? []).flatMap(({ name, findings: all }) =>
    all.filter(({ passes }) => !passes).map((finding) => ({ name, ...finding })),
  );
  for (const { name, message, repeat } of findings) {
    progress.say(
      `${name} fails: ${message}\n  ${repeat}\n  ${join(options.state, 'logs', `${name.replace('/', '-')}.log`)}`,
    );
  }
  if (round === null)
    progress.say(`Wrote docs/proof.md, test/prove/journal.md and test/prove/proof.json (seed ${seed})`);
  if (isStopping || Date.now() >= deadline) progress.say('The same command goes on with the remaining rounds.');
  return findings.length > 0 ? 1 : isStopping ? 130 : 0;
}

/** Whole or not at all, when the run is killed. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function begun(seed: number, asked: Record<string, number>): BeginLine {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    cwd: root,
    encoding: 'utf8',
  });
  const system = `${type()} ${release()}, ${cpus().length} cores`;
  const node = process.versions.node;
  return { kind: 'begin', seed, commit: commit.trim(), node, system, at: new Date().toISOString(), asked };
}
