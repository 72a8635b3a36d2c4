import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { S3Client } from '@aws-sdk/client-s3';
import { describe } from 'vitest';
import { createS3Client } from '../../../src/repository/s3/client.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { eventually } from '../postgres/postgres-server.ts';
import { freePort } from '../proxies/free-port.ts';

/** A real S3 service on this machine: signatures are checked, quotas hold. */
export interface S3Server {
  endpoint: string;
  client: S3Client;
  /** A new, empty bucket, as a storage profile; with `objects`, its owner may not store more than so many. */
  bucket(limit?: { objects: number }): Promise<BucketProfile>;
  /** Credentials of another user of the service, who owns nothing. */
  user(name: string): Promise<Credentials>;
  /** The service's own administration (radosgw-admin). */
  admin(...words: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

export type Credentials = Pick<BucketProfile, 'access_key' | 'secret_key'>;

const PROGRAMS = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph', 'ceph-authtool', 'monmaptool', 'radosgw-admin'];

/** A suite that needs an S3 service: skipped by name where there is none, but for `npm run test:full`. */
export function describeWithS3(name: string, suite: () => void): void {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const there = PROGRAMS.every((program) => folders.some((folder) => existsSync(join(folder, program))));
  const skip = !there && process.env.TEST_FULL !== '1';
  describe.skipIf(skip)(skip ? `${name} (needs Ceph's RADOS gateway)` : name, suite);
}

const run = promisify(execFile);
const KEYS = { access_key: 'testaccess', secret_key: 'testsecret123' };

/** With it the gateway calls wrong keys something else, so that it is only for those who ask for it. */
const ROLES = ['--rgw-s3-auth-use-sts=true', '--rgw-sts-key=0123456789abcdef'];

/** Starts Ceph's RADOS gateway: one monitor, one OSD in memory, one gateway; ready in some two seconds. */
export async function startS3({ roles = false } = {}): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-s3-'));
  const [port, monitorPort] = [await freePort(), await freePort()];
  const conf = join(folder, 'ceph.conf');
  const started: ChildProcess[] = [];
  const at = (...words: string[]): string => join(folder, ...words);
  const begin = async (program: string, ...words: string[]): Promise<void> => {
    const log = await open(at('log', `${program}.out`), 'w');
    started.push(spawn(program, ['-c', conf, ...words, '-f'], { stdio: ['ignore', log.fd, log.fd] }));
    await log.close();
  };
  const admin = (...words: string[]) => run('radosgw-admin', ['-c', conf, ...words]);
  const user = async (name: string): Promise<Credentials> => {
    const other = { access_key: name, secret_key: `secret of ${name}` };
    const words = ['--access-key', other.access_key, '--secret-key', other.secret_key];
    await admin('user', 'create', '--uid', name, '--display-name', name, ...words);
    return other;
  };
  const ceph = (...words: string[]) => run('ceph', ['-c', conf, ...words], { timeout: 30_000 });
  const stop = async (): Promise<void> => {
    await Promise.all(
      started.map((child) => {
        if (child.exitCode !== null || child.signalCode !== null) return undefined;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        return ended;
      }),
    );
    await rm(folder, { recursive: true, force: true });
  };

  try {
    await Promise.all(['mon', 'osd', 'run', 'log'].map((name) => mkdir(at(name))));
    await writeFile(conf, configuration(folder, monitorPort));
    const ring = at('keyring');
    await run('ceph-authtool', ['--create-keyring', ring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *']);
    const all = ['mon', 'osd', 'mgr'].flatMap((part) => ['--cap', part, 'allow *']);
    await run('ceph-authtool', [ring, '--gen-key', '-n', 'client.admin', ...all]);
    const address = `[v2:127.0.0.1:${monitorPort}]`;
    const fsid = '0a0a0a0a-0000-4000-8000-000000000000';
    await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', address, at('monmap')]);
    await run('ceph-mon', ['-c', conf, '--mkfs', '-i', 'a', '--monmap', at('monmap'), '--keyring', ring]);
    await begin('ceph-mon', '-i', 'a');
    await ceph('osd', 'create');
    for (const [who, ...caps] of [
      ['osd.0', 'mon', 'allow profile osd', 'osd', 'allow *', 'mgr', 'allow *'],
      ['client.rgw', 'mon', 'allow rw', 'osd', 'allow rwx'],
    ] as const) {
      await appendFile(ring, (await ceph('auth', 'get-or-create', who, ...caps)).stdout);
    }
    await run('ceph-osd', ['-c', conf, '-i', '0', '--mkfs']);
    await begin('ceph-osd', '-i', '0');
    const frontends = `--rgw-frontends=beast endpoint=127.0.0.1:${port}`;
    await begin('radosgw', '-n', 'client.rgw', frontends, ...(roles ? ROLES : []));
    const endpoint = `http://127.0.0.1:${port}`;
    const answers = (): Promise<boolean> =>
      fetch(endpoint).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually(answers, { deadline: 30_000 });
    const { access_key, secret_key } = KEYS;
    const owner = ['--uid', 'owner'];
    const keys = ['--access-key', access_key, '--secret-key', secret_key];
    await admin('user', 'create', ...owner, '--display-name', 'owner', ...keys);
    const service = { provider: 'minio', endpoint, ...KEYS } as const;
    const client = await createS3Client({ ...service, bucket: 'unused' });
    const { CreateBucketCommand } = await import('@aws-sdk/client-s3');
    let buckets = 0;
    return {
      endpoint,
      client,
      stop,
      async bucket(limit) {
        buckets += 1;
        const bucket = `bucket-${buckets}`;
        const owner = limit ? { ...service, ...(await user(bucket)), bucket } : { ...service, bucket };
        if (limit) {
          const scope = ['--quota-scope', 'bucket', '--uid', bucket];
          await admin('quota', 'set', ...scope, `--max-objects=${limit.objects}`);
          await admin('quota', 'enable', ...scope);
        }
        await (await createS3Client(owner)).send(new CreateBucketCommand({ Bucket: bucket }));
        return owner;
      },
      user,
      admin,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(folder: string, monitorPort: number): string {
  return `[global]
fsid = 0a0a0a0a-0000-4000-8000-000000000000
mon host = [v2:127.0.0.1:${monitorPort}]
public addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
log file = ${folder}/log/$name.log
pid file = ${folder}/run/$name.pid
keyring = ${folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon osd adjust heartbeat grace = false
ms bind ipv6 = false
ms bind msgr1 = false
paxos propose interval = 0.02
paxos min wait = 0.01
rgw dynamic resharding = false
rgw bucket quota ttl = 0
rgw user quota bucket sync interval = 1
rgw user quota sync interval = 1
[mon.a]
mon data = ${folder}/mon
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 8589934592
osd class load list = *
osd class default list = *
[client.rgw]
rgw enable usage log = false
rgw enable ops log = false
`;
}
