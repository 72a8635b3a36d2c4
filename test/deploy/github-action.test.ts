import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { putTarget, startHub } from '../helpers/hub/hub.ts';
import { itIf } from '../helpers/it-if.ts';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startTokenIssuer } from '../helpers/sign-in/token-issuer.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

interface Step {
  id?: string;
  if?: string;
  shell: string;
  run: string;
  env: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

const action: Action = parse(await readFile(join(ROOT, 'action.yml'), 'utf8'));

test('no script of the action contains an expression: an input is never executed', () => {
  for (const { run } of action.runs.steps) expect(run).not.toContain('${{');
  expect(action.runs.using).toBe('composite');
});

interface Ran {
  exit: number | null;
  /** What the runner shows, and reads commands from. */
  log: string;
  outputs: Record<string, string>;
  summary: string;
  /** Annotations as the runner reads them: outside of stopped commands. */
  commands: string[];
}

/** Runs the steps as the runner does: with files for PATH, outputs and summary, in a shell that stops at errors. */
async function runAction(
  given: Record<string, string>,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ran> {
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'tool-runner-')));
  onTestFinished(() => rm(temporary, { recursive: true }));
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: value }]) => [name, given[name] ?? value]),
  );
  const evaluate = (expression: string): string => {
    const [, name = '', value] = /^inputs\.([\w-]+)(?: [!=]= '(\w*)')?$/.exec(expression) ?? [];
    if (!(name in inputs)) throw new Error(`The test knows nothing of ${expression}`);
    return value && inputs[name] !== value ? '' : (inputs[name] ?? '');
  };
  const inner = (expression: string): string => expression.replace(/^\$\{\{ (.+) \}\}$/, '$1');
  const isRun = (condition = 'success()'): boolean => {
    const parts = inner(condition).split(' && ');
    const always = parts[0] === '!cancelled()';
    const rest = parts.filter((part) => part !== '!cancelled()' && part !== 'success()');
    return (exit === 0 || always) && rest.every((part) => evaluate(part) !== '');
  };
  const files = {
    path: join(temporary, 'path'),
    output: join(temporary, 'output'),
    summary: join(temporary, 'summary'),
  };
  for (const file of Object.values(files)) await writeFile(file, '');
  let [log, exit]: [string, number | null] = ['', 0];
  for (const [index, step] of action.runs.steps.entries()) {
    if (!isRun(step.if)) continue;
    const script = join(temporary, `${index}.sh`);
    await writeFile(script, step.run);
    const added = (await readFile(files.path, 'utf8')).split('\n').filter(Boolean).reverse();
    const child: ChildProcess = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', script], {
      cwd,
      env: {
        ...{ HOME: temporary, RUNNER_TEMP: temporary, GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_ACTION_PATH: ROOT },
        ...{ GITHUB_PATH: files.path, GITHUB_OUTPUT: files.output, GITHUB_STEP_SUMMARY: files.summary },
        ...env,
        PATH: [...added, dirname(process.execPath), process.env.PATH].join(delimiter),
        ...Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, evaluate(inner(value))])),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout as never),
      text(child.stderr as never),
      once(child, 'close'),
    ]);
    if (exit === 0) exit = child.exitCode;
    log += stdout + stderr;
  }
  const outputs = outputsOf(await readFile(files.output, 'utf8'));
  return { exit, log, outputs, summary: await readFile(files.summary, 'utf8'), commands: commandsOf(log) };
}

function outputsOf(file: string): Record<string, string> {
  const lines = file.split('\n');
  const found: Record<string, string> = {};
  for (let at = 0; at < lines.length; at += 1) {
    const [, name = '', end = ''] = /^([\w-]+)<<(.+)$/.exec(lines[at] ?? '') ?? [];
    if (name === '') continue;
    const last = lines.indexOf(end, at);
    found[name] = lines.slice(at + 1, last).join('\n');
    at = last;
  }
  return found;
}

function commandsOf(log: string): string[] {
  let stopped: string | null = null;
  const found: string[] = [];
  for (const line of log.split('\n').map((one) => one.trim())) {
    const [, token] = /^::stop-commands::(.+)$/.exec(line) ?? [];
    if (stopped !== null && line === `::${stopped}::`) stopped = null;
    else if (stopped === null && token !== undefined) stopped = token;
    else if (stopped === null && line.startsWith('::')) found.push(line);
  }
  return found;
}

const FULL = process.env.TEST_FULL === '1';

