import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { EditorRoute } from '../../../screens/editor/editor-route.ts';
import { selectPath } from '../../../screens/editor/selection.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';
import { screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';

const FILE = withKey(`targets:
  漢字 🚀:
    cpus: 0
    snapshot:
      src_url: postgres://app:hunter2@localhost:1/app
`);

test('tree and form are side by side at 120×40, with description, default and problem of the field', async () => {
  const model = await opened();
  const wide = { columns: 120, rows: 40 };
  const general = await screenLines(model, wide);
  expect(general.find((line) => line.includes('❯ general'))).toMatch(/❯ general +secret_key +\*\*\*$/);
  expect(general.join('\n')).toContain('production (default)');
  model.navigation.replace(selectPath(top(model), ['targets', '漢字 🚀', 'cpus']));
  const lines = await screenText(model, wide);
  expect(lines).toContain('›   - 漢字 🚀 ✗');
  expect(lines).toMatch(/❯ cpus +0 ✗/);
  expect(pointers(await screenLines(model, wide))).toBe(1);
  press(model, 'enter');
  // The cursor in the typed text is the only one.
  expect(pointers(await screenLines(model, wide))).toBe(0);
  expect(lines).toContain('✗ targets.漢字 🚀.cpus must be at least 1');
  expect(lines).toContain('CPU cores for this target.');
});

test('the form follows the tree at 60×20, and no password is shown', async () => {
  const model = await opened();
  const narrow = { columns: 60, rows: 20 };
  expect(await screenText(model, narrow)).not.toContain('secret_key');
  model.navigation.replace(selectPath(top(model), ['targets', '漢字 🚀', 'snapshot', 'src_url']));
  const lines = await screenLines(model, narrow);
  expect(lines.join('\n')).not.toContain('Sections');
  expect(lines[2]).toBe('❯ src_url     postgres://app:***@localhost:1/app');
  expect(lines.at(-1)).toContain('w save');
});

test.each([
  { columns: 40, rows: 10 },
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
])('a new target shows its source URL, selected, at $columns×$rows', async (size) => {
  const model = await opened();
  model.navigation.replace(selectPath(top(model), ['targets']));
  press(model, 'n', ...'shop', 'enter');
  await until(() => top(model).draft?.changes.length === 1);
  expect(await screenText(model, size)).toMatch(/❯ src_url +not set/);
});

test('the difference shows lines with their numbers, secrets masked', async () => {
  const model = await opened();
  model.navigation.replace(selectPath(top(model), ['targets', '漢字 🚀', 'snapshot', 'src_url']));
  press(model, 'd', 'w');
  await until(() => model.navigation.top().screen === 'editor-diff');
  const lines = await screenLines(model, { columns: 60, rows: 20 });
  expect(lines.join('\n')).toContain('6 -       src_url: postgres://app:***@localhost:1/app');
  expect(lines.join('\n')).toContain('6 +       {}');
});

/** Below the title, whose parts it separates. */
function pointers([, ...lines]: string[]): number {
  return lines.filter((line) => line.includes('❯')).length;
}

async function opened(): Promise<Model> {
  const folder = await configFolder({ 'tool.yml': FILE });
  const model = newModel(
    fakeWorld({ configuration: { cwd: folder.path, environment: { TOOL_TRUST: 'true', HOME: folder.path } } }),
  );
  press(model, 'e');
  await until(() => top(model).draft !== null);
  return model;
}

function top(model: Model): EditorRoute {
  return model.navigation.top() as EditorRoute;
}
