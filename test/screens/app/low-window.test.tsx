import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { confirmTrust } from '../../../screens/commands/configuration/trust.ts';
import { selectPath } from '../../../screens/editor/selection.ts';
import { UntrustedConfiguration } from '../../../src/config/trust/untrusted-configuration.ts';
import type { Effect } from '../../../src/results/configuration/effects.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';
import { screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, newModel, press, until } from '../../helpers/terminal/driven-model.ts';

const SIZE = { columns: 40, rows: 10 };

test('the question before quitting and all its answers are in view, whatever runs there are', async () => {
  const names = ['app', 'billing', 'legacy', 'a target with a name that is long'];
  const targets = names.map((name) => fakeTarget({ name }));
  const model = await listed(fakeWorld({ targets, gate: new Promise(() => {}) }));
  for (const [index] of names.entries()) {
    press(model, 'b');
    await until(() => model.runs.store.getState().runs.length === index + 1);
    press(model, 'esc', 'j');
  }
  press(model, 'q');
  const lines = await screenLines(model, SIZE);
  expect(lines.slice(1, 7)).toEqual([
    '  4 runs in progress:',
    '  build app',
    '  …',
    '  ❯ Stay',
    '    Quit when all have ended',
    '    Cancel all and quit',
  ]);
});

test('more answers than rows scroll', async () => {
  const model = await listed(fakeWorld());
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  press(model, 'y');
  const lines = await screenLines(model, SIZE);
  expect(lines[1]).toBe('  Copy to the clipboard:');
  expect(lines.slice(2, 7).every((line) => /^ {2}[❯ ] \S/.test(line))).toBe(true);
  expect(lines[7]).toMatch(/^─+$/);
});

test('facts that do not fit are cut, not drawn over each other', async () => {
  const model = await listed(fakeWorld());
  press(model, 'I');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'sign-in' && route.result !== null;
  });
  const lines = await screenLines(model, SIZE);
  expect(lines.slice(1, 7)).toEqual([
    '',
    '  ✓ You are signed in',
    '',
    '  Name      ann@example.com',
    '  Provider  idp',
    '  Groups    developers, ops',
  ]);
});

test('the effects of a configuration are visible before it is trusted', async () => {
  const model = newModel(fakeWorld());
  const effects: Effect[] = [
    { effect: 'reads', object: 'postgres://db/shop' },
    { effect: 'runs_sql', object: 'DELETE FROM customer;\nDROP TABLE log' },
  ];
  const request = { file: '/home/ada/shop/tool.yml', digest: 'abcd', effects, answered: null, files: [] };
  const error = new UntrustedConfiguration(request);
  model.targets.setState((state) => ({ ...state, error }));
  confirmTrust(model);
  const lines = await screenLines(model, SIZE);
  expect(lines.join('\n')).toMatch(
    /❯ Reads +postgres:\/\/db\/shop\n.*Runs SQL +DELETE FROM customer;\n.*DROP TABLE log/,
  );
});

test('a saved query shows its difference, and a fix what it changes', async () => {
  const suggesting = await listed(fakeWorld({ noQuery: true }));
  press(suggesting, 'enter');
  await until(() => suggesting.snapshots.getState().targets.app?.phase === 'ready');
  press(suggesting, 's');
  await until(() => suggesting.navigation.top().screen === 'choice');
  const choice = suggesting.navigation.top();
  suggesting.navigation.pop();
  if (choice.screen === 'choice') choice.answer('go');
  await until(() => suggesting.navigation.store.getState().notice?.text.includes('tried on') ?? false);
  press(suggesting, 'w');
  await until(() => {
    const route = suggesting.navigation.top();
    return route.screen === 'save-query' && route.found !== null;
  });
  expect(await screenText(suggesting, SIZE)).toMatch(/\n❯ +1 \+ .*\n +2 \+/);

  const folder = await configFolder({ 'tool.yml': withKey('targets:\n  shop:\n    snapshoot: {}\n') });
  const settings = { TOOL_TRUST: 'true', HOME: folder.path };
  const fixing = newModel(fakeWorld({ configuration: { cwd: folder.path, environment: settings } }));
  press(fixing, 'Y');
  await until(() => {
    const route = fixing.navigation.top();
    return route.screen === 'check' && route.found !== null;
  });
  press(fixing, 'f');
  await until(() => {
    const route = fixing.navigation.top();
    return route.screen === 'fix' && route.found !== null;
  });
  expect(await screenText(fixing, SIZE)).toMatch(/\n❯ +2 {3}targets:\n +3 {5}shop:\n/);
});

test('a field, its typed text and its problem are in view together', async () => {
  const folder = await configFolder({
    'tool.yml': withKey('targets:\n  shop:\n    snapshot: {src_url: "postgres://localhost:1/app"}\n'),
  });
  const environment = { TOOL_TRUST: 'true', HOME: folder.path };
  const model = newModel(fakeWorld({ configuration: { cwd: folder.path, environment } }));
  press(model, 'e');
  await until(() => editor(model).draft !== null);
  model.navigation.replace(selectPath(editor(model), ['targets', 'shop', 'snapshot', 'src_url']));
  expect(await screenText(model, SIZE)).toMatch(/\n❯ src_url +postgres.*\n +src_tunnel +not set\n/);
  press(model, 'enter', 'ctrl+u', ...'nowhere');
  await until(() => editor(model).wrong !== null);
  expect((await screenLines(model, SIZE)).slice(1, 7)).toEqual([
    '  targets.shop.snapshot',
    expect.stringMatching(/^› src_url +postgres:/),
    expect.stringMatching(/^ {2}─+$/),
    expect.stringMatching(/^ {2}src_url: nowhere/),
    expect.stringMatching(/^ {2}✗ targets\.shop\.snapshot\.src_url must/),
    expect.stringMatching(/^ {2}\S/),
  ]);
});

function editor(model: Model) {
  const route = model.navigation.top();
  if (route.screen !== 'editor') throw new Error(`the screen is ${route.screen}`);
  return route;
}
