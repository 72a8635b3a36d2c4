import { expect, test } from 'vitest';
import { createModel } from '../../../screens/app/create-model.ts';
import type { SignInRoute } from '../../../screens/commands/sign-in.ts';
import { signInState } from '../../../src/operations/sign-in/text.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const BARE = { screen: 'sign-in', provider: undefined, prompt: null, qr: [], result: null, error: null } as const;
const URL = `https://idp.example.com/auth?${'x'.repeat(100)}`;

test('the URL is shown whole, nothing between its parts but the edge of the screen', async () => {
  const shown = await drawn({ prompt: { event: 'sign_in', provider: 'idp', url: URL, user_code: null } });
  expect(shown).toContain('Waiting for the browser, 5 min 00 s left');
  expect(shown.replaceAll(/\s/g, '')).toContain(URL);
});

test('the remaining time is counted down', () => {
  const { text } = signInState({ prompt: {}, result: null, error: null }, 61_000);
  expect(text).toBe('Waiting for the browser, 3 min 59 s left');
});

test('a code is shown with a picture of its URL', async () => {
  const prompt = { event: 'sign_in', provider: 'idp', url: 'https://idp/device', user_code: 'ABCD-EFGH' } as const;
  const shown = await drawn({ prompt, qr: ['▄▀▄▀', '█▄█▄'] });
  expect(shown).toContain('Code: ABCD-EFGH');
  expect(shown).toContain('█▄█▄');
});

test('a failure says why, and what to do next', async () => {
  const error = new UserError('sign_in_denied', 'It was refused', { hint: 'Sign in again' });
  const shown = await drawn({ error });
  expect(shown).toMatch(/The sign-in failed.*Reason +It was refused.*Next +Sign in again/s);
});

async function drawn(change: Partial<SignInRoute>): Promise<string> {
  const model = createModel({
    operations: fakeOperations(fakeWorld()),
    terminal: fakeTerminal(),
    clock: () => new Date(0),
  });
  const place: SignInRoute = { ...BARE, qr: [], controller: new AbortController(), ...change };
  model.navigation.push(place);
  return screenText(model);
}
