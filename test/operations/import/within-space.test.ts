import { expect, test } from 'vitest';
import { withinSpace } from '../../../src/operations/import/import-dump.ts';
import { testContext } from '../../helpers/postgres/postgres-server.ts';

test('an import does not begin on a full disk, and does elsewhere', async () => {
  const context = testContext({ settings: {} });
  const full = withinSpace(context, async () => 'imported', Number.MAX_SAFE_INTEGER);
  await expect(full).rejects.toMatchObject({ code: 'space_short' });
  expect(await withinSpace(context, async () => 'imported', 0)).toBe('imported');
});
