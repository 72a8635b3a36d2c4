import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { keysOf } from '../../../screens/app/keys.ts';
import { SCREENS } from '../../../screens/app/screens.ts';
import { configurationHint, EMPTY, unknownKeyText } from '../../../screens/app/text.ts';
import { EDITOR_NOTICES, SECTION_HINTS } from '../../../screens/editor/text.ts';
import { COMMAND_IDS, isCommandKey, KEY_COMMANDS, mayShareKey } from '../../../src/config/schema/default-keys.ts';
import { notBuiltText } from '../../../src/operations/build/text.ts';
import { queryEditedText } from '../../../src/operations/sanitize/coverage-text.ts';
import { querySavedText } from '../../../src/operations/sanitize/suggestion-text.ts';
import { revealByKey } from '../../../src/operations/snapshots/rows/rows-text.ts';
import { hubNotice } from '../../../src/operations/targets/targets-text.ts';
import { detailsWithKey, summaryOf } from '../../../src/presentation/shapes/summary.ts';
import { noSnapshotsLines, snapshotFacts } from '../../../src/presentation/snapshot.ts';
import type { HubState } from '../../../src/results/cloud-results.ts';
import type { ErrorCode } from '../../../src/runtime/error-codes.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press } from '../../helpers/terminal/driven-model.ts';

const bindings = Object.entries(SCREENS).flatMap(([screen, { keys }]) => keys.map((binding) => ({ screen, binding })));

describe('one key means one thing on all screens', () => {
  test('every key that is a character belongs to one command', () => {
    const keys = COMMAND_IDS.flatMap((id) => KEY_COMMANDS[id].keys.map((key: string) => ({ id, key })));
    const doubled = keys.filter(({ id, key }) =>
      keys.some((other) => other.key === key && other.id !== id && !mayShareKey(id, other.id)),
    );
    expect(doubled).toEqual([]);
    expect(keys.filter(({ key }) => !isCommandKey(key))).toEqual([]);
  });

  test('no screen has two commands that share a key', () => {
    const both = Object.entries(SCREENS).flatMap(([screen, { keys }]) => {
      const ids = [...new Set(keys.flatMap(({ id }) => id ?? []))];
      return ids.filter((id) => ids.some((other) => other !== id && mayShareKey(id, other))).map((id) => [screen, id]);
    });
    expect(both).toEqual([]);
  });

  test('every binding has the keys of its command, the shown one first', () => {
    const contradictions = bindings.flatMap(({ screen, binding }) => {
      const { id, label, help } = binding;
      const characters = keysOf(binding).filter(isCommandKey);
      const own: readonly string[] = id === undefined ? [] : KEY_COMMANDS[id].keys;
      const isOwn = characters.every((key) => own.includes(key)) && characters[0] === own[0];
      return isOwn ? [] : [`${screen}: ${characters.join(' ')} (${label ?? help}) is ${id ?? 'no command'}`];
    });
    expect(contradictions).toEqual([]);
  });

  test('every command is on a screen', () => {
    const used = new Set(bindings.map(({ binding }) => binding.id));
    expect(COMMAND_IDS.filter((id) => !used.has(id))).toEqual([]);
  });
});

describe('keys of the configuration', () => {
  test('take the place of the others; named keys stay', async () => {
    const world = fakeWorld();
    const model = await listed(world);
    model.session.setState({ keys: { build: 'Z', help: 'ctrl+g' } });
    press(model, 'b');
    expect(model.navigation.store.getState().notice?.text).toContain('b has no command here');
    expect(model.navigation.store.getState().notice?.text).toContain('Ctrl-G');
    press(model, 'ctrl+g');
    expect(model.navigation.top().screen).toBe('help');
    press(model, 'esc', 'Z');
    await model.runs.settled();
    await expect.poll(() => world.done).toEqual(['build app']);
  });

  test('sentences name the configured key, and the default one without configuration', async () => {
    const model = await listed(fakeWorld());
    const changed = Object.fromEntries(COMMAND_IDS.map((id, index) => [id, String.fromCodePoint(0x3b1 + index)]));
    const defaults = sentences();
    model.session.setState({ keys: changed });
    const configured = sentences();
    model.session.setState({ keys: {} });
    expect(sentences()).toEqual(defaults);
    const keys: string[] = COMMAND_IDS.flatMap((id) => [...KEY_COMMANDS[id].keys]);
    for (const [index, sentence] of configured.entries()) {
      expect(sentence).not.toBe(defaults[index]);
      const named = [...sentence.matchAll(/(?:[Pp]ress|, then press|refused:|columns?:) (\S+)/g)].map(
        ([, key]) => key ?? '',
      );
      expect(named.filter((key) => keys.includes(key))).toEqual([]);
    }
  });

  test('no sentence of the program has a key of a command written into it', () => {
    const wrong = globSync(['src/**/*.ts', 'screens/**/*.{ts,tsx}', 'components/**/*.{ts,tsx}']).flatMap((file) => {
      const code = readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '');
      return [...code.matchAll(/\b[Pp]ress (\S)(?=[\s.,;'`)])|\b(\w): (\w) (?:signs|reveals|undoes)\b/g)].map(
        ([text]) => `${file}: ${text}`,
      );
    });
    expect(wrong).toEqual([]);
  });
});

/** Every sentence that names the key of a command. */
function sentences(): string[] {
  const undo = { database: 'app_dev', command: 'tool undo app' };
  const error = (code: ErrorCode) => new UserError(code, 'refused');
  const hub = { problem: 'refused', as_of: null } as HubState;
  return [
    ...detailsWithKey(summaryOf('Loaded', { undo })),
    ...[EMPTY.branches, EMPTY.targets].map((lines) => lines.join(' ')),
    ...(['configuration_untrusted', 'no_configuration', 'configuration_invalid'] as const).map((code) =>
      configurationHint(error(code)),
    ),
    unknownKeyText('Q'),
    ...[EDITOR_NOTICES.removed, SECTION_HINTS.map, SECTION_HINTS.list, SECTION_HINTS.named],
    revealByKey(),
    ...[true, false].map((brief) => hubNotice(hub, { now: 0, brief })),
    notBuiltText('app'),
    noSnapshotsLines('app', { shares: false, byKey: true }).join(' '),
    ...snapshotFacts(fakeSnapshot(), null).flatMap(({ name, value }) => (name === 'Note' ? [String(value)] : [])),
    queryEditedText('sanitize.sql'),
    querySavedText('sanitize.sql'),
  ];
}
