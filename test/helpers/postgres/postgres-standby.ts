import { spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServerPrograms } from '../../../src/engines/postgres/server/server-programs.ts';
import { freePort } from '../../../src/engines/shared/server/free-port.ts';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';
import { localRunner } from '../../../src/process/local.ts';
import { eventually, type TestPostgres, testContext } from './postgres-server.ts';

export interface Standby {
  url(database: string): string;
  stop(): Promise<void>;
}

/** A server that follows another and may only be read. */
export async function startStandby(primary: TestPostgres, own: Record<string, string> = {}): Promise<Standby> {
  const context = testContext({ settings: {} });
  const runner = localRunner({ environment: process.env, report: () => {} });
  const { bin } = await findServerPrograms(context);
  const user = await unprivilegedUser('postgres');
  const directory = await mkdtemp(join(tmpdir(), 'tool-standby-'));
  await chmod(directory, 0o700);
  if (user) await chown(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const as = user && { user };
  const args = ['--write-recovery-conf', '--checkpoint=fast', `--pgdata=${data}`, '--dbname', primary.url('postgres')];
  const copied = await runner.run({ file: join(bin, 'pg_basebackup'), args, ...as });
  if (copied.exitCode !== 0) throw new Error(`pg_basebackup: ${copied.stderr}`);
  const port = await freePort();
  const settings = {
    port: `${port}`,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    ...own,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], {
    stdio: 'ignore',
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = (database: string): string => primary.url(database).replace(`:${primary.port}/`, `:${port}/`);
  const ready = async (): Promise<boolean> => {
    const words = ['-X', '-A', '-t', '-d', url('postgres'), '-c', 'SELECT pg_is_in_recovery()'];
    return (await runner.run({ file: join(bin, 'psql'), args: words })).stdout.trim() === 't';
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGINT');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  await eventually(ready, { deadline: 60_000 }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, stop };
}
