import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { dockerRunner } from '../../src/process/docker.ts';
import { localRunner } from '../../src/process/local.ts';
import type { Mount, Runner } from '../../src/process/runner.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { describeWithDocker, IMAGE, startDocker, treeOfImage } from '../helpers/docker/docker-daemon.ts';
import { startRegistry } from '../helpers/docker/image-registry.ts';
import { eventually, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../helpers/processes/processes.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const { signal: never } = new AbortController();
const SECRET = 'hunter2-never-seen';

describeWithDocker('a tool in a container', () => {
  const docker = suiteResource(startDocker);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let events: RunEvent[];
  let runner: Runner;

  beforeEach(async () => {
    folder = await temporaryFolder();
    events = [];
    runner = runnerFor({});
  });

  afterEach(async () => {
    for (const name of await docker.containers()) await docker.docker('rm', '--force', name);
    await folder[Symbol.asyncDispose]();
  });

  function runnerFor({
    image = IMAGE,
    mounts = [] as Mount[],
    environment = docker.environment,
    signal = never,
  }): Runner {
    const report = (event: RunEvent): void => void events.push(event);
    const local = localRunner({ environment, report });
    return dockerRunner({
      ...{ image, runner: local, report, signal, mounts },
      ...{ containerEnv: { HOME: '/home/somebody' }, env: { PGUSER: 'somebody' } },
    });
  }

  function shell(script: string) {
    return { file: 'sh', args: ['-c', script] };
  }

  it('gives its output, its words and its exit code, and takes input and environment', async () => {
    const lines: string[] = [];
    const script = 'cat; echo "$HOME $PGUSER $OWN"; echo one >&2; echo two >&2; exit 3';
    const result = await runner.run(
      { ...shell(script), env: { OWN: SECRET } },
      { input: 'given\n', onErrorLine: (line) => lines.push(line) },
    );
    expect(result).toEqual({
      exitCode: 3,
      stdout: `given\n/home/somebody somebody ${SECRET}\n`,
      stderr: 'one\ntwo\n',
    });
    expect(lines).toEqual(['one', 'two']);
  });

  it('shares one container with earlier and later commands, which is removed when idle', async () => {
    const { stdout } = await runner.run({ file: '/usr/lib/postgresql/18/bin/pg_dump', args: ['--version'] });
    expect(stdout).toContain('pg_dump (PostgreSQL) 18');
    const names = await Promise.all(['a', 'b', 'c'].map((word) => runner.run({ file: 'echo', args: [word] })));
    expect(names.map((result) => result.stdout)).toEqual(['a\n', 'b\n', 'c\n']);
    expect(await docker.containers()).toHaveLength(1);
    await eventually(async () => (await docker.containers()).length === 0, { deadline: 15_000 });
    expect((await runner.run({ file: 'echo', args: ['again'] })).stdout).toBe('again\n');
  });

  it('reads large input and writes large output whole', async () => {
    const child = runner.start({ file: 'md5sum', args: [] });
    const part = Buffer.alloc(1_000_000, 'x');
    const sum = once(child.stdout.setEncoding('utf8'), 'data');
    for (let count = 0; count < 20; count += 1) {
      await new Promise<void>((resolve, reject) => {
        child.stdin.write(part, (error) => (error ? reject(error) : resolve()));
      });
    }
    child.stdin.end();
    const expected = execFileSync('sh', ['-c', 'head -c 20000000 /dev/zero | tr "\\0" x | md5sum'], {
      encoding: 'utf8',
    });
    expect((await sum)[0]).toBe(expected);
    expect((await child.ended).exitCode).toBe(0);
    const { stdout } = await runner.run(shell('head -c 3000000 /dev/zero | tr "\\0" y'));
    expect(stdout).toBe('y'.repeat(3_000_000));
  });

  it('sees only the folders that it names, and writes only to writable ones', async () => {
    const comma = join(folder.path, 'with, comma');
    await mkdir(comma);
    await writeFile(join(comma, 'file'), 'seen');
    await expect(runner.run({ file: 'cat', args: [join(comma, 'file')] })).resolves.toMatchObject({ exitCode: 1 });
    const cat = await runner.run({ file: 'cat', args: [join(comma, 'file')], mounts: [{ path: comma }] });
    expect(cat.stdout).toBe('seen');
    const touch = { file: 'touch', args: [join(comma, 'new')] };
    expect((await runner.run({ ...touch, mounts: [{ path: comma }] })).exitCode).toBe(1);
    expect((await runner.run({ ...touch, mounts: [{ path: comma, writable: true }] })).exitCode).toBe(0);
    expect((await stat(join(comma, 'new'))).uid).toBe(process.getuid?.());
    const gone = await runner.run({ file: 'true', args: [], mounts: [{ path: join(folder.path, 'nowhere') }] });
    expect(gone.exitCode).toBe(0);
  });

  it('has its secrets neither in arguments nor in docker inspect', async () => {
    const child = runner.start({ ...shell('echo ready; cat'), env: { PGPASSWORD: SECRET } });
    await once(child.stdout, 'data');
    expect(await processesNaming('PGPASSWORD')).not.toEqual([]);
    expect(await processesNaming(SECRET)).toEqual([]);
    const [name = ''] = await docker.containers();
    expect(await docker.docker('inspect', name)).not.toContain(SECRET);
    expect(JSON.stringify(events)).not.toContain(SECRET);
    child.stdin.end();
    expect((await child.ended).exitCode).toBe(0);
  });

  it('is ended by an abort with all that it has started, and its container is still good', async () => {
    const controller = new AbortController();
    const child = runner.start(shell('sleep 4711 & echo ready; sleep 4711'), { signal: controller.signal });
    await once(child.stdout, 'data');
    const [name] = await docker.containers();
    controller.abort(new Error('stopped'));
    await expect(child.ended).rejects.toThrow('stopped');
    expect(await processesNaming('sleep 4711')).toEqual([]);
    await runner.run({ file: 'true', args: [] });
    expect(await docker.containers()).toEqual([name]);
  });

  it('that ignores SIGTERM is killed', async () => {
    const child = runner.start(shell('trap "" TERM; echo ready; while :; do sleep 1; done'));
    await once(child.stdout, 'data');
    child.stdout.resume();
    child.kill();
    expect(await child.ended).toMatchObject({ exitCode: null });
  });

  it('is not started any more when it was aborted while its container was', async () => {
    const controller = new AbortController();
    const running = runner.run(shell(`touch ${folder.path}/started`), { signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    const killed = runner.start({ file: 'true', args: [] });
    killed.kill();
    killed.stdout.resume();
    expect(await killed.ended).toMatchObject({ exitCode: null });
  });

  it('a program that is missing in the image is an error', async () => {
    await expect(runner.run({ file: '/nowhere/psql', args: [] })).rejects.toMatchObject({
      code: 'tool_not_started',
      message: `Cannot start /nowhere/psql in a container of ${IMAGE}`,
    });
  });

  it('whose container is removed fails with the reason, and the next has a new one', async () => {
    const child = runner.start(shell('echo ready; cat'));
    await once(child.stdout, 'data');
    child.stdout.resume();
    child.stdin.on('error', () => {});
    const [name = ''] = await docker.containers();
    await docker.docker('rm', '--force', name);
    await expect(child.ended).rejects.toMatchObject({ code: 'container_lost' });
    expect((await runner.run({ file: 'echo', args: ['again'] })).stdout).toBe('again\n');
  });

  it('removes the containers of a killed process, and no others', async () => {
    const { pid } = spawnSync('true');
    const label = ['--label', `com.tool.machine=${hostname()}`];
    const leave = async (name: string, ...flags: string[]): Promise<void> => {
      await docker.docker('run', '--detach', '--network=host', '--name', name, ...flags, IMAGE, 'sleep', 'infinity');
    };
    await leave(`tool-${pid}-0badcafe`, ...label);
    await leave(`tool-${process.pid}-0badcafe`, ...label);
    await leave('somebody-elses');
    await runner.run({ file: 'true', args: [] });
    const names = await docker.containers();
    expect(names).toContain(`tool-${process.pid}-0badcafe`);
    expect(names).toContain('somebody-elses');
    expect(names).not.toContain(`tool-${pid}-0badcafe`);
  });

  it('pulls a missing image with progress', async () => {
    await using registry = await startRegistry({ root: treeOfImage() });
    const pulled = runnerFor({ image: registry.image });
    expect((await pulled.run(shell('echo from the shell of the image'))).stdout).toBe('from the shell of the image\n');
    expect(events.filter(({ event }) => event === 'step')).toEqual([
      { event: 'step', step: 'pull', state: 'started', label: `Pull ${registry.image}` },
      { event: 'step', step: 'pull', state: 'done', label: `Pulled ${registry.image}` },
    ]);
    const told = events.filter(({ event }) => event === 'progress');
    expect(told.at(-1)).toEqual({ event: 'progress', step: 'pull', done: 2, total: 2, unit: 'layers' });
  });

  it('stops a pull with the run that wants the image, and not with a command that was given up', async () => {
    await using registry = await startRegistry({ root: treeOfImage(), stalled: true });
    const run = new AbortController();
    const pulling = runnerFor({ image: registry.image, signal: run.signal });
    const impatient = new AbortController();
    const first = pulling.run({ file: 'true', args: [] }, { signal: impatient.signal });
    await eventually(async () => registry.waiting() > 0);
    impatient.abort(new Error('given up'));
    await expect(first).rejects.toThrow('given up');
    const second = pulling.run({ file: 'true', args: [] });
    const outcome = expect(second).rejects.toThrow('stopped');
    expect(await processesNaming(`pull ${registry.image}`)).toHaveLength(1);
    run.abort(new Error('stopped'));
    await outcome;
    expect(await processesNaming(`pull ${registry.image}`)).toEqual([]);
  });

  it('an unavailable image is an error with a hint', async () => {
    const missing = runnerFor({ image: 'localhost:1/postgres:17' });
    await expect(missing.run({ file: 'true', args: [] })).rejects.toMatchObject({
      code: 'image_unavailable',
      exit: 4,
      message: 'Cannot pull the image localhost:1/postgres:17',
      details: [expect.stringContaining('localhost:1')],
      hint: expect.stringContaining('docker pull localhost:1/postgres:17'),
    });
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'step', step: 'pull', state: 'started', label: 'Pull localhost:1/postgres:17' }),
    );
  });

  it('needs a daemon that answers, and its client program', async () => {
    const environment = { ...docker.environment, DOCKER_HOST: `unix://${folder.path}/nobody.sock` };
    await expect(runnerFor({ environment }).run({ file: 'true', args: [] })).rejects.toMatchObject({
      code: 'docker_unreachable',
      exit: 4,
      details: [expect.stringContaining('nobody.sock')],
    });
    await expect(
      runnerFor({ environment: { PATH: folder.path } }).run({ file: 'true', args: [] }),
    ).rejects.toMatchObject({ code: 'docker_missing', exit: 1 });
  });

  it('runs as the user of the program', async () => {
    const self = `${process.getuid?.()}:${process.getgid?.()}`;
    expect((await runner.run(shell('echo $(id -u):$(id -g)'))).stdout).toBe(`${self}\n`);
    const other = await runner.run({ ...shell('echo $(id -u):$(id -g)'), user: { uid: 1234, gid: 5678 } });
    expect(other.stdout).toBe('1234:5678\n');
  });

  it('reaches servers of this machine by localhost', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : null;
    const { stdout } = await runner.run({ file: 'bash', args: ['-c', `cat < /dev/tcp/localhost/${port}`] });
    server.close();
    expect(stdout).toBe('hello');
  });

  it('reaches a unix socket in a folder that it may only read', async () => {
    const server = createServer((socket) => socket.end()).listen(join(folder.path, '.s.PGSQL.5432'));
    const called = once(server, 'connection');
    const psql = { file: 'psql', args: ['--dbname', `host=${folder.path} user=somebody`, '--command', 'SELECT 1'] };
    expect(await runner.run({ ...psql, mounts: [{ path: folder.path }] })).toMatchObject({ exitCode: 2 });
    await called;
    server.close();
  });
});
