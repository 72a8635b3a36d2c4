import { describe, expect, test } from 'vitest';
import { clearEnvelope, sealedEnvelope } from '../../../src/repository/encryption/envelope.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import { testStore } from '../../contracts/store.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithS3('a bucket', () => {
  const server = suiteResource(() => startS3());

  const signal = new AbortController().signal;

  describe.each([
    { what: 'as it is', envelope: clearEnvelope },
    { what: 'encrypted', envelope: sealedEnvelope('ab'.repeat(16)) },
  ])('$what', ({ envelope }) => {
    testStore({
      create: async () => createS3Store({ name: 'team', profile: await server.bucket(), envelope, signal }),
      seesBytes: true,
    });
  });

  test('two profiles with prefixes share a bucket and see nothing of each other', async () => {
    const profile = await server.bucket();
    const a = await createS3Store({ name: 'a', profile: { ...profile, prefix: '/team-a/' }, signal });
    const b = await createS3Store({ name: 'b', profile: { ...profile, prefix: 'team-b' }, signal });
    await a.write('snapshots/app/one.json', 'a');
    expect(a.name).toBe(`s3://${profile.bucket}/team-a`);
    expect(await b.read('snapshots/app/one.json')).toBeNull();
    expect(await b.list('snapshots')).toEqual([]);
    expect((await a.list('snapshots')).map(({ key }) => key)).toEqual(['snapshots/app/one.json']);
  });
});
