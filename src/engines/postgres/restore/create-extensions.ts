import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import { dependenciesFirst } from './dependencies-first.ts';

export interface ExtensionsToCreate {
  /** Restores all else. */
  role: string;
  extensions: ArchiveDetails['extensions'];
}

/** Schemas that `createExtensions` creates. */
export function extensionSchemas(extensions: ArchiveDetails['extensions']): string[] {
  return [...new Set(extensions.map(({ schema }) => schema))].filter((schema) => !PRESENT.has(schema));
}

const PRESENT = new Set(['public', 'pg_catalog']);

/**
 * Creates the extensions as a superuser, in an empty database: most of them nobody else may
 * create. All else in it then belongs to the role.
 */
export async function createExtensions(session: PostgresSession, { role, extensions }: ExtensionsToCreate) {
  if (extensions.length === 0) return;
  for (const schema of extensionSchemas(extensions))
    await session.execute(`CREATE SCHEMA ${quoteName(schema)} AUTHORIZATION ${quoteName(role)}`);
  await createOwnedExtensions(session, { role, extensions });
}

/** The same where their schemas exist. */
export async function createOwnedExtensions(session: PostgresSession, { role, extensions }: ExtensionsToCreate) {
  await dependenciesFirst(extensions, {
    refusal: UNDEFINED_OBJECT,
    work: ({ name, schema }) => session.execute(`CREATE EXTENSION ${quoteName(name)} SCHEMA ${quoteName(schema)}`),
  });
  for (const statement of await ownershipStatements(session, role)) await session.execute(statement);
}

/** SQLSTATE where an extension needs another one that is not there yet. */
const UNDEFINED_OBJECT = '42704';

/**
 * The extension becomes the role's, which comments on it, as the server itself does for trusted ones; what is in it
 * stays the superuser's. The tables whose rows are dumped are to be written.
 */
async function ownershipStatements(session: PostgresSession, role: string): Promise<string[]> {
  const rows = await session.query<{ statement: string }>(`
    SELECT format('GRANT ALL ON %s %s TO %I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, i.identity, ${quoteText(role)}) AS statement
    FROM pg_extension e, unnest(e.extconfig) t (oid) JOIN pg_class c ON c.oid = t.oid,
      pg_identify_object('pg_class'::regclass, t.oid, 0) i`);
  const own = `UPDATE pg_extension SET extowner = (SELECT oid FROM pg_roles WHERE rolname = ${quoteText(role)}) WHERE extname <> 'plpgsql'`;
  return [own, ...rows.map(({ statement }) => statement)];
}
