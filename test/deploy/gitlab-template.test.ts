import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { eventProblems } from '../helpers/documents/json-contract.ts';
import { itIf } from '../helpers/it-if.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

interface Job {
  variables: Record<string, string>;
  id_tokens: object;
  script: string[];
  artifacts: { paths: string[]; reports: { dotenv: string } };
}

const { '.tool': job, '.tool-comment': commentJob }: { '.tool': Job; '.tool-comment': Pick<Job, 'script'> } = parse(
  await readFile(join(ROOT, 'deploy/gitlab/tool.gitlab-ci.yml'), 'utf8'),
);

describeWithPostgres('the template for GitLab', () => {
  const server = suiteResource(() => startPostgres());
  let folder: string;

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: 'CREATE TABLE customer (id integer PRIMARY KEY); INSERT INTO customer VALUES (1)',
    });
  }, 60_000);

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-gitlab-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
    await writeFile(join(folder, 'tool'), program, { mode: 0o755 });
  });

  /** Runs the lines of the job as the runner does: one script, which stops at an error. */
  async function run(variables: Record<string, string>, { script: lines }: Pick<Job, 'script'> = job) {
    const script = ['set -eo pipefail', ...lines].join('\n');
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env: {
        ...{ HOME: folder, CI: 'true', TOOL_WORKING_DIRECTORY: join(folder, 'work') },
        TOOL_TARGETS: `{app: {snapshot: {src_url: "${server.url('shop')}", dst_url: "${server.url('copy')}"}}}`,
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

  it('rehearses a migration and comments its report on the merge request', async () => {
    const asked: string[] = [];
    const gitlab = createServer(async (request, response) => {
      const token = request.headers['private-token'];
      asked.push(
        `${request.method} ${request.url} ${token}`,
        new URLSearchParams(await text(request)).get('body') ?? '',
      );
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(gitlab, 'listening');
    onTestFinished(() => void gitlab.close());
    const comment = {
      ...{ CI_API_V4_URL: `http://127.0.0.1:${(gitlab.address() as AddressInfo).port}/api/v4`, CI_PROJECT_ID: '3' },
      ...{ CI_MERGE_REQUEST_IID: '7', TOOL_COMMENT_TOKEN: 'word-for-tests' },
    };
    expect(await run(comment, commentJob)).toMatchObject({ exit: 0, stdout: 'There is no report to comment with\n' });
    const made = await run({ TARGET: 'app', TOOL_SECRET_KEY: 'a'.repeat(32), ARGUMENTS: '--no-push' });
    expect(made.exit, made.stderr).toBe(0);
    await writeFile(join(folder, 'add.sql'), 'CREATE INDEX ON customer ((id + 1));');
    const words = '--fail-on warning --sql add.sql';
    const rehearsal = { COMMAND: 'rehearse', TARGET: 'app', TOOL_SECRET_KEY: 'a'.repeat(32), ARGUMENTS: words };
    const { exit, stdout, stderr, read } = await run(rehearsal);
    expect(exit, stderr).toBe(5);
    expect(stdout).toMatch(/^## Over the limit: migration of app/);
    expect(await run(comment, commentJob)).toMatchObject({ exit: 0, stderr: '' });
    expect(asked).toEqual([
      'POST /api/v4/projects/3/merge_requests/7/notes word-for-tests',
      await read('tool-summary.md'),
    ]);
  }, 60_000);

  it('ends with the exit code of the program, and executes nothing of its variables', async () => {
    const words = '$(touch pwned) `touch pwned` ; touch pwned';
    const { exit, stderr, read } = await run({ TARGET: words, ARGUMENTS: '--no-push ; touch pwned' });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('error:') });
    expect(await read('pwned')).toBeNull();
    expect(await read('tool.env')).toBe('');
  });

  itIf(process.env.TEST_FULL === '1').each([
    [{ COMMAND: 'load', TARGET: 'app' }, 'COMMAND must be'],
    [{ TARGET: '' }, 'TARGET must name'],
    [{ TARGET: '--config=x' }, 'TARGET must name'],
  ])('refuses %j', async (variables, reason) => {
    const { exit, stderr } = await run(variables);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(reason) });
  });
});
