import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { eventProblems } from '../helpers/documents/json-contract.ts';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

interface Job {
  variables: Record<string, string>;
  id_tokens: object;
  script: string[];
  artifacts: { paths: string[]; reports: { dotenv: string } };
}

const { '.tool': job }: { '.tool': Job } = parse(
  await readFile(join(ROOT, 'deploy/gitlab/tool.gitlab-ci.yml'), 'utf8'),
);

describeWithPostgres('the template for GitLab', () => {
  let server: TestPostgres;
  let folder: string;

  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: 'CREATE TABLE customer (id integer PRIMARY KEY); INSERT INTO customer VALUES (1)',
    });
  }, 60_000);

  afterAll(() => server?.stop());

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-gitlab-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
    await writeFile(join(folder, 'tool'), program, { mode: 0o755 });
  });

  /** Runs the lines of the job as the runner does: one script, which stops at an error. */
  async function run(variables: Record<string, string>) {
    const script = ['set -eo pipefail', ...job.script].join('\n');
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env: {
        ...{ HOME: folder, CI: 'true', TOOL_WORKING_DIRECTORY: join(folder, 'work') },
        TOOL_TARGETS: `{app: {snapshot: {src_url: "${server.url('shop')}"}}}`,
        ...job.variables,
        ...variables,
        PATH: [folder, process.env.PATH].join(delimiter),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => null);
    return { exit: child.exitCode, stdout, stderr, read };
  }

  it('builds a snapshot; its id and size are variables of later jobs, its summary is an artifact', async () => {
    const note = '--note {"snapshot":{"index":0,"id":"00000000","size_bytes":7,*';
    const { exit, stdout, stderr, read } = await run({ TARGET: 'app', ARGUMENTS: note });
    expect(exit, stderr).toBe(0);
    const [summary, events, dotenv] = await Promise.all(
      [...job.artifacts.paths, job.artifacts.reports.dotenv].map(async (name) => (await read(name)) ?? ''),
    );
    const lines = (events ?? '').trimEnd().split('\n');
    expect(lines.flatMap(eventProblems)).toEqual([]);
    const { snapshot } = JSON.parse(lines.at(-1) ?? '');
    expect(snapshot.note).toBe(note.slice('--note '.length));
    expect(dotenv).toBe(`SNAPSHOT_ID=${snapshot.id}\nSNAPSHOT_SIZE=${snapshot.size_bytes}\n`);
    expect(summary).toContain(`| Snapshot | ${snapshot.id} |`);
    expect(stdout).toBe(summary);
  });

  it('ends with the exit code of the program, and executes nothing of its variables', async () => {
    const words = '$(touch pwned) `touch pwned` ; touch pwned';
    const { exit, stderr, read } = await run({ TARGET: words, ARGUMENTS: '--no-push ; touch pwned' });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('error:') });
    expect(await read('pwned')).toBeNull();
    expect(await read('tool.env')).toBe('');
  });

  it.runIf(process.env.TEST_FULL === '1').each([
    [{ COMMAND: 'load', TARGET: 'app' }, 'COMMAND must be'],
    [{ TARGET: '' }, 'TARGET must name'],
    [{ TARGET: '--config=x' }, 'TARGET must name'],
  ])('refuses %j', async (variables, reason) => {
    const { exit, stderr } = await run(variables);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(reason) });
  });
});
