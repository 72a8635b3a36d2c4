import { describe, expect, test } from 'vitest';
import { SCREENS } from '../../../screens/app/screens.ts';
import { COMMAND_IDS, COMMANDS, isCommandKey } from '../../../src/config/schema/commands.ts';
import { listed, press } from '../../helpers/driven-model.ts';
import { fakeWorld } from '../../helpers/fake-world.ts';

const bindings = Object.values(SCREENS).flatMap(({ id: screen, keys }) => keys.map((binding) => ({ screen, binding })));

describe('one key means one thing on all screens', () => {
  test('every key that is a character belongs to one command', () => {
    const keys = COMMAND_IDS.flatMap((id): readonly string[] => COMMANDS[id].keys);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    expect(keys.filter((key) => !isCommandKey(key))).toEqual([]);
  });

  test('every binding has the keys of its command, the shown one first', () => {
    const contradictions = bindings.flatMap(({ screen, binding: { id, keys, label, help } }) => {
      const characters = keys.filter(isCommandKey);
      const own: readonly string[] = id === undefined ? [] : COMMANDS[id].keys;
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
});
