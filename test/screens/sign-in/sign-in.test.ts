import { describe, expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { ChoiceRoute } from '../../../screens/choice/choice-screen.tsx';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

describe('signing in', () => {
  test('shows where to go, then who one is', async () => {
    const copied: string[] = [];
    const gate = Promise.withResolvers<void>();
    const model = await listed(fakeWorld({ gate: gate.promise }), {
      terminal: fakeTerminal({ copy: (text) => copied.push(text) }),
    });
    press(model, 'I');
    await until(() => signInOf(model)?.prompt?.url === 'https://idp.example.com/auth');
    press(model, 'y');
    expect(copied).toEqual(['https://idp.example.com/auth']);
    gate.resolve();
    await until(() => signInOf(model)?.result?.name === 'ann@example.com');
  });

  test('a sign-in by code shows a QR code of the URL, and replaces the browser sign-in', async () => {
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
    press(model, 'I');
    await until(() => signInOf(model) !== null);
    press(model, 'o');
    await until(() => (signInOf(model)?.qr.length ?? 0) > 10);
    expect(signInOf(model)?.prompt).toMatchObject({ user_code: 'ABCD-EFGH' });
    press(model, 'esc');
    expect(model.navigation.top().screen).toBe('targets');
  });

  test('prompts for one of several providers, and keeps it', async () => {
    const model = await listed(fakeWorld({ providers: ['work', 'home'], gate: new Promise(() => {}) }));
    press(model, 'I');
    await until(() => model.navigation.top().screen === 'choice');
    const choice = model.navigation.top() as ChoiceRoute;
    expect(choice.options.map(({ label }) => label)).toEqual([
      'work  https://work.example.com',
      'home  https://home.example.com',
    ]);
    model.navigation.pop();
    choice.answer('home');
    await until(() => signInOf(model)?.prompt?.url === 'https://home.example.com/auth');
    press(model, 'o');
    await until(() => signInOf(model)?.prompt?.url === 'https://home.example.com/device');
  });

  test('a failed sign-in can be repeated', async () => {
    const world = fakeWorld({ failSignIn: new UserError('sign_in_denied', 'refused') });
    const model = await listed(world);
    press(model, 'I');
    await until(() => signInOf(model)?.error?.code === 'sign_in_denied');
    world.failSignIn = null;
    press(model, 'r');
    await until(() => signInOf(model)?.result !== null);
  });
});

function signInOf(model: Model) {
  const place = model.navigation.top();
  return place.screen === 'sign-in' ? place : null;
}
