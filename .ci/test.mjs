/** `npm test`: every check and every test, all of them even when some fail; the last line counts. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { runTests } from './run-tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const checks = [
  { name: 'bundle', run: build },
  { name: 'format and lint', command: ['biome', 'ci', '--colors=off', '--error-on-warnings', '.'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'import directions',
    command: ['depcruise', '--config', '.ci/import-directions.mjs', 'src', 'hub', 'components', 'screens'],
  },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'generated files are fresh', command: ['node', '.ci/generate.mjs', '--check'] },
];

const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

const [bundle, ...others] = checks;
await runCheck(bundle);
// A terminal test waits most of its time, so the checks and the other tests run beside it.
const e2e = runSuite('e2e', { isShown: false });
for (const check of others) await runCheck(check);
report(await runSuite('tests', { isShown: true }));
report(await e2e);

async function runCheck(check) {
  const started = performance.now();
  const problem = await outcome(check);
  console.log(`${problem ? '✗' : '✓'} ${check.name} ${duration(started)}`);
  if (problem) {
    console.log(problem);
    failures.push(check.name);
  }
  total[problem ? 'failed' : 'passed']++;
}

async function runSuite(project, options) {
  const started = performance.now();
  const results = await runTests(root, project, options);
  return { project, results, took: duration(started) };
}

function report({ project, results, took }) {
  if (results.output) console.log(results.output);
  console.log(`${results.failed ? '✗' : '✓'} ${project} ${took}`);
  for (const name of results.skippedNames) console.log(`  skipped: ${name}`);
  if (results.failed) failures.push(project);
  for (const key of Object.keys(total)) total[key] += results[key];
}

if (process.env.TEST_FULL !== '1') console.log('The long suites (*.full.test.ts) run with: npm run test:full');
if (failures.length > 0) console.log(`Failed: ${failures.join(', ')}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** What went wrong, or nothing. */
function outcome({ command, run }) {
  if (run) {
    return run().then(
      () => undefined,
      (error) => error.stack,
    );
  }
  const [program, ...words] = command;
  return new Promise((resolve) => {
    execFile(program, words, { cwd: root, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}${stdout || stderr ? '' : error}` : undefined),
    );
  });
}

function duration(started) {
  return `(${((performance.now() - started) / 1000).toFixed(1)} s)`;
}
