import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import { clearEnvelope, sealedEnvelope } from '../../../src/repository/encryption/envelope.ts';
import type { ManifestFile } from '../../../src/repository/manifest/manifest.ts';
import { filesOf } from '../../../src/repository/repository.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import { objectKey } from '../../../src/repository/store/keys.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { storeSnapshot } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const SECRET_KEY = 'ab'.repeat(16);
const first = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', content: 'one\ntwo\n' };
const second = { ...first, id: 'bbbb1111', created_at: '2026-01-02T00:00:00.000Z' };
const OTHER = { ...first, id: 'cccc2222', created_at: '2025-01-01T00:00:00.000Z', content: 'xxx\nxxx\n' };

describeWithS3('damaged objects of a bucket', () => {
  const server = suiteResource(() => startS3());
  let here: Machine;
  let there: Machine;

  describe.each(process.env.TEST_FULL === '1' ? [{ encrypt: false }, { encrypt: true }] : [{ encrypt: true }])(
    'with encrypt: $encrypt',
    ({ encrypt }) => {
      let file: ManifestFile;

      const envelope = encrypt ? sealedEnvelope(SECRET_KEY) : clearEnvelope;

      beforeEach(async () => {
        const profile = { ...(await server.bucket()), ...(encrypt && { encrypt }) };
        const machines = () => machine({ profile, secretKey: SECRET_KEY });
        [here, there] = [await machines(), await machines()];
        const manifest = await storeSnapshot(here.directory, first);
        file = filesOf(manifest)[0] as ManifestFile;
        await push(here.context, { target: 'app' });
      });

      afterEach(async () => {
        for (const one of [here, there]) await one[Symbol.asyncDispose]();
      });

      const openStore = () =>
        createS3Store({ name: 'team', profile: here.profile, envelope, signal: here.context.signal });

      const notes = async () => (await (await openStore()).list('damaged')).map(({ key }) => key);

      const DAMAGES = {
        async rotten(): Promise<void> {
          const place = { Bucket: here.profile.bucket, Key: envelope.nameOf(objectKey(file.sha256)) };
          const { Body } = await server.client.send(new GetObjectCommand(place));
          const content = await buffer(Body as Readable);
          content[content.length - 20] = (content[content.length - 20] ?? 0) ^ 1;
          await server.client.send(new PutObjectCommand({ ...place, Body: content }));
        },
        /** By somebody who has the keys of the bucket. */
        async forged(): Promise<void> {
          const other = filesOf(await storeSnapshot(here.directory, OTHER))[0] as ManifestFile;
          const { path } = here.repository.object(other);
          const { signal } = here.context;
          await (await openStore()).put(objectKey(file.sha256), path, { signal, onBytes: () => {} });
        },
      };

      it.each(['rotten', 'forged'] as const)('a push replaces a %s object that a pull has found', async (damage) => {
        await DAMAGES[damage]();
        await expect(pull(there.context, { target: 'app' })).rejects.toMatchObject({
          code: 'snapshot_damaged',
          details: [expect.any(String), 'Reported: once confirmed, the next build or push replaces the object.'],
        });
        expect(await notes()).toEqual([`damaged/${file.sha256}`]);
        await storeSnapshot(here.directory, second);
        expect(await push(here.context, { target: 'app', snapshot: 'bbbb1111' })).toMatchObject({ objects: 1 });
        expect(await notes()).toEqual([]);
        for (const snapshot of ['aaaa0000', 'bbbb1111']) {
          const request = { target: 'app', snapshot, remote: true };
          expect(await verify(there.context, request)).toMatchObject({ ok: true });
        }
        expect(await push(here.context, { target: 'app', snapshot: 'bbbb1111' })).toMatchObject({ objects: 0 });
      });

      it.each(['rotten', 'forged'] as const)('a push replaces a %s object that verify has found', async (damage) => {
        await DAMAGES[damage]();
        expect(await verify(there.context, { target: 'app', remote: true })).toMatchObject({ ok: false, repaired: [] });
        expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 1 });
        expect(await pull(there.context, { target: 'app' })).toMatchObject({ objects: 1 });
      });

      it.each(['rotten', 'forged'] as const)('verify --repair replaces a %s object', async (damage) => {
        await DAMAGES[damage]();
        const request = { target: 'app', remote: true };
        expect(await verify(here.context, { ...request, repair: true })).toMatchObject({
          ok: true,
          repaired: [expect.stringContaining('public.items')],
        });
        expect(await verify(there.context, request)).toMatchObject({ ok: true });
        expect(await notes()).toEqual([]);
      });

      it('objects that verify --repair finds on neither side are sent by the next push that has them', async () => {
        await DAMAGES.rotten();
        const repaired = await verify(there.context, { target: 'app', remote: true, repair: true });
        expect(repaired).toMatchObject({ ok: false, repaired: [], lost: [{ id: 'aaaa0000' }] });
        expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 1 });
        expect(await verify(there.context, { target: 'app', remote: true })).toMatchObject({ ok: true });
      });

      it('a sweep ends the note of an object that is no longer there', async () => {
        await DAMAGES.rotten();
        await verify(there.context, { target: 'app', remote: true });
        const store = await openStore();
        await store.remove(objectKey(file.sha256));
        await applyRemove(here.context, await planRemove(here.context, { target: 'app', snapshot: 0, from: 'remote' }));
        expect(await notes()).toEqual([]);
      });
    },
  );

  it('a reader without the right to write reports nothing, and gets the same error', async () => {
    const profile = await server.bucket();
    [here, there] = [await machine({ profile }), await machine({ profile })];
    const manifest = await storeSnapshot(here.directory, first);
    await push(here.context, { target: 'app' });
    const { sha256 } = filesOf(manifest)[0] as ManifestFile;
    const place = { Bucket: profile.bucket, Key: objectKey(sha256) };
    await server.client.send(new PutObjectCommand({ ...place, Body: 'rotten' }));
    const policy = {
      Version: '2012-10-17',
      Statement: [
        {
          ...{ Effect: 'Deny', Principal: '*', Action: ['s3:PutObject'] },
          Resource: [`arn:aws:s3:::${profile.bucket}/damaged/*`],
        },
      ],
    };
    const { PutBucketPolicyCommand } = await import('@aws-sdk/client-s3');
    await server.client.send(new PutBucketPolicyCommand({ Bucket: profile.bucket, Policy: JSON.stringify(policy) }));
    const failed = await pull(there.context, { target: 'app' }).catch((error) => error);
    expect(failed).toMatchObject({ code: 'snapshot_damaged', details: [expect.stringContaining('public.items')] });
    expect(await verify(there.context, { target: 'app', remote: true })).toMatchObject({ ok: false });
    expect(there.events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'damage_not_reported' }));
  });
});
