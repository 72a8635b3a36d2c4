import { expect, test } from 'vitest';
import { confirmTrust } from '../../../screens/commands/configuration/trust.ts';
import { UntrustedConfiguration } from '../../../src/config/trust/untrusted-configuration.ts';
import type { Effect } from '../../../src/results/configuration/effects.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

function asked(effects: Effect[], edited: string[] = []) {
  const edit = async (file: string) => void edited.push(file);
  const model = newModel(fakeWorld(), { terminal: fakeTerminal({ edit }) });
  const request = { file: '/home/ada/shop/tool.yml', digest: 'abcd', effects, answered: null, files: [] };
  model.targets.setState((state) => ({ ...state, error: new UntrustedConfiguration(request) }));
  confirmTrust(model);
  return model;
}

test('the question of trust names the databases that can be replaced', async () => {
  const shown = await screenText(
    asked([
      { effect: 'reads', object: 'postgres://db/shop' },
      { effect: 'replaces', object: 'postgres://localhost/shop_dev', detail: 'shop' },
      { effect: 'replaces', object: 'postgres://localhost/shop_small', detail: 'shop' },
    ]),
    { columns: 120, rows: 24 },
  );
  expect(shown).toContain(
    'Databases that it can replace: postgres://localhost/shop_dev, postgres://localhost/shop_small',
  );
  const harmless = await screenText(asked([{ effect: 'reads', object: 'postgres://db/shop' }]));
  expect(harmless).toContain('It cannot replace any database.');
});

test.each([40, 80, 160])('an effect is whole, and breaks only where the window ends: %s columns', async (columns) => {
  const object = 'postgres://application@database-1.example.com:5432/the-whole-shop';
  const shown = await screenText(asked([{ effect: 'reads', object, detail: 'shop' }]), { columns, rows: 24 });
  const [, rest = ''] = shown.split('trust it:');
  const words = rest.replaceAll(/[│❯\s]|Reads/g, '');
  expect(words).toContain(`${object}(shop)`);
  if (columns === 160) expect(shown).toContain(`${object} (shop)`);
});

test('e opens the file in the editor, then the configuration is read again', async () => {
  const edited: string[] = [];
  const model = asked([{ effect: 'reads', object: 'postgres://db/shop' }], edited);
  press(model, 'e');
  await until(() => model.navigation.top().screen !== 'trust');
  expect(edited).toEqual(['/home/ada/shop/tool.yml']);
  expect(model.targets.getState().entries.map(({ row }) => row.name)).toContain('app');
});
