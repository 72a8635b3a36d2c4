import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { planLoad } from '../../../src/operations/load/load.ts';
import { assertShared } from '../../../src/operations/sign-in/sharing.ts';
import { signIn } from '../../../src/operations/sign-in/sign-in.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../../src/operations/snapshots/transfer/export.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import { listTargets } from '../../../src/operations/targets/targets.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { signInWorld } from '../../helpers/sign-in/signed-in.ts';

const TARGETS = `storage_profiles:
  team: { provider: minio, bucket: b, endpoint: http://127.0.0.1:9, access_key: a, secret_key: b }
targets:
  open: { share: { storage_profile_name: team, dst_url: postgres://me@127.0.0.1:9/a } }
  dev: { sso_groups: [developers], share: { storage_profile_name: team, dst_url: postgres://me@127.0.0.1:9/b } }
  own: { sso_groups: [finance], snapshot: { src_url: postgres://me@127.0.0.1:9/d, dst_url: postgres://me@127.0.0.1:9/e } }
  money: { sso_groups: [finance, board], share: { storage_profile_name: team, dst_url: postgres://me@127.0.0.1:9/c } }
`;

it('targets that are shared with a group of the person are theirs, and others are shown as not shared', async () => {
  const world = await signInWorld(TARGETS);
  await signIn(await world.open(), {});
  const rows = await listTargets(await world.open());
  expect(rows.map(({ name, type, status }) => ({ name, type, status }))).toEqual([
    { name: 'open', type: 'share', status: 'unchecked' },
    { name: 'dev', type: 'share', status: 'unchecked' },
    { name: 'own', type: 'local', status: 'denied' },
    { name: 'money', type: 'share', status: 'denied' },
  ]);
  expect(rows[3]?.error).toBe(
    'not shared with you: it is for the groups finance, board, and you are ann@example.com (developers, ops)',
  );
});

const READING: Record<string, (context: Context, target: string) => Promise<unknown>> = {
  load: (context, target) => planLoad(context, { target }),
  'load of a SQL file': (context, target) => planLoad(context, { target, file: '/tmp/none.sql' }),
  pull: (context, target) => pull(context, { target }),
  export: (context, target) => exportSnapshot(context, { target, file: '/tmp/none/none.zip' }),
  list: (context, target) => listSnapshots(context, target),
  diff: (context, target) => diff(context, { target, a: 0 }),
  verify: (context, target) => verify(context, { target }),
};
const REFUSED = Object.keys(READING).map((verb) => [verb, 'money']);
const REFUSED_OF_OWN = ['load', 'load of a SQL file', 'pull', 'export'].map((verb) => [verb, 'own']);

it.each([...REFUSED, ...REFUSED_OF_OWN])(
  '%s of %s is refused to other groups, with those that would do',
  async (verb = '', target = '') => {
    const world = await signInWorld(TARGETS);
    await signIn(await world.open(), {});
    await expect(READING[verb]?.(await world.open(), target)).rejects.toMatchObject({
      code: 'target_not_shared',
      exit: 5,
      message: expect.stringMatching(/^Target "\w+" is not shared with you: it is for the groups? finance/),
    });
  },
);

it('a target shared with the person, or with everybody, is permitted', async () => {
  const world = await signInWorld(TARGETS);
  await signIn(await world.open(), {});
  await expect(assertShared(await world.open(), 'dev')).resolves.toBeUndefined();
  await expect(assertShared(await world.open(), 'open')).resolves.toBeUndefined();
});

it('nobody who is not signed in loads a target that is for a group', async () => {
  const world = await signInWorld(TARGETS);
  await expect(assertShared(await world.open(), 'dev')).rejects.toMatchObject({
    exit: 5,
    message: expect.stringContaining('you are not signed in'),
    hint: 'Sign in: tool auth login',
  });
});

it('the last groups count until they expire while the provider is unreachable', async () => {
  const world = await signInWorld(TARGETS);
  await signIn(await world.open(), {});
  await world.provider.stop();
  await expect(assertShared(await world.open(3570), 'dev')).resolves.toBeUndefined();
  await expect(assertShared(await world.open(3610), 'dev')).rejects.toMatchObject({ code: 'target_not_shared' });
  expect(world.events).toContainEqual(expect.objectContaining({ code: 'groups_not_known' }));
});

it('the claim that holds the groups has a name of its own where the configuration says so', async () => {
  const world = await signInWorld(TARGETS);
  await writeFile(world.file, (await world.text()).replace('  idp:\n', '  idp:\n    groups_claim: name\n'));
  const { groups } = await signIn(await world.open(), {});
  expect(groups).toEqual(['ann']);
});
