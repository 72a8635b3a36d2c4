import * as v from 'valibot';
import { key, optionalKey } from './key.ts';
import { text, webUrl } from './values.ts';

export const ssoProviderSchema = v.strictObject({
  provider_url: key(webUrl, 'Address of the provider.', { example: 'https://idp.example.com' }),
  client_id: key(text, 'Client id registered with the provider.', { example: 'tool' }),
  redirect_url: optionalKey(webUrl, 'Local callback URL.', { example: 'http://127.0.0.1:8765/callback' }),
  groups_claim: optionalKey(text, 'Claim with the groups, in the ID token or userinfo; default groups.', {
    example: 'groups',
  }),
  access_token: writtenBySignIn('Access token'),
  refresh_token: writtenBySignIn('Refresh token'),
  id_token: writtenBySignIn('ID token'),
  user_info: writtenBySignIn('Groups and name outside the ID token'),
  expires: optionalKey(
    v.pipe(v.number(), v.integer('must be a whole number')),
    'Expiry of the access token, written by the sign-in.',
    { example: 1767225600, unit: 'Unix time in seconds' },
  ),
});

function writtenBySignIn(what: string) {
  const facts = { example: 'written by tool auth login', secret: true } as const;
  return optionalKey(v.string(), `${what}, written by the sign-in.`, facts);
}
