import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../src/operations/snapshots/transfer/export.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../helpers/storage/leftovers.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { removeLocks } from '../helpers/storage/remove-locks.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { startTool } from '../helpers/terminal/tool-process.ts';
import { trials } from '../helpers/trials.ts';

const part = trials('kills/storage');

describeWithS3('a killed operation of snapshots', () => {
  let server: S3Server;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let here: Machine;
  let there: Machine;
  let profile: BucketProfile;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startS3(), temporaryFolder()]);
    profile = await server.bucket();
    [here, there] = [await machine({ profile }), await machine({ profile })];
    for (const { directory, context } of [here, there]) {
      const { secret_key, storage_profiles, targets } = context.configuration.settings;
      const settings = { secret_key, working_directory: directory, storage_profiles, targets };
      await writeFile(configOf(directory), JSON.stringify(settings), { mode: 0o600 });
    }
  }, 240_000);

  afterAll(async () => {
    await here?.[Symbol.asyncDispose]();
    await there?.[Symbol.asyncDispose]();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const configOf = (directory: string): string => join(folder.path, `${directory.split('/').at(-1)}.yml`);
  const start = ({ directory }: Machine, words: string[]) => startTool({ config: configOf(directory), words });
  const durations = new Map<string, number>();

  it(part.title('leaves every listed snapshot whole, and nothing after the next run'), { timeout: part.timeout }, () =>
    part.each(async ({ number, random, oneOf, fraction }) => {
      const id = `${number.toString(16).padStart(4, '0')}${randomBytes(2).toString('hex')}`;
      const contents = Object.fromEntries(
        Array.from({ length: 2 + Math.floor(random() * 20) }, (_, n) => [
          `t${n}`,
          randomBytes(20_000 + Math.floor(random() * 400_000)),
        ]),
      );
      await storeTables(here.directory, { target: 'app', id, created_at: new Date().toISOString(), contents });
      const file = join(folder.path, `${id}.zip`);
      const done = async (words: string[], on = here): Promise<void> => {
        const { code, output } = await start(on, words).ended;
        expect(code, `${words.join(' ')}\n${output.slice(-2000)}`).toBe(0);
      };
      const operations = {
        push: { on: here, words: ['push', 'app', id], prepare: async () => {} },
        pull: { on: there, words: ['pull', 'app', id], prepare: () => done(['push', 'app', id]) },
        prune: {
          on: here,
          words: ['prune', 'app', '--keep-last', '1'],
          prepare: () => done(['push', 'app', id]),
        },
        rm: { on: here, words: ['rm', 'app', id], prepare: () => done(['push', 'app', id]) },
        import: {
          on: there,
          words: ['import', file],
          prepare: async () => void (await exportSnapshot(here.context, { target: 'app', snapshot: id, file })),
        },
        export: { on: here, words: ['export', 'app', id, '--output', file], prepare: async () => {} },
      };
      const name = oneOf(Object.keys(operations) as (keyof typeof operations)[]);
      const { on, words, prepare } = operations[name];
      await prepare();
      const run = start(on, words);
      const moment = 1.2 * fraction * (durations.get(name) ?? 1200);
      const at = `${name} killed after ${Math.round(moment)} ms`;
      await Promise.race([run.ended, setTimeout(moment)]);
      run.killGroup();
      await run.ended;
      await removeLocks(profile);
      await expectWhole(at);
      const again = start(on, words);
      const began = performance.now();
      const { code, output } = await again.ended;
      if (!durations.has(name)) durations.set(name, performance.now() - began);
      // What is removed or written already needs no second run.
      const isOver = /"code":"(snapshot_missing|nothing_left|file_exists)"/.test(output);
      if (!isOver) expect(code, `the next run after ${at}\n${output.slice(-2000)}`).toBe(0);
      await expectWhole(`the next run after ${at}`);
      for (const { directory } of [here, there]) {
        expect(await stagingLeftovers(directory), `leftovers after ${at}`).toEqual([]);
      }
      await rm(file, { force: true });
      // Each round looks at every snapshot of both machines.
      for (const each of [here, there]) await done(['prune', 'app', '--keep-last', '2'], each);
    }),
  );

  async function expectWhole(at: string): Promise<void> {
    for (const { context } of [here, there]) {
      for (const { id, where } of (await listSnapshots(context, 'app')).snapshots) {
        for (const place of where) {
          const verified = verify(context, { target: 'app', snapshot: id, remote: place === 'remote' });
          expect(await verified, `${id} (${place}) after ${at}`).toMatchObject({ ok: true, problems: [] });
        }
      }
    }
  }
});
