import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dispatchKey, dispatchPaste } from '../../../screens/app/dispatch.ts';
import type { Model } from '../../../screens/app/model.ts';
import type { ChoiceRoute } from '../../../screens/choice/choice-screen.tsx';
import type { EditorRoute } from '../../../screens/editor/editor-route.ts';
import { shownValue, typedValue } from '../../../screens/editor/fields.ts';
import { type Panes, panesOf, selectPath } from '../../../screens/editor/selection.ts';
import type { KeyPath } from '../../../src/config/tree.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const FILE = withKey(`# ours
working_directory: '/tmp/work' # here
storage_profiles:
  team: { provider: s3, bucket: b, region: r, cli_profile: x }
targets:
  app: # the shop
    snapshot:
      src_url: postgres://app:hunter2@localhost:1/app
    sso_groups:
      - dev
  my.app:
    snapshot: { dst_url: "postgres://localhost:1/other" }
`);

test('a value is typed, shown as a difference, and saved: every other byte is as it was', async () => {
  const { model, text } = await opened();
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  expect(await text()).toBe(FILE);
  press(model, 'w');
  await until(() => model.navigation.top().screen === 'editor-diff');
  press(model, 'enter');
  await until(() => model.navigation.store.getState().notice?.tone === 'good');
  expect(await text()).toBe(FILE.replace("'/tmp/work'", "'/srv/work'"));
  expect(editor(model).draft?.changes).toEqual([]);
});

test('typed values are checked as by config check, before they are applied', async () => {
  const { model, folder, text } = await opened();
  select(model, ['targets', 'app', 'snapshot', 'src_url']);
  press(model, 'enter', 'ctrl+u');
  dispatchPaste(model, 'nowhere');
  await until(() => editor(model).wrong !== null);
  await folder.write('wrong.yml', FILE.replace('postgres://app:hunter2@localhost:1/app', 'nowhere'));
  const { problems } = await folder.inspect({ file: join(folder.path, 'wrong.yml') });
  expect(problems.map(({ message }) => message)).toContain(editor(model).wrong);
  press(model, 'esc');
  expect(editor(model)).toMatchObject({ typing: null, wrong: null, draft: { changes: [] } });
  expect(await text()).toBe(FILE);
});

test('a text that is not valid is not stored: Enter keeps it in its field, with the problem', async () => {
  const { model } = await opened();
  select(model, ['targets', 'app', 'snapshot', 'src_url']);
  press(model, 'enter', 'ctrl+u');
  dispatchPaste(model, 'not a url');
  await until(() => editor(model).wrong !== null);
  press(model, 'enter', 'enter');
  expect(editor(model)).toMatchObject({ typing: { text: 'not a url' }, draft: { changes: [] } });
  // Enter at once, before the check has answered: the text comes back to its field, and nothing acts on it.
  press(model, 'esc');
  type(model, 'still not a url');
  press(model, 'down', 'w', 'u');
  await until(() => editor(model).typing !== null);
  await editor(model).queue.last;
  expect(panes(model).field?.path).toEqual(['targets', 'app', 'snapshot', 'src_url']);
  expect(editor(model)).toMatchObject({ typing: { text: 'still not a url' }, draft: { changes: [] } });
  expect(editor(model).wrong).toContain('targets.app.snapshot.src_url');
  expect(model.navigation.top().screen).toBe('editor');
  press(model, 'ctrl+u');
  dispatchPaste(model, 'postgres://app:other@localhost:1/app');
  press(model, 'enter');
  await changed(model, 1);
  expect(editor(model)).toMatchObject({ typing: null, wrong: null });
  expect(editor(model).draft?.text).toContain('app:$aes$');
});

test('undo stays at its place: at the entry that is restored, and at the parent of one that is gone', async () => {
  const { model } = await opened();
  select(model, ['targets', 'my.app']);
  press(model, 'd');
  await changed(model, 1);
  press(model, 'u');
  await changed(model, 0);
  expect(panes(model).row.path).toEqual(['targets', 'my.app']);
  press(model, 'N', 'ctrl+u');
  type(model, 'renamed', []);
  await changed(model, 1);
  press(model, 'u');
  await changed(model, 0);
  expect(panes(model).row.path).toEqual(['targets', 'my.app']);
  press(model, 'n');
  type(model, 'new', []);
  await changed(model, 1);
  press(model, 'u');
  await changed(model, 0);
  expect(panes(model).row.path).toEqual(['targets']);
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  select(model, ['targets', 'app', 'snapshot', 'src_url']);
  press(model, 'u');
  await changed(model, 0);
  expect(panes(model).field?.path).toEqual(['targets', 'app', 'snapshot', 'src_url']);
  press(model, 'u');
  await until(() => model.navigation.store.getState().notice?.text === 'No changes to undo');
});

test('changes are saved on leaving when that is chosen', async () => {
  const { model, text } = await opened();
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  press(model, 'esc', 'esc');
  const { answer } = model.navigation.top() as ChoiceRoute;
  model.navigation.pop();
  answer('save');
  await until(() => model.navigation.top().screen === 'targets');
  expect(await text()).toBe(FILE.replace("'/tmp/work'", "'/srv/work'"));
  expect(model.navigation.store.getState().notice).toMatchObject({ tone: 'good' });
});

test('a password is stored encrypted, and shown neither in the form nor while it is typed', async () => {
  const { model } = await opened();
  select(model, ['targets', 'app', 'snapshot', 'src_url']);
  type(model, 'postgres://app:other@localhost:1/app');
  await changed(model, 1);
  expect(editor(model).draft?.text).toMatch(/src_url: postgres:\/\/app:\$aes\$[0-9a-f]+@localhost:1\/app\n/);
  const field = panes(model).field;
  if (!field) throw new Error('the field is gone');
  expect(shownValue(field)).toBe('postgres://app:***@localhost:1/app');
  expect(typedValue(field, 'postgres://app:oth')).toBe('postgres://app:***');
  expect(typedValue(field, 'postgres://app:other@h:5432/app')).toBe('postgres://app:*****@h:5432/app');
  expect(typedValue(field, 'postgres://h:5432/app')).toBe('postgres://h:5432/app');
});

test('targets are added, renamed and taken out, lists grow, and u takes the last of it back', async () => {
  const { model } = await opened();
  select(model, ['targets', 'app', 'sso_groups']);
  press(model, 'n');
  type(model, 'ops', []);
  await changed(model, 1);
  expect(editor(model).draft?.text).toContain('      - dev\n      - ops\n');
  select(model, ['targets']);
  press(model, 'n');
  type(model, 'app', []);
  expect(editor(model).wrong).toBe('app exists already');
  press(model, 'ctrl+u');
  type(model, 'new', []);
  await changed(model, 2);
  expect(panes(model).field?.path).toEqual(['targets', 'new', 'snapshot', 'src_url']);
  select(model, ['targets', 'new']);
  press(model, 'N', 'ctrl+u');
  type(model, 'newer', []);
  await changed(model, 3);
  expect(editor(model).draft?.text).toMatch(/\n {2}newer:\n$/);
  select(model, ['targets', 'app']);
  press(model, 'd');
  await changed(model, 4);
  expect(editor(model).draft?.text).not.toContain('hunter2');
  press(model, 'u', 'u');
  await changed(model, 2);
  expect(editor(model).draft?.text).toMatch(/hunter2[\s\S]*\n {2}new:\n$/);
});

test('a storage profile is chosen from those that there are', async () => {
  const { model } = await opened();
  select(model, ['targets', 'app', 'storage_profile']);
  press(model, 'enter');
  const choice = model.navigation.top() as ChoiceRoute;
  expect(choice.options.map(({ label }) => label)).toEqual(['not set', 'team']);
  model.navigation.pop();
  choice.answer('team');
  await changed(model, 1);
  expect(editor(model).draft?.text).toContain('      - dev\n    storage_profile: team\n');
});

test('a problem is gone to where it is, in a target with a dot in its name too', async () => {
  const { model } = await opened(FILE.replace('postgres://localhost:1/other', 'nowhere'));
  expect(panes(model).rows.map(({ label }) => label)).not.toContain('snapshot');
  press(model, 'Y');
  press(model, 'down', 'enter');
  expect(panes(model).field?.path).toEqual(['targets', 'my.app', 'snapshot', 'dst_url']);
  expect(editor(model).pane).toBe('form');
});

test.each([
  ['redo', { working_directory: '/srv/work', debug: true }, 1],
  ['reload', { working_directory: '/tmp/work', debug: true }, 0],
])('changes that others saved are never overwritten: %s', async (answer, written, changes) => {
  const { model, file, text } = await opened();
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  expect(editor(model).draft?.outdated).toBe(false);
  await appendFile(file, 'debug: true\n');
  press(model, 'u');
  await changed(model, 0);
  expect(editor(model).draft?.outdated).toBe(true);
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  press(model, 'w');
  await until(() => model.navigation.top().screen === 'editor-diff');
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'choice');
  expect(await text()).toBe(`${FILE}debug: true\n`);
  const { answer: choose } = model.navigation.top() as ChoiceRoute;
  model.navigation.pop();
  choose(answer);
  await until(() => editor(model).draft?.written.debug === true);
  expect(editor(model).draft).toMatchObject({ written });
  expect(editor(model).draft?.changes).toHaveLength(changes);
});

test('a map where a value belongs is shown as one, and can be replaced', async () => {
  const { model } = await opened(
    FILE.replace("working_directory: '/tmp/work' # here", 'working_directory: { a: [{ b: 1 }] }'),
  );
  select(model, ['working_directory']);
  const field = panes(model).field;
  expect(field && [shownValue(field), field.problems.length]).toEqual(['{…}', 1]);
  press(model, 'd');
  await changed(model, 1);
  expect(panes(model).field?.problems).toEqual([]);
});

test('closing prompts only when changes would be lost', async () => {
  const { model } = await opened();
  select(model, ['working_directory']);
  type(model, '/srv/work');
  await changed(model, 1);
  press(model, 'esc', 'esc');
  expect(model.navigation.top()).toMatchObject({
    screen: 'choice',
    options: [{ value: 'stay' }, { value: 'save' }, { value: 'leave' }],
  });
  press(model, 'esc', 'u');
  await changed(model, 0);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('a file that is no YAML is told with its place, and has no form', async () => {
  const folder = await configFolder({ 'tool.yml': 'targets: [\n' });
  const model = newModel(
    fakeWorld({ configuration: { cwd: folder.path, environment: { TOOL_TRUST: 'true', HOME: folder.path } } }),
  );
  press(model, 'e');
  await until(() => editor(model).error !== null);
  expect(editor(model)).toMatchObject({ draft: null, error: { code: 'configuration_invalid' } });
  press(model, 'w', 'a', 'd', 'enter', 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('a file that is no YAML is opened in the editor of the user at its first problem, and read again afterwards', async () => {
  const folder = await configFolder({ 'tool.yml': 'targets: [\n' });
  const file = join(folder.path, 'tool.yml');
  const world = fakeWorld({
    configuration: { cwd: folder.path, environment: { TOOL_TRUST: 'true', HOME: folder.path } },
  });
  const [problem] = world.check.problems;
  if (!problem) throw new Error('the check has no problem');
  world.check.problems = [{ ...problem, file, line: 2 }];
  const opened: string[] = [];
  let isMissing = true;
  const terminal = {
    ...fakeTerminal(),
    edit: async (path: string, line?: number) => {
      if (isMissing) throw new UserError('editor_failed', 'The editor "vi" failed');
      opened.push(`${path}:${line}`);
      await writeFile(path, 'targets: {}\n');
    },
  };
  const model = newModel(world, { terminal });
  press(model, 'e');
  await until(() => editor(model).error !== null);
  press(model, 'e');
  await until(() => model.navigation.store.getState().notice !== null);
  expect(model.navigation.store.getState().notice?.text).toBe('The editor "vi" failed');
  expect(editor(model).error, 'the screen is still there').not.toBeNull();
  isMissing = false;
  press(model, 'e');
  await until(() => editor(model).draft !== null);
  expect(opened).toEqual([`${file}:2`]);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('the editor explains why it is unavailable without a configuration, and with --read-only', async () => {
  const folder = await configFolder({});
  const world = fakeWorld({
    configuration: { cwd: folder.path, environment: { TOOL_TRUST: 'true', HOME: folder.path } },
  });
  const model = newModel(world);
  press(model, 'e');
  await until(() => model.navigation.top().screen === 'editor' && editor(model).error !== null);
  expect(editor(model).error?.hint).toBe('Create one: tool config init');
  const watching = newModel(world, { readOnly: true });
  press(watching, 'e');
  expect(watching.navigation.top().screen).toBe('targets');
  expect(watching.navigation.store.getState().notice?.text).toContain('read-only');
});

async function opened(content = FILE) {
  const folder = await configFolder({ 'tool.yml': content });
  const environment = { TOOL_TRUST: 'true', HOME: folder.path };
  const model = newModel(fakeWorld({ configuration: { cwd: folder.path, environment } }));
  press(model, 'e');
  await until(() => editor(model).draft !== null);
  const file = join(folder.path, 'tool.yml');
  return { model, folder, file, text: () => readFile(file, 'utf8') };
}

function editor(model: Model): EditorRoute {
  const found = model.navigation.store.getState().stack.find(({ screen }) => screen === 'editor');
  return found as EditorRoute;
}

function panes(model: Model): Panes {
  const found = panesOf(editor(model));
  if (!found) throw new Error('the file is not read yet');
  return found;
}

function select(model: Model, path: KeyPath): void {
  model.navigation.replace(selectPath(editor(model), path));
}

/** Types into what is opened, instead of what is there. */
function type(model: Model, text: string, before: string[] = ['enter', 'ctrl+u']): void {
  press(model, ...before);
  dispatchPaste(model, text);
  dispatchKey(model, 'enter');
}

async function changed(model: Model, count: number): Promise<void> {
  await until(() => editor(model).draft?.changes.length === count);
}

test('keys for the development of the hub are the last of their section', async () => {
  const { model } = await opened();
  const labels = panes(model).fields.map(({ label }) => label);
  expect(labels.slice(-3)).toEqual(['env', 'dev_api_url', 'staging_api_url']);
});
