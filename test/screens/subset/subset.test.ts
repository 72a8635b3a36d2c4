import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { SubsetRoute } from '../../../screens/subset/subset-route.ts';
import { subsetTree } from '../../../src/operations/subset/text.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, SECRET_KEY } from '../../helpers/terminal/config-folder.ts';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

function placeOf(model: Model): SubsetRoute | null {
  const place = model.navigation.top();
  return place.screen === 'subset' ? place : null;
}

/** `public.orders: child, 450` */
function shown(model: Model): string[] {
  const rows = subsetTree(placeOf(model)?.found?.shown.tables ?? []);
  return rows.map(
    ({ table, depth, rule, rows_expected }) => `${'  '.repeat(depth)}${table}: ${rule}, ${rows_expected}`,
  );
}

async function planned(world = fakeWorld()): Promise<Model> {
  const model = await listed(world);
  press(model, 'x');
  await counted(model);
  return model;
}

function counted(model: Model): Promise<void> {
  return until(() => placeOf(model)?.counting === false);
}

test('the plan is a tree: each table below the one that it comes by, what is asked for first', async () => {
  expect(shown(await planned())).toEqual([
    'public.customer: target, 50',
    '  public.orders: child, 450',
    '    public.product: parent, 120',
    'public.country: copy, 200',
  ]);
});

test('tables are left out, come whole, and come by another share; rows are counted anew each time', async () => {
  const model = await planned();
  press(model, '>');
  await counted(model);
  expect(shown(model).slice(0, 2)).toEqual(['public.customer: target, 100', '  public.orders: child, 900']);
  press(model, 'j', 'j', '-');
  await counted(model);
  expect(shown(model)).toContain('public.product: excluded, 0');
  expect(placeOf(model)?.list.selected).toBe('public.product');
  press(model, '+');
  await counted(model);
  expect(shown(model)).toContain('public.product: copy, 400');
  press(model, '+');
  await counted(model);
  expect(shown(model)).toContain('    public.product: parent, 120');
});

test('contradictory choices are rejected with the reason', async () => {
  const model = await planned();
  press(model, '-');
  expect(model.navigation.store.getState().notice?.text).toBe('public.customer is a subset table');
  press(model, 'j', '<');
  expect(model.navigation.store.getState().notice?.text).toBe('public.orders is not selected by a percentage');
  expect(placeOf(model)?.changed).toBe(false);
});

test('choices are saved, and are marked as unsaved until then', async () => {
  const world = fakeWorld();
  const model = await planned(world);
  press(model, 'G', '+');
  await counted(model);
  expect(placeOf(model)?.changed).toBe(true);
  press(model, 'w');
  await until(() => placeOf(model)?.changed === false);
  expect(world.done).toEqual([
    'save app: {"subset_tables":[{"table":"public.customer","percent":5}],"copy_tables":[],"excluded_tables":[]}',
  ]);
});

test('Enter asks, and then makes it as it is planned', async () => {
  const world = fakeWorld();
  const model = await planned(world);
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'confirm');
  expect(model.navigation.top()).toMatchObject({ title: 'subset' });
  expect(world.done).toEqual([]);
});

test('an impossible plan is not applied, and Enter explains why; the same key reverts the last change', async () => {
  const world = fakeWorld();
  const model = await planned(world);
  const { plan } = model.operations;
  model.operations.plan = () => Promise.reject(new UserError('subset_impossible', 'product_id is NOT NULL'));
  press(model, 'G', '+', 'enter');
  expect(model.navigation.store.getState().notice?.text).toBe('The plan is not ready yet');
  await counted(model);
  expect(placeOf(model)?.error?.message).toBe('product_id is NOT NULL');
  press(model, 'enter');
  expect(model.navigation.top().screen).toBe('subset');
  model.operations.plan = plan;
  press(model, '+');
  await counted(model);
  expect(shown(model)).toContain('public.country: copy, 200');
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'confirm');
  expect(world.done).toEqual([]);
});

test('a target without a subset is offered a suggestion, whose file is shown before it is written', async () => {
  const folder = await configFolder({
    'tool.yml': `secret_key: "${SECRET_KEY}"\ntargets:\n  app:\n    snapshot:\n      src_url: postgres://localhost/app\n`,
  });
  const environment = { TOOL_TRUST: 'true', HOME: folder.path };
  const world = fakeWorld({ lacksSubset: true, configuration: { environment, cwd: folder.path } });
  const model = await listed(world);
  press(model, 'x');
  await until(() => model.navigation.top().screen === 'choice');
  const offer = model.navigation.top();
  expect(offer).toMatchObject({ question: 'app has no subset. Suggest one?' });
  expect(offer.screen === 'choice' && offer.options[0]?.label).toBe('Cancel');
  model.navigation.pop();
  if (offer.screen === 'choice') offer.answer('go');
  await counted(model);
  expect(placeOf(model)).toMatchObject({ suggested: true, changed: true });
  press(model, '>');
  await counted(model);
  press(model, 'w');
  await until(() => model.navigation.top().screen === 'editor-diff');
  expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).not.toContain('subset');
  press(model, 'esc');
  expect(placeOf(model)?.changed).toBe(true);
  press(model, 'w');
  await until(() => model.navigation.top().screen === 'editor-diff');
  press(model, 'enter');
  await until(() => placeOf(model)?.changed === false);
  expect(placeOf(model)?.suggested).toBe(false);
  const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
  expect(text).toContain('- table: public.customer\n          percent: 10\n');
  expect(text).toContain('dst_url: postgres://localhost/app_subset');
});

test('Esc leaves the offer, and a source without rows is reported instead of a second offer', async () => {
  const world = fakeWorld({ lacksSubset: true });
  const model = await listed(world);
  press(model, 'x');
  await until(() => model.navigation.top().screen === 'choice');
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
  const { plan } = model.operations;
  press(model, 'x');
  await until(() => model.navigation.top().screen === 'choice');
  const offer = model.navigation.top();
  model.navigation.pop();
  model.operations.plan = () => Promise.reject(new UserError('subset_missing', 'No table of the source has rows'));
  if (offer.screen === 'choice') offer.answer('go');
  await counted(model);
  expect(placeOf(model)?.error?.message).toBe('No table of the source has rows');
  model.operations.plan = plan;
});
