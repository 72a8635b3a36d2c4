import { isLoopback } from '../../text/loopback.ts';

/** https; http on this machine only. */
export function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/** A URL of a webhook as it is shown: its path is a secret of many services. */
export function shownWebhook(url: string): string {
  return new URL(url).origin;
}
