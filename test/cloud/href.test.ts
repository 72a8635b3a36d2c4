import { expect, test } from 'vitest';
import { checkedHeaders, checkedHref } from '../../src/cloud/objects/href.ts';

const REMOTE = { endpoint: 'https://hub.example.com/api/v3' };
const LOCAL = { endpoint: 'http://127.0.0.1:3000/api/v3' };

test.each([
  ['https://bucket.example.com/a?X-Amz-Signature=1', REMOTE],
  ['http://127.0.0.1:9000/a', LOCAL],
  ['http://localhost:9000/a', LOCAL],
])('%s is used', (href, hub) => {
  expect(checkedHref(href, hub).href).toBe(href);
});

test.each([
  // A service of this machine, by a hub elsewhere.
  ['http://127.0.0.1:9000/a', REMOTE],
  ['http://localhost:2375/containers/create', REMOTE],
  ['http://bucket.example.com/a', REMOTE],
  ['http://bucket.example.com/a', LOCAL],
  ['http://127.0.0.1.example.com/a', LOCAL],
  ['https://user:password@bucket.example.com/a', REMOTE],
  ['file:///etc/passwd', LOCAL],
  ['a path', LOCAL],
])('%s is refused', (href, hub) => {
  expect(() => checkedHref(href, hub)).toThrow(expect.objectContaining({ code: 'storage_url_refused', exit: 5 }));
});

test.each([{ authorization: 'Bearer 1' }, { cookie: 'a=b' }, { 'x-amz-a': 'b\r\nhost: c' }])(
  'a header %j is refused',
  (headers) => {
    expect(() => checkedHeaders(headers as Record<string, string>)).toThrow(
      expect.objectContaining({ code: 'storage_url_refused' }),
    );
  },
);
