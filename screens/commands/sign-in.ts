import type { ProviderChoice } from '../../src/operations/sign-in/find-provider.ts';
import { PROVIDER_QUESTION } from '../../src/operations/sign-in/text.ts';
import type { SignedIn } from '../../src/results/cloud-results.ts';
import type { SignInEvent } from '../../src/results/events.ts';
import { interrupted, toUserError, type UserError } from '../../src/runtime/errors.ts';
import { refreshTargetsAnew } from '../app/lists/refresh.ts';
import { type KeyBinding, type Model, quietly } from '../app/model.ts';

export interface SignInRoute {
  screen: 'sign-in';
  /** The chosen one; without it the only one there is. */
  provider: string | undefined;
  /** The URL and code to sign in with; `null` until the provider has answered. */
  prompt: SignInEvent | null;
  /** The URL as a QR code, a line each. */
  qr: string[];
  result: SignedIn | null;
  error: UserError | null;
  /** Ends the sign-in when the user leaves. */
  controller: AbortController;
}

export const SIGN_IN: KeyBinding = {
  id: 'sign_in',
  label: 'sign in',
  help: 'sign in to the hub or with an identity provider, in the browser',
  palette: 'Sign in',
  run: (model) => void signIn(model),
};

/** Begins to sign in; where there are several providers, asks for one. */
async function signIn(model: Model): Promise<void> {
  const { navigation, operations } = model;
  const route = navigation.top();
  // A problem of the configuration is reported by the signing in itself.
  const providers = await operations.listProviders(quietly(new AbortController().signal)).catch(() => []);
  if (navigation.top() !== route) return;
  if (providers.length > 1) chooseProvider(model, providers);
  else beginSignIn(model, { provider: undefined, device: false });
}

function chooseProvider(model: Model, providers: ProviderChoice[]): void {
  model.navigation.push({
    screen: 'choice',
    path: ['sign in'],
    question: PROVIDER_QUESTION,
    lines: [],
    options: providers.map(({ name, provider_url }) => ({ label: `${name}  ${provider_url}`, value: name })),
    answer: (provider) => beginSignIn(model, { provider, device: false }),
  });
}

export function beginSignIn(model: Model, { provider, device }: Pick<Attempt, 'provider' | 'device'>): void {
  const { navigation } = model;
  const before = navigation.top();
  const controller = new AbortController();
  const nothing = { prompt: null, qr: [], result: null, error: null };
  const route: SignInRoute = { screen: 'sign-in', provider, ...nothing, controller };
  if (before.screen === 'sign-in') {
    before.controller.abort(interrupted());
    navigation.replace(route);
  } else navigation.push(route);
  void perform(model, { controller, provider, device });
}

interface Attempt {
  controller: AbortController;
  provider: string | undefined;
  device: boolean;
}

async function perform(model: Model, { controller, provider, device }: Attempt): Promise<void> {
  const { signal } = controller;
  /** Shows nothing once the user has left. */
  const show = (change: Partial<SignInRoute>): void => {
    const route = model.navigation.top();
    if (route.screen === 'sign-in' && route.controller === controller)
      model.navigation.replace({ ...route, ...change });
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
      { provider, device },
    );
    show({ result });
    await refreshTargetsAnew(model);
  } catch (thrown) {
    if (!signal.aborted) show({ error: toUserError(thrown) });
  }
}

/** For a device code only: the other URL leads back to this machine. */
async function qrCode({ url, user_code }: SignInEvent): Promise<string[]> {
  if (user_code === null) return [];
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(url, { border: 1 }).split('\n');
}
