import { expect, test } from 'vitest';
import { dispatchKey, dispatchPaste } from '../../../screens/app/dispatch.ts';
import type { Model } from '../../../screens/app/model.ts';
import type { EditorRoute } from '../../../screens/editor/editor-route.ts';
import { suggestionsAt } from '../../../screens/editor/names.ts';
import { panesOf, selectPath } from '../../../screens/editor/selection.ts';
import type { KeyPath } from '../../../src/config/tree.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { type FakeWorld, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';

const FILE = withKey(`storage_profiles:
  team: { provider: s3, bucket: b, region: r, cli_profile: x }
targets:
  app: # the shop
    snapshot:
      src_url: postgres://localhost:1/app
      schema_config: { include_schemas: [public] }
    subset:
      dst_url: postgres://localhost:1/small
      copy_tables:
        - public.customer # whole
    surprise: hunter2
`);

test('the tables of the source are offered while one is typed, those of the list left out, and Enter takes the chosen', async () => {
  const { model } = await opened();
  add(model, ['targets', 'app', 'subset', 'copy_tables']);
  await until(() => offered(model) !== null);
  expect(offered(model)).toEqual(['sales.orders']);
  press(model, 'down', 'enter');
  await until(() => text(model).includes('sales.orders'));
  expect(text(model)).toContain('        - public.customer # whole\n        - sales.orders\n');
});

test('typed text narrows names, Tab completes the best, and Enter applies the text while none is chosen', async () => {
  const { model } = await opened();
  add(model, ['targets', 'app', 'subset', 'excluded_tables']);
  await until(() => offered(model)?.length === 2);
  press(model, 'O', 'r', 'd');
  expect(offered(model)).toEqual(['sales.orders']);
  press(model, 'tab');
  expect(editor(model).typing?.text).toBe('sales.orders');
  press(model, '_', '2', 'enter');
  await until(() => text(model).includes('excluded_tables: [sales.orders_2]'));
});

test('up from the first one is what was typed again, and what is below the form stays where it was', async () => {
  const { model } = await opened();
  add(model, ['targets', 'app', 'subset', 'excluded_tables']);
  await until(() => offered(model)?.length === 2);
  press(model, 'down', 'down', 'up');
  expect(editor(model).suggestion).toBe('public.customer');
  press(model, 'up');
  expect(editor(model).suggestion).toBeNull();
  expect(panesOf(editor(model))?.row.path).toEqual(['targets', 'app', 'subset', 'excluded_tables']);
});

test('a value that is there already is no search: all names are offered until something else is typed', async () => {
  const { model } = await opened();
  model.navigation.replace(selectPath(editor(model), ['targets', 'app', 'subset', 'copy_tables', 0]));
  press(model, 'enter');
  await until(() => offered(model)?.length === 2);
  dispatchKey(model, 'backspace');
  expect(offered(model)).toEqual(['public.customer']);
});

test('schemas are offered where schemas are named, profiles of the client where one is', async () => {
  const { model } = await opened();
  add(model, ['targets', 'app', 'snapshot', 'schema_config', 'include_schemas']);
  await until(() => offered(model) !== null);
  expect(offered(model)).toEqual(['sales']);
  press(model, 'esc');
  model.navigation.replace(selectPath(editor(model), ['storage_profiles', 'team', 'cli_profile']));
  press(model, 'enter');
  await until(() => offered(model) !== null);
  expect(offered(model)).toEqual(['team']);
});

test('the server is asked once, and only when a name is typed', async () => {
  const { model, world } = await opened();
  let asked = 0;
  const { listSourceNames } = model.operations;
  model.operations.listSourceNames = (session, request) => {
    asked += 1;
    return listSourceNames(session, request);
  };
  expect(asked).toBe(0);
  for (const list of ['copy_tables', 'excluded_tables']) {
    add(model, ['targets', 'app', 'subset', list]);
    await until(() => offered(model) !== null);
    press(model, 'esc');
  }
  expect([asked, world.done]).toEqual([1, []]);
});

test('an unreachable server is reported, and the name can be typed', async () => {
  const failNames = new UserError('unreachable', 'Cannot reach the server');
  const { model } = await opened({ failNames });
  add(model, ['targets', 'app', 'subset', 'excluded_tables']);
  await until(() => suggestionsAt(editor(model))?.state.state === 'failed');
  dispatchPaste(model, 'public.log');
  dispatchKey(model, 'enter');
  await until(() => text(model).includes('excluded_tables: [public.log]'));
});

test('a key that nobody knows can be renamed and taken out, and its value is not shown', async () => {
  const { model } = await opened();
  model.navigation.replace(selectPath(editor(model), ['targets', 'app', 'surprise']));
  expect(panesOf(editor(model))?.field).toMatchObject({ label: 'surprise', isKnown: false });
  press(model, 'enter', 'ctrl+u');
  dispatchPaste(model, 'surprises');
  await until(() => editor(model).wrong === 'unknown key targets.app.surprises');
  press(model, 'ctrl+u');
  dispatchPaste(model, 'name');
  dispatchKey(model, 'enter');
  await until(() => text(model).includes('    name: hunter2\n'));
  press(model, 'u');
  await until(() => text(model) === FILE);
  model.navigation.replace(selectPath(editor(model), ['targets', 'app', 'surprise']));
  press(model, 'd');
  await until(() => !text(model).includes('surprise'));
});

async function opened(change: Partial<FakeWorld> = {}) {
  const folder = await configFolder({ 'tool.yml': FILE });
  const world = fakeWorld({
    configuration: { cwd: folder.path, environment: { TOOL_TRUST: 'true', HOME: folder.path } },
    ...change,
  });
  const model = newModel(world);
  press(model, 'e');
  await until(() => editor(model).draft !== null);
  return { model, world };
}

function editor(model: Model): EditorRoute {
  const found = model.navigation.store.getState().stack.find(({ screen }) => screen === 'editor');
  return found as EditorRoute;
}

/** The names that are offered; `null` as long as none are known. */
function offered(model: Model): string[] | null {
  const suggestions = suggestionsAt(editor(model));
  return suggestions?.state.state === 'known' ? suggestions.names.map(({ name }) => name) : null;
}

function text(model: Model): string {
  return editor(model).draft?.text ?? '';
}

function add(model: Model, list: KeyPath): void {
  model.navigation.replace(selectPath(editor(model), list));
  press(model, 'n');
}
