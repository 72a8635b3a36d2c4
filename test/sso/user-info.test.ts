import { expect, it } from 'vitest';
import { assertShared } from '../../src/operations/sign-in/sharing.ts';
import { signIn } from '../../src/operations/sign-in/sign-in.ts';
import { signInStatus } from '../../src/operations/sign-in/sign-in-status.ts';
import { signInWorld } from '../helpers/sign-in/signed-in.ts';

async function userInfoWorld() {
  const groups = { ann: ['developers', 'ops'] };
  const world = await signInWorld('', { groups, claimsInUserInfo: true });
  await signIn(await world.open(), {});
  return { world, groups };
}

it('groups from the userinfo endpoint count, and are stored encrypted', async () => {
  const { world } = await userInfoWorld();
  const [status] = await signInStatus(await world.open());
  expect(status).toMatchObject({ subject: 'ann', name: 'ann@example.com', groups: ['developers', 'ops'] });
  expect(await world.text()).toMatch(/^ {4}user_info: \$aes\$[0-9a-f]+$/m);
});

it('they are read again at each refresh', async () => {
  const { world, groups } = await userInfoWorld();
  groups.ann = ['sales'];
  await world.nearItsEnd();
  expect(await signInStatus(await world.open())).toMatchObject([{ groups: ['sales'] }]);
});

it('a refresh that cannot ask for them knows none, keeps the session, and asks again with the next use', async () => {
  const { world } = await userInfoWorld();
  world.provider.failUserInfo(true);
  await world.nearItsEnd();
  expect(await signInStatus(await world.open())).toMatchObject([{ signed_in: true, groups: [], error: null }]);
  world.provider.failUserInfo(false);
  expect(await signInStatus(await world.open())).toMatchObject([{ groups: ['developers', 'ops'] }]);
  expect(world.provider.refreshes()).toBe(2);
});

it('without the provider they count until the ID token expires', async () => {
  const { world } = await userInfoWorld();
  await world.provider.stop();
  const [soon, later] = [await world.open(3570), await world.open(3610)];
  const target = { name: 'app', sso_groups: ['ops'] };
  for (const { configuration } of [soon, later]) configuration.settings.targets.app = target;
  await expect(assertShared(soon, 'app')).resolves.toBeUndefined();
  await expect(assertShared(later, 'app')).rejects.toMatchObject({ code: 'target_not_shared', exit: 5 });
});

it('a sign-in that cannot ask for them fails, and nothing is stored', async () => {
  const world = await signInWorld('', { claimsInUserInfo: true });
  const before = await world.text();
  world.provider.failUserInfo(true);
  await expect(signIn(await world.open(), {})).rejects.toMatchObject({ code: 'provider_unreachable', exit: 4 });
  expect(await world.text()).toBe(before);
});

it('the endpoint is not read when the ID token has them', async () => {
  const world = await signInWorld();
  world.provider.failUserInfo(true);
  expect(await signIn(await world.open(), {})).toMatchObject({ groups: ['developers', 'ops'] });
});
