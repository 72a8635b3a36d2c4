import * as v from 'valibot';
import { traits } from './traits.ts';
import { text, webUrl } from './values.ts';

export const ssoProviderSchema = v.strictObject({
  provider_url: v.pipe(
    webUrl,
    v.description('Address of the identity provider.'),
    v.examples(['https://idp.example.com']),
  ),
  client_id: v.pipe(text, v.description('Client identifier, as registered with the provider.'), v.examples(['tool'])),
  redirect_url: v.exactOptional(
    v.pipe(webUrl, v.description('Local callback URL.'), v.examples(['http://127.0.0.1:8765/callback'])),
  ),
  groups_claim: v.exactOptional(
    v.pipe(
      text,
      v.description(
        'Claim that holds the groups, of the ID token or else of the userinfo endpoint; groups unless said.',
      ),
      v.examples(['groups']),
    ),
  ),
  access_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Access token, encrypted. Written by the login.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  refresh_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Refresh token, encrypted. Written by the login.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  id_token: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('ID token, which says who is signed in, encrypted. Written by the login.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  user_info: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Groups and name that the ID token does not hold, encrypted. Written by the login.'),
      v.examples(['written by tool auth login']),
      traits({ secret: true }),
    ),
  ),
  expires: v.exactOptional(
    v.pipe(
      v.number(),
      v.integer('must be a whole number'),
      v.description('When the access token expires. Written by the login.'),
      v.examples([1767225600]),
      traits({ unit: 'Unix time in seconds' }),
    ),
  ),
});
