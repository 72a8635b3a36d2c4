import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { annotate } from '../../../src/operations/snapshots/annotate/annotate.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { StorageProfile } from '../../../src/repository/s3/connection.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { startOperation } from '../../helpers/storage/storage-process.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';

const ROUNDS = process.env.TEST_FULL ? 10 : 1;

describe.each([{ encrypt: false }, { encrypt: true }])(
  'a folder as a storage profile, encrypt: $encrypt',
  ({ encrypt }) => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let path: string;
    let machines: Machine<StorageProfile>[];

    beforeEach(async () => {
      folder = await temporaryFolder();
      path = join(folder.path, 'nas');
      await mkdir(path);
      const profile: StorageProfile = { provider: 'folder', path, encrypt };
      machines = await Promise.all(Array.from({ length: 3 }, () => machine({ profile })));
    });

    afterEach(async () => {
      for (const one of machines) await one[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    });

    const snapshot = (id: string, contents: Record<string, string | Uint8Array>) => ({
      ...{ target: 'app', id, created_at: `2026-01-0${id.slice(0, 1)}T00:00:00.000Z`, contents },
    });

    it('transfers a complete snapshot to another machine, with its annotations', async () => {
      const [here, there, third] = machines as [
        Machine<StorageProfile>,
        Machine<StorageProfile>,
        Machine<StorageProfile>,
      ];
      const contents = { small: '1\tone\n', large: randomBytes(20_000_000), empty: '' };
      await storeTables(here.directory, snapshot('1a000000', contents));
      const pushed = await push(here.context, { target: 'app' });
      expect(pushed).toMatchObject({ objects: 3, storage: path });
      expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 0, bytes: 0 });
      await annotate(there.context, { target: 'app', snapshot: '1a000000', note: 'from there' });
      expect((await listSnapshots(third.context, 'app')).snapshots).toMatchObject([{ note: 'from there' }]);
      expect(await verify(there.context, { target: 'app', remote: true })).toMatchObject({ ok: true, files: 3 });
      expect(await pull(there.context, { target: 'app' })).toMatchObject({ objects: 3 });
      expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 3 });
    });

    it('stays whole when two processes push what a third removes', async () => {
      const [one, two, three] = machines as [Machine<StorageProfile>, Machine<StorageProfile>, Machine<StorageProfile>];
      for (let round = 0; round < ROUNDS; round += 1) {
        const shared = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, randomBytes(20_000)]));
        const ids = { old: `1a00000${round}`, first: `2b00000${round}`, second: `3c00000${round}` };
        await storeTables(three.directory, snapshot(ids.old, shared));
        await storeTables(one.directory, snapshot(ids.first, { ...shared, mine: randomBytes(100_000) }));
        await storeTables(two.directory, snapshot(ids.second, { ...shared, mine: randomBytes(100_000) }));
        await push(three.context, { target: 'app', snapshot: ids.old });
        const running = await Promise.all([
          startOperation(one, { operation: 'push', snapshot: ids.first }),
          startOperation(two, { operation: 'push', snapshot: ids.second }),
          startOperation(three, { operation: 'remove', snapshot: ids.old, days: 2 }),
        ]);
        for (const { ended } of running) expect(await ended).toEqual({ end: 0, output: '' });
        for (const id of [ids.first, ids.second]) {
          expect(await verify(three.context, { target: 'app', snapshot: id, remote: true })).toMatchObject({
            ok: true,
          });
        }
      }
      expect(await readdir(join(path, 'locks'))).toEqual([]);
    }, 180_000);
  },
);
