import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Runs one of Vitest's projects; resolves with its counts. Its output goes to the terminal, or comes back as text. */
export async function runTests(root, project, { isShown }) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-test-'));
  const file = join(folder, 'results.json');
  const words = ['run', '--config', '.ci/vitest.config.ts', '--project', project];
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`];
  const colors = process.stdout.isTTY ? [] : ['--no-color'];
  const shown = isShown ? 'inherit' : 'pipe';
  const stdio = ['ignore', shown, shown];
  const child = spawn('vitest', [...words, ...reporters, ...colors], { cwd: root, stdio, env: environment() });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
  const [status] = await once(child, 'close');
  const results = existsSync(file) ? count(root, JSON.parse(readFileSync(file, 'utf8'))) : nothing();
  rmSync(folder, { recursive: true });
  // Vitest fails for more than failed tests: an error outside of every test, no test found, its own death.
  if (status !== 0 && results.failed === 0) results.failed = 1;
  return { ...results, output: Buffer.concat(output).toString() };
}

/** With `CI` in the environment Ink draws nothing before it ends: a test that is about CI sets it by itself. */
function environment() {
  const { CI: _, ...rest } = process.env;
  return rest;
}

function count(root, { testResults }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const having = (...statuses) => tests.filter(({ status }) => statuses.includes(status)).length;
  const unreadable = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.length,
  );
  return {
    passed: having('passed'),
    failed: having('failed') + unreadable.length,
    skipped: having('pending', 'skipped', 'todo', 'disabled'),
    skippedNames: testResults.flatMap((result) => skippedSuites(relative(root, result.name), result.assertionResults)),
  };
}

/** `test/x.test.ts > a suite (3 tests)`, one entry a suite. */
function skippedSuites(file, tests) {
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  const suites = Map.groupBy(skipped, ({ ancestorTitles }) => [file, ...ancestorTitles].join(' > '));
  return [...suites].map(([suite, { length }]) => `${suite} (${length} ${length === 1 ? 'test' : 'tests'})`);
}

function nothing() {
  return { passed: 0, failed: 0, skipped: 0, skippedNames: [] };
}
