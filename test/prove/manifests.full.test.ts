import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { ownKey } from '../../src/operations/key.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { type Headline, headlineOf } from '../../src/repository/headlines/headline.ts';
import { type Manifest, parseManifest } from '../../src/repository/manifest/manifest.ts';
import { publicKeyText, signManifest } from '../../src/repository/manifest/signature.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import type { Store } from '../../src/repository/store/store.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { UserError } from '../../src/runtime/errors.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { type Round, trials } from '../helpers/trials.ts';

const manifests = trials('borders/manifests');

type Fields = Record<string, unknown>;

describeWithPostgres('manifests and left-over indexes', () => {
  describeWithS3('in a bucket whose owner edits them', () => {
    let server: TestPostgres;
    let s3: S3Server;
    let profile: BucketProfile;
    let store: Store;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let trusted: string;
    let readers = 0;
    const counted = { loaded: 0, refused: 0 };
    /** The signed manifests by key. */
    const signed = new Map<string, Manifest>();
    const foreign: KeyObject = generateKeyPairSync('ed25519').privateKey;

    function contextOf(person: string, trustedKeys?: string[]): Context {
      const home = join(folder.path, person);
      const settings = {
        working_directory: join(home, 'work'),
        storage_profiles: { team: profile },
        defaults: { shared_target_dst_db_url: server.url('copy'), cpus: 1 },
        targets: {
          app: {
            storage_profile: 'team',
            snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
            sanitize: { override_query: 'UPDATE t SET a = 0', dst_url: server.url('work') },
          },
          shared: { share: { storage_profile_name: 'team' } },
        },
        ...(trustedKeys && { trusted_keys: trustedKeys }),
      };
      return { ...testContext({ settings, events: [] }), environment: { ...process.env, HOME: home } };
    }

    beforeAll(async () => {
      if (manifests.isEmpty) return;
      folder = await temporaryFolder();
      [server, s3] = await Promise.all([startPostgres(), startS3()]);
      profile = await s3.bucket();
      await server.createDatabase('source');
      const ann = contextOf('ann');
      for (const value of [1, 2]) {
        const sql = `DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT ${value} AS a FROM generate_series(1, ${value})`;
        await server.psql('source', { sql });
        await build(ann, { target: 'app' });
        if (value === 1) await applySanitize(ann, await planSanitize(ann, { target: 'app' }));
      }
      trusted = (await ownKey({ HOME: join(folder.path, 'ann') })).public_key;
      store = await createS3Store({ name: 'team', profile, signal: ann.signal });
      for (const { key } of await store.list('snapshots')) {
        signed.set(key, parseManifest((await store.read(key)) ?? ''));
      }
      expect([...signed.values()].map(({ sanitized }) => sanitized).sort()).toEqual([false, false, true]);
    }, 120_000);

    afterAll(async () => {
      await Promise.all([server?.stop(), s3?.stop()]);
      await folder?.[Symbol.asyncDispose]();
    });

    async function restore(): Promise<void> {
      for (const part of ['snapshots', 'index']) {
        for (const { key } of await store.list(part)) if (!signed.has(key)) await store.remove(key);
      }
      for (const [key, manifest] of signed) await store.write(key, JSON.stringify(manifest));
    }

    /** The value of a field of another manifest, or one that means something. */
    function editField({ oneOf }: Round, fields: Fields): void {
      const other = { ...oneOf([...signed.values()]) } as Fields;
      const name = oneOf([
        ...['sanitized', 'sanitized', 'sanitized', 'target', 'id', 'created_at', 'sanitized_of', 'sanitized_at'],
        ...['signature', 'signature', 'tables', 'files', 'details', 'server_version', 'engine', 'format', 'note'],
        ...['tags', 'pinned', 'added_bytes', 'schemas', 'git', 'migrations', '__proto__', 'unknown'],
      ]);
      const value = oneOf([
        ...[other[name], other[name], !fields[name], undefined, null, 'shared', 'app', 'ffff0000', [], {}, 0],
        ...['2031-01-01T00:00:00.000Z', true],
      ]);
      Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
    }

    function editSignature({ oneOf }: Round, fields: Fields): void {
      const signature = fields.signature as Record<string, string> | undefined;
      const other = oneOf([...signed.values()]).signature;
      const way = oneOf(['remove', 'key', 'value', 'foreign', 'foreign with the key of the other'] as const);
      if (way === 'remove') delete fields.signature;
      if (way === 'key') fields.signature = { ...signature, key: oneOf([trusted, publicKeyText(foreign), 'ed25519-']) };
      if (way === 'value') fields.signature = { ...signature, value: oneOf([other?.value, '', 'AAAA']) };
      if (!way.startsWith('foreign')) return;
      const { signature: made } = signManifest(fields as unknown as Manifest, foreign);
      fields.signature = way === 'foreign' ? made : { ...made, key: trusted };
    }

    /** Edits one manifest, under its own key or that of another. */
    async function editManifest(round: Round): Promise<void> {
      const { oneOf } = round;
      const [key, manifest] = oneOf([...signed]);
      const fields: Fields = { ...manifest };
      for (let edits = oneOf([0, 1, 1, 2, 3]); edits > 0; edits -= 1) {
        oneOf([editField, editField, editSignature])(round, fields);
      }
      const { id, target } = fields;
      const isNamed = ['app', 'shared'].includes(String(target)) && /^[0-9a-f]{8}$/.test(String(id));
      const named = isNamed ? { ...manifest, id: String(id), target: String(target) } : manifest;
      const places = [key, key, key, oneOf([...signed.keys()]), manifestKey({ ...manifest, id: 'eeee0000' })];
      const text = JSON.stringify(fields);
      const twice = text.replace('"sanitized":false', '"sanitized":false,"sanitized":true');
      await store.write(oneOf([...places, manifestKey(named)]), oneOf([text, text, text, twice, text.slice(0, -20)]));
    }

    async function writeIndex({ oneOf }: Round): Promise<void> {
      const entries = (await store.list('snapshots')).map(({ key, version }) => {
        const headline: Fields = { ...headlineOf(oneOf([...signed.values()])) };
        if (oneOf([true, false])) Object.assign(headline, { sanitized: true, sanitized_at: '2031-01-01T00:00:00Z' });
        return [key, { version: oneOf([version, version, 'x']), headline }];
      });
      const index = { format: oneOf([1, 2]), headlines: Object.fromEntries(entries) };
      await store.write(`index/${oneOf(['app', 'shared'])}.json`, JSON.stringify(index));
    }

    async function edit(round: Round): Promise<void> {
      for (let edits = round.oneOf([1, 2, 3]); edits > 0; edits -= 1) {
        await round.oneOf([editManifest, editManifest, writeIndex])(round);
      }
    }

    function signedAs({ id, origin }: Pick<SnapshotRow, 'id' | 'origin'>): Manifest | undefined {
      return [...signed.values()].find((manifest) => manifest.id === id && manifest.target === (origin ?? 'app'));
    }

    /** Everything but the annotations and the facts of git and migrations, which a first signature does not cover. */
    function factsOf(headline: Headline | SnapshotRow): Fields {
      const { sanitized, sanitized_of, sanitized_at, created_at, engine, server_version, schemas, tables } = headline;
      const { rows, size_bytes, stored_bytes } = headline;
      const kind = { sanitized, sanitized_of, sanitized_at, created_at, engine, server_version };
      return { ...kind, schemas, tables, rows, size_bytes, stored_bytes };
    }

    /** A row with the badge of sanitized data, or of a trusted signature, is as it was signed. */
    function checkRow(row: SnapshotRow): void {
      if (!row.sanitized && row.signature.state !== 'trusted') return;
      const manifest = signedAs(row);
      expect(row.signature).toEqual({ state: 'trusted', key: trusted });
      expect(manifest, `nobody has signed ${row.id}`).toBeDefined();
      if (manifest) expect(factsOf(row)).toEqual(factsOf(headlineOf(manifest)));
    }

    /** `null`: refused, as the user is told. */
    async function unlessRefused<Result>(work: Promise<Result>): Promise<Result | null> {
      return work.catch((error) => {
        expect(error).toBeInstanceOf(UserError);
        counted.refused += 1;
        return null;
      });
    }

    async function round(given: Round): Promise<void> {
      const { oneOf } = given;
      readers += 1;
      const person = `reader-${readers}`;
      const reader = contextOf(person, [trusted]);
      // One that has read the bucket before has a cache.
      if (oneOf([true, false])) await listSnapshots(reader, oneOf(['app', 'shared']));
      await edit(given);
      for (const target of ['app', 'shared']) {
        const listed = await unlessRefused(listSnapshots(reader, target));
        for (const row of listed?.snapshots ?? []) {
          checkRow(row);
          if (target === 'shared') expect(row.sanitized).toBe(true);
        }
      }
      const named = oneOf([undefined, undefined, 0, 1, oneOf([...signed.values()]).id]);
      const request = {
        target: oneOf(['app', 'shared']),
        ...(named !== undefined && { snapshot: named }),
        ...(oneOf([true, false, false]) && { original: true }),
      };
      const planned = await unlessRefused(planLoad(reader, request));
      const snapshot = planned?.plan.snapshot;
      if (planned && snapshot) {
        checkRow(snapshot);
        const manifest = signedAs(snapshot);
        expect(snapshot.signature.state).toBe('trusted');
        expect(planned.plan).toMatchObject({ sanitized: manifest?.sanitized, tables: 1, rows: snapshot.rows });
        if (oneOf([true, false])) await edit(given);
        const loaded = await unlessRefused(applyLoad(reader, planned));
        if (loaded && manifest) {
          const sql = "SELECT string_agg(a::text, '') FROM t";
          const all = (await server.psql('copy', { sql })).trim();
          const values = manifest.sanitized ? '0' : manifest.tables[0]?.rows === 1 ? '1' : '22';
          expect(all).toBe(values);
          counted.loaded += 1;
        }
      }
      await restore();
      await rm(join(folder.path, person), { recursive: true, force: true });
    }

    it(manifests.title('what is listed and loaded is what was signed, or nothing'), {
      timeout: manifests.timeout,
    }, async () => {
      await manifests.each(round);
      if (manifests.isLong) {
        expect(counted.loaded).toBeGreaterThan(0);
        expect(counted.refused).toBeGreaterThan(0);
      }
    });
  });
});
