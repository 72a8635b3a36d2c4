import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openName, sealName } from '../../../src/repository/encryption/sealed-names.ts';

const keys = { hash: randomBytes(32), cipher: randomBytes(32) };

test.each(['locks', 'objects/aa/aaaa', 'snapshots/ünï%2E/one.json', `index/${'x'.repeat(200)}.json`])(
  '%s is found again, by the same name every time',
  (key) => {
    expect(sealName(key, keys)).toBe(sealName(key, keys));
    expect(openName(sealName(key, keys), keys)).toBe(key);
  },
);

test("an encrypted key begins with its parent's name, and only the first part is readable", () => {
  const [top, target, file] = sealName('snapshots/customers/one.json', keys).split('/');
  expect(`${top}/${target}`).toBe(sealName('snapshots/customers', keys));
  expect(top).toBe('snapshots');
  for (const part of [target, file]) expect(Buffer.from(part ?? '', 'base64url').toString()).not.toMatch(/cust|json/);
});

test('names of a like length are of one length', () => {
  expect(sealName('snapshots/a', keys)).toHaveLength(sealName('snapshots/customers-of-ours', keys).length);
});

test('a foreign name is not decrypted: another key, moved, plain, truncated', () => {
  const name = sealName('objects/aa/one', keys);
  const [, folder, file] = name.split('/');
  expect(openName(name, { ...keys, hash: randomBytes(32) })).toBeNull();
  expect(openName(name, { ...keys, cipher: randomBytes(32) })).toBeNull();
  expect(openName(`snapshots/${folder}/${file}`, keys)).toBeNull();
  expect(openName(`objects/${file}/${folder}`, keys)).toBeNull();
  expect(openName('objects/aa/one', keys)).toBeNull();
  expect(openName(`objects/${folder}/${file?.slice(0, -4)}`, keys)).toBeNull();
});
