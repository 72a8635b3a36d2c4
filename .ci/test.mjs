/** `npm test`: every check and every test, all of them even when some fail; the last line counts. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { runTests } from './run-tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const checks = [
  { name: 'format and lint', command: ['biome', 'ci', '--colors=off', '--error-on-warnings', '.'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'import directions',
    command: ['depcruise', '--config', '.ci/import-directions.mjs', 'src', 'hub', 'components', 'screens'],
  },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'generated files are fresh', command: ['node', '.ci/generate.mjs', '--check'] },
  { name: 'bundle', run: build },
];

const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

for (const check of checks) {
  const started = performance.now();
  const problem = await outcome(check);
  console.log(`${problem ? '✗' : '✓'} ${check.name} ${duration(started)}`);
  if (problem) {
    console.log(problem);
    failures.push(check.name);
  }
  total[problem ? 'failed' : 'passed']++;
}

for (const project of ['tests', 'e2e']) {
  const started = performance.now();
  const results = runTests(root, project);
  console.log(`${results.failed ? '✗' : '✓'} ${project} ${duration(started)}`);
  for (const name of results.skippedNames) console.log(`  skipped: ${name}`);
  if (results.failed) failures.push(project);
  for (const key of Object.keys(total)) total[key] += results[key];
}

if (process.env.TEST_FULL !== '1') console.log('The long suites (*.full.test.ts) run with: npm run test:full');
if (failures.length > 0) console.log(`Failed: ${failures.join(', ')}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** What went wrong, or nothing. */
async function outcome({ command, run }) {
  if (run) {
    return run().then(
      () => undefined,
      (error) => error.stack,
    );
  }
  const [program, ...words] = command;
  const { status, error, stdout, stderr } = spawnSync(program, words, { cwd: root, encoding: 'utf8' });
  return status === 0 ? undefined : `${stdout ?? ''}${stderr ?? ''}${error ?? ''}`;
}

function duration(started) {
  return `(${((performance.now() - started) / 1000).toFixed(1)} s)`;
}
