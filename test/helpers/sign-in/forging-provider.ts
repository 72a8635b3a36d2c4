import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { ProviderSettings } from '../../../src/sso/provider.ts';

/** What is forged of an ID token that would be right otherwise. */
export interface Forgery {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Signs with a key that the provider does not publish. */
  strangerSigns?: boolean;
  unsigned?: boolean;
  /** Of the callback: `state`, `iss`, further ones. */
  callback?: Record<string, string | undefined>;
  /** What its userinfo endpoint says; without it there is none. */
  userInfo?: Record<string, unknown>;
}

/** A provider that hands out what the test forges; its page sends the browser back at once. */
export async function startForgingProvider(forgery: Forgery): Promise<ProviderSettings> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signer = forgery.strangerSigns ? stranger : keys;
  let nonce = '';
  let issuer = '';

  function idToken(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: 'tool', sub: 'ann', iat: now, exp: now + 3600, nonce, ...forgery.claims };
    const parts = [{ alg: 'RS256', kid: 'k', ...forgery.header }, claims];
    const body = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = createSign('sha256').update(body).sign(signer.privateKey, 'base64url');
    return `${body}.${forgery.unsigned ? '' : signature}`;
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    const json = (value: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          ...(forgery.userInfo && { userinfo_endpoint: `${issuer}/userinfo` }),
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/jwks':
        return json({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
      case '/auth': {
        nonce = searchParams.get('nonce') ?? '';
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        const answer = { code: 'c', state: searchParams.get('state') ?? '', iss: issuer, ...forgery.callback };
        for (const [name, value] of Object.entries(answer)) {
          if (value !== undefined) back.searchParams.set(name, value);
        }
        return response.writeHead(303, { location: back.href }).end();
      }
      case '/userinfo':
        return json(forgery.userInfo ?? {});
      default:
        await text(request);
        return json({ access_token: 'at', token_type: 'Bearer', expires_in: 3600, id_token: idToken() });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { provider_url: issuer, client_id: 'tool', redirect_url: 'http://127.0.0.1:0/callback' };
}
