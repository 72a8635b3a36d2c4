import { UserError } from '../src/runtime/errors.ts';
import { assertKnownSchema, type Database, isMigrated } from './database/database.ts';
import { canOpenAll } from './database/secrets.ts';
import type { HubSettings } from './settings.ts';

type Keys = Pick<HubSettings, 'keys'>;

/** No instance serves with another schema, or without a key of its secrets. */
export async function assertReady(db: Database, { keys }: Keys): Promise<void> {
  const migrated = await isMigrated(db).catch((cause: Error) => {
    throw new UserError('The hub cannot reach its database', {
      code: 'hub_database_unreachable',
      details: [cause.message],
      hint: 'Check TOOL_HUB_DATABASE_URL, and that the server accepts connections.',
      cause,
    });
  });
  await assertKnownSchema(db);
  if (!migrated) {
    throw new UserError('The database of the hub has not the schema of this version', {
      code: 'hub_not_migrated',
      hint: 'Run: tool hub migrate',
    });
  }
  if (!(await canOpenAll(db, keys))) {
    throw new UserError('TOOL_HUB_KEYS lacks a key that secrets of the hub are encrypted with', {
      code: 'hub_key_missing',
      hint: 'Add the older key after the newest one. tool hub migrate wraps with the newest.',
    });
  }
}

export async function canServe(db: Database, { keys }: Keys): Promise<boolean> {
  try {
    return (await isMigrated(db)) && (await canOpenAll(db, keys));
  } catch {
    return false;
  }
}
