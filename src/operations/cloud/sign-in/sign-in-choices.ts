import { apiEndpoint } from '../../../config/api-endpoint.ts';
import type { Edit } from '../../../config/edit/change.ts';
import { editFile } from '../../../config/edit/edit-file.ts';
import type { Settings } from '../../../config/schema/settings.ts';
import type { SignedIn } from '../../../results/cloud-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { browserOf } from '../../../sso/open-browser.ts';
import type { ProviderSettings } from '../../../sso/provider.ts';
import { createSessionStore } from '../../../sso/session-store.ts';
import { signInAtProvider } from '../../../sso/sign-in.ts';
import { listProviders, type ProviderChoice } from '../../sign-in/find-provider.ts';
import { type SignInRequest, signIn } from '../../sign-in/sign-in.ts';
import { signedIn } from '../../sign-in/sign-in-status.ts';
import { exchangeToken, HUB_PROVIDER, openCloudUnsigned } from '../open-cloud.ts';

/** The identity providers of the configuration, and the hub, which names its own provider. */
export function listSignIns(context: Context): ProviderChoice[] {
  const { settings } = context.configuration;
  const providers = listProviders(context);
  if (!hasHubAddress(settings)) return providers;
  const others = providers.filter(({ name }) => name !== HUB_PROVIDER);
  return [...others, { name: HUB_PROVIDER, provider_url: apiEndpoint(settings).replace(/\/api\/v3$/, '') }];
}

/** Signs in with a provider or to the hub; without a name to the only one there is. */
export async function signInWith(context: Context, request: SignInRequest): Promise<SignedIn> {
  const { provider, device = false } = request;
  const toHub = provider === HUB_PROVIDER || (provider === undefined && signsInToHub(context));
  return toHub ? signInToHub(context, { device }) : signIn(context, request);
}

/** Reports whether the address of a hub is set; development has a default. */
function hasHubAddress({ env, base_url, staging_api_url }: Settings): boolean {
  return { production: base_url !== undefined, staging: staging_api_url !== undefined, development: true }[env];
}

/** Reports whether `tool auth login` signs in to the hub: its address is set, and no other provider is. */
function signsInToHub({ configuration: { settings } }: Context): boolean {
  return hasHubAddress(settings) && Object.keys(settings.sso).every((name) => name === HUB_PROVIDER);
}

/** Asks the hub which provider it trusts, signs in with that, and stores the hub's token. */
export async function signInToHub(context: Context, { device }: { device: boolean }): Promise<SignedIn> {
  const { configuration, report, signal, clock, environment } = context;
  const hub = openCloudUnsigned(context);
  const { body } = await hub.call('root');
  if (!body?.sign_in) {
    throw new UserError('hub_sign_in_missing', `The hub at ${hub.endpoint} has no identity provider`, {
      hint: 'It is a trial: use its owner token, with tool auth token or TOOL_AUTHTOKEN.',
    });
  }
  const { provider_url, client_id, redirect_url, groups_claim } = body.sign_in;
  const settings: ProviderSettings = {
    provider_url,
    client_id,
    groups_claim,
    ...(redirect_url !== null && { redirect_url }),
  };
  // The session belongs into a file: without one it is said before the browser opens.
  const store = createSessionStore(configuration, context);
  const provider = { name: HUB_PROVIDER, settings };
  const session = await signInAtProvider({
    provider,
    device,
    clock,
    signal,
    show: (prompt) => report({ event: 'sign_in', provider: HUB_PROVIDER, ...prompt }),
    openBrowser: browserOf(environment),
  });
  const edits = (): Edit[] =>
    Object.entries(settings).map(([key, value]) => ({ path: ['sso', HUB_PROVIDER, key], value: value as string }));
  await editFile({ file: store.file, environment, edits });
  await store.write(HUB_PROVIDER, session);
  await exchangeToken(context, session.id_token ?? '', session.access_token);
  return signedIn(provider, session);
}
