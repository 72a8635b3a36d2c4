import { apiEndpoint, hasHubAddress } from '../../../config/api-endpoint.ts';
import type { SignedIn } from '../../../results/cloud-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { listProviders, type ProviderChoice } from '../../sign-in/find-provider.ts';
import { type SignInRequest, signIn } from '../../sign-in/sign-in.ts';
import { HUB_PROVIDER } from '../open-cloud.ts';
import { signInToHub, signsInToHub } from './sign-in-to-hub.ts';

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
