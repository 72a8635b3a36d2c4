import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelOptions } from '../../../screens/app/create-model.ts';
import type { Model } from '../../../screens/app/model.ts';
import { type CheckRoute, rowsOf, selectedProblem } from '../../../screens/check/selection.ts';
import { panesOf } from '../../../screens/editor/selection.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const FILE = withKey(`# ours
working_directory: work
authtoken: hunter2
targets:
  app: # the shop
    snapshoot: # old
      src_url: postgres://app@localhost:1/app
    cpus: many
`);

test('errors come first, and the selected problem shows what f does', async () => {
  const { model } = await opened();
  expect(rowsOf(top(model)).map(({ subject }) => subject)).toEqual(
    expect.arrayContaining(['targets.app.snapshoot', 'targets.app.cpus', 'secrets', 'postgres-local', 'keychain']),
  );
  for (const size of SIZES) {
    const lines = await screenText(model, size);
    expect(lines).toMatch(/❯ ✗ +targets\.app\.snapshoot +unknown key/);
    expect(lines).toMatch(/Result +unknown key targets\.app\.snapshoot/);
    expect(lines).toMatch(/f +Rename snapshoot to snapshot/);
    expect(lines).toContain('f fix');
  }
});

test('f shows the difference, Enter makes it, and everything is looked at again', async () => {
  const { model, text } = await opened();
  press(model, 'f');
  await until(() => foundOf(model) !== null);
  for (const size of SIZES) {
    const lines = await screenText(model, size);
    expect(lines).toMatch(/- {5}snapshoot: .*\n.*\+ {5}snapshot:/);
    expect(lines).toContain('Enter apply');
  }
  expect(await text()).toBe(FILE);
  press(model, 'enter');
  await until(() => model.navigation.store.getState().notice !== null && top(model).found !== null);
  expect(await text()).toBe(FILE.replace('snapshoot', 'snapshot'));
  expect(rowsOf(top(model)).map(({ subject }) => subject)).not.toContain('targets.app.snapshoot');
  expect(model.navigation.store.getState().notice).toEqual({
    tone: 'good',
    text: 'Done: Rename snapshoot to snapshot',
  });
});

test('Esc leaves the file as it is, and the finding selected', async () => {
  const { model, text } = await opened();
  press(model, 'f');
  await until(() => foundOf(model) !== null);
  press(model, 'esc');
  expect(selectedProblem(top(model))?.subject).toBe('targets.app.snapshoot');
  expect(await text()).toBe(FILE);
});

test('a finding that only a person can mend says so, and E edits the configuration there', async () => {
  const { model } = await opened();
  select(model, 'targets.app.cpus');
  press(model, 'f');
  expect(model.navigation.store.getState().notice?.text).toBe('No automatic fix: press e to edit it');
  press(model, 'e');
  await until(() => panes(model) !== null);
  expect(panes(model)?.field?.path).toEqual(['targets', 'app', 'cpus']);
  press(model, 'esc', 'esc');
  expect(selectedProblem(top(model))?.subject).toBe('targets.app.cpus');
});

test('a file that is no YAML is opened in the editor of the person, at the line', async () => {
  const edited: [string, number | undefined][] = [];
  const terminal = fakeTerminal({ edit: async (file, line) => void edited.push([file, line]) });
  const { model, file } = await opened('# ours\ntargets: [\n', { terminal });
  press(model, 'e');
  await until(() => edited.length > 0);
  expect(edited).toEqual([[file, 3]]);
});

test('nothing is fixed with --read-only', async () => {
  const { model } = await opened(FILE, { readOnly: true });
  press(model, 'f');
  expect(model.navigation.top().screen).toBe('check');
  expect(model.navigation.store.getState().notice?.text).toContain('read-only');
});

const SIZES = [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
];

async function opened(content = FILE, options: Partial<ModelOptions> = {}) {
  const folder = await configFolder({ 'tool.yml': content });
  const environment = { TOOL_TRUST: 'true', HOME: folder.path, PATH: folder.path };
  const model = newModel(fakeWorld({ configuration: { cwd: folder.path, environment } }), options);
  press(model, 'Y');
  await until(() => top(model).found !== null);
  const file = join(folder.path, 'tool.yml');
  return { model, file, text: () => readFile(file, 'utf8') };
}

function top(model: Model): CheckRoute {
  const place = model.navigation.store.getState().stack.find(({ screen }) => screen === 'check');
  return place as CheckRoute;
}

function foundOf(model: Model): unknown {
  const place = model.navigation.top();
  return place.screen === 'fix' ? place.found : null;
}

function panes(model: Model) {
  const place = model.navigation.top();
  return place.screen === 'editor' ? panesOf(place) : null;
}

function select(model: Model, subject: string): void {
  const place = top(model);
  const id = rowsOf(place).find((row) => row.subject === subject)?.id ?? null;
  model.navigation.replace({ ...place, list: { ...place.list, selected: id } });
}
