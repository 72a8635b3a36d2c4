import { interrupted, toUserError } from '../../src/errors.ts';
import type { SignInEvent } from '../../src/events.ts';
import type { Model } from '../model.ts';
import type { SignInPlace } from '../place.ts';
import { refreshTargets } from '../refresh.ts';

/** Begins to sign in, and shows how far it is. */
export function signIn(model: Model): void {
  begin(model, { device: false });
}

/** By a code instead, for a browser of another machine. */
export function signInByCode(model: Model): void {
  begin(model, { device: true });
}

/** The URL into the clipboard of the terminal, by way of the terminal itself: it works over SSH. */
export function copySignInUrl(model: Model): void {
  const place = model.navigation.top();
  if (place.screen !== 'sign-in' || !place.prompt) return;
  model.terminal.copy(place.prompt.url);
  model.navigation.notify({ tone: 'good', text: 'The URL is in the clipboard, if the terminal allows it' });
}

function begin(model: Model, { device }: { device: boolean }): void {
  const { navigation } = model;
  const before = navigation.top();
  const controller = new AbortController();
  const place: SignInPlace = { screen: 'sign-in', prompt: null, qr: [], result: null, error: null, controller };
  if (before.screen === 'sign-in') {
    before.controller.abort(interrupted());
    navigation.replace(place);
  } else navigation.push(place);
  void perform(model, { controller, device });
}

interface Attempt {
  controller: AbortController;
  device: boolean;
}

async function perform(model: Model, { controller, device }: Attempt): Promise<void> {
  const { signal } = controller;
  /** Of a sign-in that one has gone away from nothing is shown. */
  const show = (change: Partial<SignInPlace>): void => {
    const place = model.navigation.top();
    if (place.screen === 'sign-in' && place.controller === controller)
      model.navigation.replace({ ...place, ...change });
  };
  try {
    const result = await model.operations.signIn(
      {
        signal,
        report(event) {
          if (event.event === 'warning') model.navigation.notify({ tone: 'caution', text: event.message });
          if (event.event !== 'sign_in') return;
          show({ prompt: event });
          void qrCode(event).then((qr) => show({ qr }));
        },
      },
      { device },
    );
    show({ result });
    await refreshTargets(model);
  } catch (thrown) {
    if (!signal.aborted) show({ error: toUserError(thrown) });
  }
}

/** Of a device code only: the other URL leads back to this machine, where no telephone is. */
async function qrCode({ url, user_code }: SignInEvent): Promise<string[]> {
  if (user_code === null) return [];
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(url, { border: 1 }).split('\n');
}