describeWithPostgres('the action for GitHub', () => {
  let server: TestPostgres;
  let folder: string;
  let executable: string;

  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE customer (id integer PRIMARY KEY, email text NOT NULL);
        INSERT INTO customer SELECT i, 'someone' || i || '@real.example' FROM generate_series(1, 60) i;
        CREATE TABLE "x
::error::injected" (id integer)`,
    });
  }, 60_000);

  afterAll(() => server?.stop());

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tool-action-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    executable = join(folder, 'tool-9.9.9');
    await writeFile(executable, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
    await chmod(executable, 0o755);
    await writeFile(
      join(folder, 'other.yml'),
      `secret_key: ${'a'.repeat(32)}
working_directory: work
targets:
  app:
    snapshot: {src_url: "${server.url('shop')}", dst_url: "${server.url('copy')}"}
    sanitize: {dst_url: "${server.url('clean')}", override_query: "UPDATE customer SET email = 'x' || id"}
`,
      { mode: 0o600 },
    );
  });

  const run = (inputs: Record<string, string>, env: Record<string, string> = {}) =>
    runAction({ package: executable, config: 'other.yml', ...inputs }, { cwd: folder, env });

  it('builds a snapshot: outputs, the summary of the job, and nothing that a name injects', async () => {
    const built = await run({ command: 'build', target: 'app', arguments: '--note "two words"\n--no-push' });
    expect(built.exit, built.log).toBe(0);
    expect(built.outputs).toEqual({
      'snapshot-id': expect.stringMatching(/^[0-9a-f]{8}$/),
      'sanitized-snapshot-id': expect.stringMatching(/^[0-9a-f]{8}$/),
      size: expect.stringMatching(/^\d+$/),
    });
    expect(Object.keys(action.outputs).sort()).toEqual(Object.keys(built.outputs).sort());
    expect(built.summary).toMatch(/^## Snapshot of app\n/);
    expect(built.summary).toContain(`| Snapshot | ${built.outputs['snapshot-id']} |`);
    expect(built.summary).toContain('| Note | two words |');
    expect(built.summary).toMatch(/\| Sanitization \| 1 of 1 personal column changed/);
    expect(built.commands.filter((line) => line.includes('injected'))).toEqual([]);
    expect(built.log).toContain('Installed tool');
  });

  it('comments the report of a rehearsal on the pull request, and replaces its own comment only', async () => {
    const comments: { id: number; user: { type: string }; body: string }[] = [];
    const asked: string[] = [];
    let forbids = false;
    const github = createServer(async (request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      const { body = '' } = JSON.parse((await text(request)) || '{}');
      const [, id] = /\/comments\/(\d+)$/.exec(request.url ?? '') ?? [];
      const [changed] = comments.filter((comment) => comment.id === Number(id));
      if (forbids) response.statusCode = 403;
      else if (changed) changed.body = body;
      else if (request.method === 'POST') comments.push({ id: comments.length + 1, user: { type: 'Bot' }, body });
      response.end(JSON.stringify(request.method === 'GET' ? comments : {}));
    }).listen(0, '127.0.0.1');
    await once(github, 'listening');
    onTestFinished(() => void github.close());
    await writeFile(join(folder, 'event.json'), JSON.stringify({ pull_request: { number: 7 } }));
    const env = {
      ...{ GITHUB_EVENT_PATH: join(folder, 'event.json'), GITHUB_REPOSITORY: 'acme/app' },
      GITHUB_API_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
    };
    const rehearse = (words: string, token = 'word-for-tests') =>
      run({ command: 'rehearse', target: 'app', arguments: words, 'comment-token': token }, env);
    await run({ command: 'build', target: 'app', arguments: '--no-push', 'comment-token': 'word-for-tests' }, env);
    expect(asked).toEqual([]);
    const command = `-- sh -c 'env | grep -i comment; psql -qc "CREATE INDEX ON customer (email)"'`;
    const made = await rehearse(`--fail-on warning ${command}`);
    expect(made.exit, made.log).toBe(5);
    expect(made.commands.at(-1)).toMatch(/^::error title=tool rehearse%3A rehearsal_over_limit::2 warnings/);
    expect(made.log).toContain('Commented on the pull request.');
    expect(made.summary).toMatch(/^## Over the limit: migration of app/);
    expect(comments).toEqual([
      { id: 1, user: { type: 'Bot' }, body: `<!-- tool rehearse app -->\n${made.summary.trimEnd()}\n` },
    ]);
    expect(made.summary).toContain('CREATE INDEX CONCURRENTLY');
    expect(made.log + made.summary).not.toContain('word-for-tests');
    comments.unshift({ id: 9, user: { type: 'User' }, body: '<!-- tool rehearse app --> of a person' });
    await rehearse('-- true');
    expect(comments).toMatchObject([
      { id: 9, body: '<!-- tool rehearse app --> of a person' },
      { id: 1, body: expect.stringContaining('## Passed: migration of app') },
    ]);
    expect(asked.at(-1)).toBe('PATCH /repos/acme/app/issues/comments/1 Bearer word-for-tests');
    forbids = true;
    const refused = await rehearse('-- true');
    expect(refused).toMatchObject({
      exit: 0,
      commands: [expect.stringMatching(/^::warning title=tool rehearse%3A comment::No comment .*pull-requests: write/)],
    });
  }, 60_000);

  it('annotates an error, escaped, ends with the exit code of the program, and shows no secret', async () => {
    const failed = await run({ command: 'build', target: 'no%such\n::add-mask::app' });
    expect(failed.exit, failed.log).toBe(2);
    expect(failed.commands).toEqual([
      expect.stringMatching(
        /^::error title=tool build%3A target_unknown::There is no target "no%25such%0A::add-mask::app"%0Atool targets /,
      ),
    ]);
    expect(failed.outputs).toEqual({});
    expect(failed.log).not.toContain('a'.repeat(32));
  });

  itIf(FULL)('masks the key that it makes for a job without a configuration', async () => {
    const made = await run({ command: 'config show', config: '' });
    expect(made.commands[0]).toMatch(/^::add-mask::[0-9a-f]{32}$/);
    expect(made.log.split(String(made.commands[0]).slice('::add-mask::'.length))).toHaveLength(2);
  });

  itIf(FULL).each([
    { command: 'build; touch pwned', target: 'app' },
    { command: '$(touch pwned)', target: 'app' },
    { command: 'build', target: '--config=pwned' },
    { command: 'build', target: 'app', arguments: '--note "open' },
  ])('refuses $command $target $arguments', async (inputs) => {
    const { exit, commands } = await run(inputs);
    expect(exit).toBe(1);
    expect(commands).toEqual([expect.stringMatching(/^::error title=/)]);
  });

  itIf(FULL)('executes nothing of its inputs', async () => {
    const words = '$(touch pwned) `touch pwned` ; touch pwned';
    await run({ command: 'build', target: words, arguments: `--note '${words}'` });
    await expect(readFile(join(folder, 'pwned'))).rejects.toThrow('ENOENT');
  });

  itIf(FULL)('installs a release of its version, and refuses one that differs from its checksum', async () => {
    await mkdir(join(folder, 'tool/bin'), { recursive: true });
    await copyFile(executable, join(folder, 'tool/bin/tool'));
    const content = execFileSync('tar', ['-cz', '-C', folder, 'tool']);
    const sum = createHash('sha256').update(content).digest('hex');
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const name = `tool_${version}_${process.platform}_${architecture}.tar.gz`;
    const asked: string[] = [];
    let sums = `${'0'.repeat(64)}  tool-${version}.tgz\n${sum}  ${name}\n`;
    const releases = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end(request.url?.endsWith('checksums.txt') ? sums : content);
    }).listen(0, '127.0.0.1');
    await once(releases, 'listening');
    onTestFinished(() => void releases.close());
    const url = `http://127.0.0.1:${(releases.address() as AddressInfo).port}`;
    const env = { GITHUB_SERVER_URL: url, GITHUB_ACTION_REPOSITORY: 'acme/tool' };
    const installed = await run({ package: '', config: '' }, env);
    expect(installed.exit, installed.log).toBe(0);
    expect(installed.log).toContain(`Installed tool ${version} in `);
    expect(asked).toEqual(['checksums.txt', name].map((file) => `/acme/tool/releases/download/v${version}/${file}`));
    await run({ package: '', config: '', version: 'latest' }, env);
    expect(asked.at(-1)).toBe(`/acme/tool/releases/latest/download/${name}`);
    sums = `${'0'.repeat(64)}  ${name}\n`;
    const refused = await run({ package: '', config: '', version: '1.2.3' }, env);
    expect(refused).toMatchObject({ exit: 1, commands: [expect.stringContaining('differs from its checksum')] });
    const wrong = await run({ package: '', version: '../../evil' }, env);
    expect(wrong).toMatchObject({ exit: 1, commands: [expect.stringContaining('is no version')] });
  });

  itIf(FULL)('signs in to the hub with the ID token of the job', async () => {
    const issuer = await startTokenIssuer();
    await server.createDatabase('hub');
    const rules = [{ repository: 'acme/app', ref: 'refs/heads/main', targets: ['orders'] }];
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const github = { issuer: issuer.url, rules };
    const settings = { publicUrl, listen: { host: '127.0.0.1', port }, github, databaseUrl: server.url('hub') };
    const hub = await startHub(settings, server);
    onTestFinished(() => hub.stop());
    await putTarget(hub, 'orders', { settings: {} });
    const claims = { repository: 'acme/app', ref: 'refs/heads/main', event_name: 'push' };
    const env = { ...issuer.jobVariables(claims), TOOL_ENV: 'development', TOOL_DEV_API_URL: hub.url };
    const listed = await run({ command: 'target', target: 'orders', config: '' }, env);
    expect(listed.exit, listed.log).toBe(0);
    expect(listed.log).toContain('"target":"orders"');
    const other = await run({ command: 'target', target: 'others', config: '' }, env);
    expect(other).toMatchObject({
      exit: 2,
      commands: expect.arrayContaining([expect.stringContaining('target_unknown')]),
    });
  });

  itIf(FULL)('installs an npm package', async () => {
    const source = join(folder, 'package');
    await mkdir(source);
    await writeFile(
      join(source, 'package.json'),
      JSON.stringify({ name: 'tool', version: '9.9.9', bin: { tool: 'tool.sh' } }),
    );
    await writeFile(join(source, 'tool.sh'), '#!/bin/sh\necho 9.9.9\n', { mode: 0o755 });
    expect(spawnSync('npm', ['pack', source], { cwd: folder }).status).toBe(0);
    const installed = await run({ package: join(folder, 'tool-9.9.9.tgz') });
    expect(installed.exit, installed.log).toBe(0);
    expect(installed.log).toContain('Installed tool 9.9.9 in ');
  });
});
