import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TokenIssuer {
  url: string;
  sign(claims: object, how?: { header?: object; byStranger?: boolean; unsigned?: boolean }): string;
  /** What GitHub Actions gives a job that may ask for an ID token with these claims. */
  jobVariables(claims: object): Record<string, string>;
  /** Requests of jobs for a token. */
  asked: IncomingMessage[];
  /** Answers the next requests of jobs in another way. */
  misbehave(status: number, headers?: Record<string, string>, text?: string): void;
}

const REQUEST_TOKEN = 'request-token-of-the-job';

/** An issuer whose tokens the test signs: a provider of people, or that of GitHub Actions. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' };
  const asked: IncomingMessage[] = [];
  let jobClaims = {};
  let fault: { status: number; headers: Record<string, string>; text: string } | null = null;
  const server = createServer((request, response) => {
    const json = (value: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    if (pathname === '/jwks') return json({ keys: [jwk] });
    if (pathname !== '/job-token') return json({ issuer: url, jwks_uri: `${url}/jwks` });
    asked.push(request);
    if (fault) return response.writeHead(fault.status, fault.headers).end(fault.text);
    if (request.headers.authorization !== `Bearer ${REQUEST_TOKEN}`) return response.writeHead(401).end();
    return json({ value: sign({ aud: searchParams.get('audience'), ...jobClaims }), count: 1 });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => void server.close());
  const sign: TokenIssuer['sign'] = (claims, { header = {}, byStranger = false, unsigned = false } = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: url, aud: 'tool', sub: 'ann', iat: now, exp: now + 600, jti: Math.random(), ...claims };
    const parts = [{ alg: 'RS256', kid: 'k', ...header }, all];
    const body = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const key = byStranger ? stranger.privateKey : keys.privateKey;
    return `${body}.${unsigned ? '' : createSign('sha256').update(body).sign(key, 'base64url')}`;
  };
  return {
    url,
    sign,
    asked,
    jobVariables(claims) {
      jobClaims = claims;
      return {
        ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/job-token?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
      };
    },
    misbehave(status, headers = {}, text = '') {
      fault = { status, headers, text };
    },
  };
}
