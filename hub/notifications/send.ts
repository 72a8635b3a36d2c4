import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BlockList } from 'node:net';
import { assertAddressNotLinkLocal, assertPublicAddress, guardedLookup } from '../objects/reach.ts';

export interface Webhook {
  url: string;
  secret: string;
}

export interface Delivery {
  /** The same for every attempt. */
  id: string;
  body: object;
  now: Date;
  timeoutMs?: number;
  /** Private addresses that it may lead to; absent: every one. */
  allowed?: BlockList;
}

const TIMEOUT = 10_000;

/** Header with the time and the signature of `TIME.BODY`: `t=1767225600,v1=<hex of HMAC-SHA-256>`. */
const SIGNATURE_HEADER = 'Tool-Signature';
const DELIVERY_HEADER = 'Tool-Delivery';

/** Posts a notification; throws unless the answer is 2xx. Redirects are not followed, and the answer is not read. */
export async function sendNotification({ url, secret }: Webhook, delivery: Delivery): Promise<void> {
  const { id, body, now, timeoutMs = TIMEOUT, allowed } = delivery;
  assertAddressNotLinkLocal(url, '/webhook/url');
  if (allowed) assertPublicAddress(url, { pointer: '/webhook/url', allowed });
  const text = JSON.stringify(body);
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'user-agent': 'tool-hub',
        [SIGNATURE_HEADER]: signature(text, secret, now),
        [DELIVERY_HEADER]: id,
      },
      agent: false,
      lookup: guardedLookup(allowed && { allowed }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.end(text);
  });
  if (status < 200 || status > 299) throw new Error(`The webhook answered ${status}`);
}

function signature(text: string, secret: string, now: Date): string {
  const time = Math.floor(now.getTime() / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${text}`).digest('hex')}`;
}
