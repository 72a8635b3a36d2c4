import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordCrash } from '../../src/operations/record-crash.ts';
import { configFolder } from '../helpers/terminal/config-folder.ts';

const OPAQUE = 'Zq3vN8wKx0pLr5TtYb2m';
const TELLING: [what: string, message: string][] = [
  ['an answer of a provider', JSON.stringify({ access_token: OPAQUE, refresh_token: OPAQUE, token_type: 'Bearer' })],
  ['a form that was sent', `grant_type=refresh_token&refresh_token=${OPAQUE}&client_id=tool`],
  ['a header', `authorization: Bearer ${OPAQUE}`],
  ['an ID token', `unexpected eyJhbGciOiJSUzI1NiJ9.${OPAQUE}.${OPAQUE} here`],
];

it.each(TELLING)('a crash that tells %s is kept without its tokens', async (_, message) => {
  const { path } = await configFolder({});
  const file = join(path, 'logs', 'crash.log');
  const error = recordCrash({ error: new Error(message), file, at: new Date(0) });
  const kept = await readFile(file, 'utf8');
  expect(kept).toContain('***');
  expect([kept, error.message, error.hint].join('\n')).not.toContain(OPAQUE);
});
