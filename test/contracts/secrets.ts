import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { processTraces, SHOWN } from '../helpers/processes/process-traces.ts';
import { startTcpProxy } from '../helpers/proxies/tcp-proxy.ts';
import { removeLocks } from '../helpers/storage/remove-locks.ts';
import { startTool } from '../helpers/terminal/tool-process.ts';
import type { Round } from '../helpers/trials.ts';

export interface SecretWorld {
  round(round: Round): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Planted secrets: the password of the database, the keys of the bucket, the key of the configuration. Operations that
 * succeed, fail, are refused or killed, with and without a debug log; then every byte of what the system shows of the
 * processes, of output, logs, crash and temporary files and of the traffic without TLS is searched for them.
 */
export async function secretWorld(
  server: AnyServer,
  { folder, profile }: { folder: string; profile: BucketProfile },
): Promise<SecretWorld> {
  const work = join(folder, 'work');
  const temporary = join(folder, 'tmp');
  await mkdir(temporary, { mode: 0o1777 });
  await server.create('source');
  await server.run('source', [
    'CREATE TABLE person (id integer PRIMARY KEY, name varchar(60))',
    "INSERT INTO person VALUES (1, 'one'), (2, 'two')",
  ]);
  const password = `Pw-${randomBytes(9).toString('base64url')}'"$%\\`;
  const wire = await startTcpProxy(Number(new URL(server.url('source')).port));
  const login = await server.user('planted', password);
  const url = (database: string, given = password): string =>
    `${server.kind === 'postgres' ? 'postgres' : 'mysql'}://${login}:${encodeURIComponent(given)}@127.0.0.1:${wire.port}/${database}`;
  const secretKey = randomBytes(16).toString('hex').replace(/^./, 'f');
  const wrong = `Wrong-${randomBytes(9).toString('base64url')}`;
  const secrets = {
    password,
    'wrong password': wrong,
    'secret key of the bucket': profile.secret_key ?? '',
    secret_key: secretKey,
  };
  const target = (src_url: string) => ({
    storage_profile: 'team',
    snapshot: { src_url, dst_url: url('copy') },
    sanitize: { dst_url: url('clean'), override_query: 'UPDATE person SET name = NULL' },
  });
  const settings = {
    secret_key: secretKey,
    working_directory: work,
    storage_profiles: { team: profile },
    targets: { app: target(url('source')), wrong: target(url('source', wrong)), missing: target(url('nowhere')) },
  };
  const config = join(folder, 'tool.yml');
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  const commands = [
    ...[
      ['build', 'app'],
      ['load', 'app'],
      ['load', 'app', '--original'],
      ['undo', 'app'],
      ['sanitize', 'app'],
      ['push', 'app'],
      ['pull', 'app'],
    ],
    ...[
      ['build', 'wrong'],
      ['build', 'missing'],
      ['load', 'wrong'],
      ['targets'],
      ['target', 'app'],
      ['verify', 'app'],
      ['prune', 'app', '--keep-last', '2'],
    ],
    ...[
      ['config', 'show'],
      ['config', 'check'],
      ['load', 'app', '--dry-run'],
      ['load', 'app', '--destdb', url('other', wrong)],
      ['diff', 'app', '0', '1'],
    ],
  ];
  // What a secret looks like when it is written by something.
  const forms = Object.entries(secrets).flatMap(([name, secret]) =>
    [
      ...new Set([
        secret,
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
        Buffer.from(secret).toString('hex'),
        JSON.stringify(secret).slice(1, -1),
      ]),
    ].map((form) => ({ name, form })),
  );

  return {
    stop: wire.stop,
    async round(round) {
      const words = round.oneOf(commands);
      const isDebug = round.random() < 0.5;
      const isKilled = round.random() < 0.3;
      const environment = { TMPDIR: temporary, XDG_CACHE_HOME: join(folder, 'cache'), HOME: join(folder, 'home') };
      wire.bytes.length = 0;
      const run = startTool({ config, words: [...(isDebug ? ['--debug'] : []), ...words], environment });
      // PGPASSWORD is how libpq is given a password; an environment is for the eyes of its owner.
      const seen = processTraces(
        run.child.pid,
        SHOWN.filter((what) => what !== 'environ'),
      );
      const environments = processTraces(run.child.pid, ['environ']);
      if (isKilled) {
        await run.begun;
        await Promise.race([run.ended, setTimeout(1000 * round.fraction)]);
        run.killGroup();
      }
      const { output } = await run.ended;
      // `--destdb` was given a secret by the test itself.
      const typed = words.includes('--destdb') ? ['wrong password'] : [];
      const shown = (await seen).join('\n');
      const inherited = (await environments).join('\n');
      const files = await filesBelow([work, temporary, environment.XDG_CACHE_HOME, environment.HOME]);
      const places: [string, string, string[]][] = [
        ['the output', output, []],
        ['command lines', shown, typed],
        ['environments', inherited, ['password', 'wrong password']],
        ['the traffic', Buffer.concat(wire.bytes).toString('latin1'), []],
        ...files.map(([file, content]): [string, string, string[]] => [file, `${file}\n${content}`, []]),
      ];
      expect(shown, 'no command line was seen').toContain(config);
      for (const [place, content, allowed] of places) {
        for (const { name, form } of forms) {
          const isLeak = !allowed.includes(name) && content.includes(form);
          expect(isLeak, `${name} in ${place} after ${words.slice(0, 2).join(' ')}`).toBe(false);
        }
      }
      await server.quiet();
      if (isKilled) await removeLocks(profile);
      if (round.number % 20 === 19)
        await rm(temporary, { recursive: true }).then(() => mkdir(temporary, { mode: 0o1777 }));
    },
  };
}

/** Names and contents; what is deleted meanwhile is none. */
async function filesBelow(folders: string[]): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile()) found.push([file, await readFile(file, 'latin1').catch(() => '')]);
    }
  }
  return found;
}
