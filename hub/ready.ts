import { UserError } from '../src/runtime/errors.ts';
import { assertKnownSchema, type Database, isMigrated } from './database/database.ts';
import { canOpenAll } from './database/secrets.ts';
import type { HubSettings } from './settings.ts';

type Keys = Pick<HubSettings, 'keys'>;

/** No instance serves with another schema, or without a key of its secrets. */
export async function assertReady(db: Database, { keys }: Keys): Promise<void> {
  const migrated = await isMigrated(db).catch((cause: Error) => {
    throw new UserError('hub_database_unreachable', 'The hub cannot reach its database', {
      details: [cause.message],
      hint: 'Check TOOL_HUB_DATABASE_URL, and that the server accepts connections.',
      cause,
    });
  });
  await assertKnownSchema(db);
  if (!migrated) {
    throw new UserError('hub_not_migrated', 'The database of the hub has not the schema of this version', {
      hint: 'Run: tool hub migrate',
    });
  }
  if (!(await canOpenAll(db, keys))) {
    throw new UserError('hub_key_missing', 'TOOL_HUB_KEYS lacks a key that secrets of the hub are encrypted with', {
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
