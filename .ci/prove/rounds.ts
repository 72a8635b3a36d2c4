import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../src/text/shell-word.ts';
import type { DebianTree } from '../../test/helpers/postgres/debian-tree.ts';
import type { ProvePlan } from '../../test/helpers/trials.ts';
import type { NamedPart } from '../../test/prove/promises.ts';

interface RoundsOptions {
  root: string;
  state: string;
  part: NamedPart;
  plan: ProvePlan;
  /** Where it runs; null: here. */
  tree: DebianTree | null;
}

export interface RoundsEnd {
  /** The first error, or null. */
  failure: string | null;
  /** The title of the test that did not run, with what it lacks; or null. */
  skipped: string | null;
}

interface VitestTest {
  title: string;
  fullName: string;
  status: string;
  failureMessages: string[];
}

interface VitestResults {
  testResults: { message: string; assertionResults: VitestTest[] }[];
}

/** Runs the test of a part in a Vitest of its own, which a Ctrl-C of the terminal does not reach. */
export function startRounds({ root, state, part, plan, tree }: RoundsOptions) {
  const results = join(state, 'results.json');
  const planFile = join(state, 'plan.json');
  writeFileSync(planFile, JSON.stringify(plan));
  rmSync(results, { force: true });
  const project = part.file.startsWith('test/e2e/') ? 'e2e' : 'tests';
  const { CI: _, ...environment } = process.env;
  const logFile = join(state, 'logs', `${part.name.replace('/', '-')}.log`);
  const log = openSync(logFile, 'a');
  const words = [
    ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', '.ci/vitest.config.ts', '--project', project],
    // Of the title that `trials` gives.
    ...[part.file, '--testNamePattern', `\\(${part.name}\\)$`],
    ...['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${results}`, '--no-color'],
  ];
  const own = { TEST_FULL: '1', PROVE_PLAN: planFile };
  const { file, args, env } = tree
    ? tree.command(`cd ${shellWord(root)} && exec node ${words.map(shellWord).join(' ')}`, own)
    : { file: process.execPath, args: words, env: { ...environment, ...own } };
  const child = spawn(file, args, { cwd: root, detached: true, stdio: ['ignore', log, log], env });
  closeSync(log);
  const ended = new Promise<RoundsEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(endOf(code, { results, log: logFile, name: part.name })));
  });
  return {
    ended,
    kill(): void {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    },
  };
}

interface Written {
  results: string;
  log: string;
  name: string;
}

function endOf(code: number | null, { results, log, name }: Written): RoundsEnd {
  const found = existsSync(results) ? (JSON.parse(readFileSync(results, 'utf8')) as VitestResults).testResults : [];
  const tests = found.flatMap(({ assertionResults }) => assertionResults);
  const own = tests.find(({ title }) => title.endsWith(`(${name})`));
  const isRun = own?.status === 'passed' || own?.status === 'failed';
  if (code === 0) return { failure: isRun ? null : notRun(own), skipped: isRun ? null : notRun(own) };
  // What fails before the test is in the log only.
  const logged =
    readFileSync(log, 'utf8')
      .match(/^\w*Error: .*/gm)
      ?.at(-1) ?? '';
  const messages = [...(own?.failureMessages ?? []), ...found.map(({ message }) => message), logged];
  const failure = messages.find((message) => message !== '') ?? `Vitest ended with ${code}`;
  return { failure, skipped: null };
}

function notRun(test: VitestTest | undefined): string {
  return test ? (/\(needs .*?\)/.exec(test.fullName)?.[0].slice(1, -1) ?? 'skipped') : 'no such test';
}
