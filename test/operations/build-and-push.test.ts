import { globSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { diff } from '../../src/operations/snapshots/diff/diff.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { withProgram } from '../helpers/mysql/mysql-programs.ts';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

describeWithPostgres('a build that pushes, and a load that pulls', () =>
  describeWithS3('with a bucket', () => {
    let postgres: TestPostgres;
    let s3: S3Server;
    let profile: BucketProfile;
    let here: Machine;
    let there: Machine;

    beforeAll(async () => {
      [postgres, s3] = await Promise.all([startPostgres(), startS3()]);
      await postgres.createDatabase('source');
      const sql = `
        CREATE TABLE items AS SELECT id, md5(id::text) AS text FROM generate_series(1, 5000) id;
        CREATE TABLE notes AS SELECT id FROM generate_series(1, 10) id;
        CREATE SCHEMA billing;
        CREATE TABLE billing.bills AS SELECT id, repeat('x', 100) AS text FROM generate_series(1, 5000) id;`;
      await postgres.psql('source', { sql });
    });

    afterAll(() => Promise.all([postgres.stop(), s3.stop()]));

    beforeEach(async () => {
      profile = await s3.bucket();
      [here, there] = [await teamMachine(profile), await teamMachine(profile)];
    });

    afterEach(async () => {
      for (const one of [here, there]) await one[Symbol.asyncDispose]();
    });

    function teamMachine(profile: BucketProfile): Promise<Machine> {
      const snapshot = { src_url: postgres.url('source'), dst_url: postgres.url('copy') };
      const everything = { schema_config: { use_default_schema: false } };
      return machine({
        profile,
        targets: {
          app: { storage_profile: 'team', snapshot: { ...snapshot, ...everything } },
          // The same snapshots, of which a load takes one schema only.
          part: { share: { storage_profile_name: 'team', dst_url: postgres.url('part') } },
        },
      });
    }

    it('program has no effect on PostgreSQL, and says so', async () => {
      const events: RunEvent[] = [];
      const context = { ...withProgram(here.context, 'app'), report: (event: RunEvent) => void events.push(event) };
      expect(await build(context, { target: 'app', push: false })).not.toHaveProperty('program');
      expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'program_without_effect' }));
    });

    it('another machine loads the built snapshot, and compares the destination with it', async () => {
      const built = await build(here.context, { target: 'app' });
      expect(built.where).toEqual(['local', 'remote']);
      const planned = await planLoad(there.context, { target: 'app' });
      expect(planned.plan.steps[0]).toMatch(/^Pull \d+.* kB from s3:\/\/bucket-\d+$/);
      expect(await there.repository.list('app')).toEqual([]);
      expect(await applyLoad(there.context, planned)).toMatchObject({ tables: 3, rows: 10_010 });
      expect((await listSnapshots(there.context, 'app')).snapshots[0]?.where).toEqual(['local', 'remote']);

      expect(await diff(there.context, { target: 'app', a: 0 })).toMatchObject({ changes: [], unchanged: 3 });
      await postgres.psql('copy', {
        sql: 'DELETE FROM notes WHERE id < 4; CREATE TABLE fresh (); DROP TABLE billing.bills',
      });
      const moved = await diff(there.context, { target: 'app', a: 0 });
      expect(moved.destination).toContain('/copy');
      expect(moved.changes).toEqual([
        { table: 'billing.bills', change: 'gone', from: { rows: 5000, bytes: expect.any(Number) }, to: null },
        { table: 'public.fresh', change: 'added', from: null, to: { rows: 0, bytes: null } },
        {
          ...{ table: 'public.notes', change: 'changed' },
          from: { rows: 10, bytes: expect.any(Number) },
          to: { rows: 7, bytes: null },
        },
      ]);
    });

    it('a share target loads it into its own destination, pulling only the tables that it needs', async () => {
      await build(here.context, { target: 'app' });
      const request = { target: 'part', original: true };
      const { rows } = await applyLoad(there.context, await planLoad(there.context, request));
      expect(rows).toBe(5010);
      expect(await postgres.psql('part', { sql: 'SELECT count(*) FROM items' })).toBe('5000\n');
      expect(await there.repository.list('app')).toEqual([]);
      await expect(planLoad(there.context, { target: 'part' })).rejects.toMatchObject({ code: 'snapshot_missing' });
    });

    it('a load of some tables pulls only theirs, and its plan only what says which', async () => {
      const objects = () => globSync(`${there.directory}/objects/*/*`).length;
      await build(here.context, { target: 'app' });
      const request = { target: 'app', tables: ['public.notes'] };
      const planned = await planLoad(there.context, request);
      expect(planned.plan.selection).toMatchObject({ needed: [], empty: ['billing.bills', 'public.items'] });
      expect(objects()).toBe(1);
      expect(await applyLoad(there.context, planned)).toMatchObject({ tables: 1, rows: 10 });
      expect(objects()).toBe(2);
      expect(await postgres.psql('copy', { sql: 'SELECT count(*) FROM items' })).toBe('0\n');
      expect(await there.repository.list('app')).toEqual([]);
    });

    it('a push that fails leaves a good snapshot, exit 1, and says how it is pushed', async () => {
      const cut = await teamMachine({ ...profile, secret_key: 'wrong' });
      const failed = await build(cut.context, { target: 'app' }).catch((error) => error);
      const [built] = await cut.repository.list('app');
      expect(failed).toMatchObject({
        code: 'push_failed',
        exit: 1,
        details: [expect.stringContaining('rejected the credentials'), expect.any(String)],
        hint: `Fix this, then run: tool push app ${built?.id}`,
      });
      cut.context.configuration.settings.storage_profiles.team = profile;
      expect(await push(cut.context, { target: 'app' })).toMatchObject({ snapshot: { id: built?.id } });
      await cut[Symbol.asyncDispose]();
    });

    it('a build that is told not to push does not', async () => {
      expect((await build(here.context, { target: 'app', push: false })).where).toEqual(['local']);
      expect((await listSnapshots(there.context, 'app')).snapshots).toEqual([]);
    });
  }),
);
