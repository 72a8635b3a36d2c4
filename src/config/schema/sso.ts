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
  access_token: optionalKey(v.string(), 'Access token, written by the sign-in.', {
    example: 'written by tool auth login',
    secret: true,
  }),
  refresh_token: optionalKey(v.string(), 'Refresh token, written by the sign-in.', {
    example: 'written by tool auth login',
    secret: true,
  }),
  id_token: optionalKey(v.string(), 'ID token, written by the sign-in.', {
    example: 'written by tool auth login',
    secret: true,
  }),
  user_info: optionalKey(v.string(), 'Groups and name outside the ID token, written by the sign-in.', {
    example: 'written by tool auth login',
    secret: true,
  }),
  expires: optionalKey(
    v.pipe(v.number(), v.integer('must be a whole number')),
    'Expiry of the access token, written by the sign-in.',
    { example: 1767225600, unit: 'Unix time in seconds' },
  ),
});
