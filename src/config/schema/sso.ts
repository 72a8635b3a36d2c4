import * as v from 'valibot';
import { traits } from './traits.ts';
import { text, webUrl } from './values.ts';

export const ssoProviderSchema = v.strictObject({
  provider_url: v.pipe(webUrl, v.description('Address of the provider.'), v.examples(['https://idp.example.com'])),
  client_id: v.pipe(text, v.description('Client id registered with the provider.'), v.examples(['tool'])),
  redirect_url: v.exactOptional(
    v.pipe(webUrl, v.description('Local callback URL.'), v.examples(['http://127.0.0.1:8765/callback'])),
  ),
  groups_claim: v.exactOptional(
    v.pipe(
      text,
      v.description('Claim with the groups, in the ID token or userinfo; default groups.'),
      v.examples(['groups']),
    ),
  ),
  access_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Access token, written by the sign-in.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  refresh_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Refresh token, written by the sign-in.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  id_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('ID token, written by the sign-in.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  user_info: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Groups and name outside the ID token, written by the sign-in.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  expires: v.exactOptional(
    v.pipe(
      v.number(),
      v.integer('must be a whole number'),
      v.description('Expiry of the access token, written by the sign-in.'),
      v.examples([1767225600]),
      traits({ unit: 'Unix time in seconds' }),
    ),
  ),
});
