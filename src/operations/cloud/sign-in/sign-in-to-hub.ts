import { hasHubAddress } from '../../../config/api-endpoint.ts';
import type { Edit } from '../../../config/edit/change.ts';
import { editFile } from '../../../config/edit/edit-file.ts';
import type { SignedIn } from '../../../results/cloud-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { ProviderSettings } from '../../../sso/provider.ts';
import { createSessionStore } from '../../../sso/session-store.ts';
import { openSession } from '../../sign-in/sign-in.ts';
import { signedIn } from '../../sign-in/sign-in-status.ts';
import { exchangeToken, HUB_PROVIDER, openCloudUnsigned } from '../open-cloud.ts';

/** Reports whether `tool auth login` signs in to the hub: its address is set, and no other provider is. */
export function signsInToHub({ configuration: { settings } }: Context): boolean {
  return hasHubAddress(settings) && Object.keys(settings.sso).every((name) => name === HUB_PROVIDER);
}

/** Asks the hub which provider it trusts, signs in with that, and stores the hub's token. */
export async function signInToHub(context: Context, { device }: { device: boolean }): Promise<SignedIn> {
  const { configuration, environment } = context;
  const hub = openCloudUnsigned(context);
  const { body } = await hub.call('root');
  if (!body?.sign_in) {
    throw new UserError('hub_sign_in_missing', `The hub at ${hub.endpoint} has no identity provider`, {
      hint: 'It is a trial: use its owner token, with tool auth token or TOOL_AUTHTOKEN.',
    });
  }
  const { provider_url, client_id, redirect_url, groups_claim } = body.sign_in;
  const redirect = redirect_url !== null && { redirect_url };
  const settings: ProviderSettings = { provider_url, client_id, groups_claim, ...redirect };
  // The session belongs into a file: without one it is said before the browser opens.
  const store = createSessionStore(configuration, context);
  const provider = { name: HUB_PROVIDER, settings };
  const session = await openSession(context, provider, { device });
  const edits = (): Edit[] =>
    Object.entries(settings).map(([key, value]) => ({ path: ['sso', HUB_PROVIDER, key], value: value as string }));
  await editFile({ file: store.file, environment, edits });
  await store.write(HUB_PROVIDER, session);
  await exchangeToken(context, session.id_token ?? '', session.access_token);
  return signedIn(provider, session);
}
