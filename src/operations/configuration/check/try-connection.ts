import { replacePasswords } from '../../../config/secrets/sensitive-values.ts';
import { fillTemplate, TemplateError, variablesOf } from '../../../config/urls/template.ts';
import { joinUrl } from '../../../config/urls/url-insertion.ts';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { EngineContext } from '../../../engines/engine-context.ts';
import { isSameDatabase } from '../../../engines/identity.ts';
import type { EngineId } from '../../../engines/list.ts';
import { type Database, openDatabase } from '../../../engines/open-database.ts';
import { parseUrl } from '../../../engines/registry.ts';
import { localRunner } from '../../../process/local.ts';
import type { NameWithSize, TargetStatus } from '../../../results/results.ts';
import type { ErrorCode } from '../../../runtime/error-codes.ts';
import { UserError } from '../../../runtime/errors.ts';
import { createAddressComparison } from '../../load/guard/guard.ts';
import { checkDatabase } from '../../targets/check-databases.ts';

/** The context before any configuration exists. */
export type TryContext = Omit<EngineContext, 'runner'>;

/** A database that has answered. */
export interface TriedSource {
  engine: EngineId;
  /** The URL without password. */
  display: string;
  server_version: string | null;
  size_bytes: number | null;
  /** The URL has a password in plain text. */
  hasPassword: boolean;
  /** Empty where the engine has none. */
  schemas: NameWithSize[];
}

export interface TriedDestination {
  display: string;
  exists: boolean;
  size_bytes: number | null;
  /** The URL has a password in plain text. */
  hasPassword: boolean;
}

/** Opens a connection as a target would, and looks what is there to be taken. */
export async function trySource(surroundings: TryContext, text: string): Promise<TriedSource> {
  const { database, context } = openUrl(surroundings, text);
  const { url } = database;
  const { status, server_version, size_bytes, error, error_code } = (await checkDatabase(context, url)).state;
  if (status !== 'ok') {
    throw new UserError(
      error_code === 'too_many_connections' ? error_code : (CODES[status] ?? 'unreachable'),
      `${url.display}: ${error ?? status}`,
      { hint: 'Change the answer, or fix the server, then press Enter to retry. Esc goes back.' },
    );
  }
  const schemas = await database.connect.listSchemas();
  const hasPassword = hasPasswordIn(text);
  return { engine: url.engine, display: url.display, server_version, size_bytes, hasPassword, schemas };
}

const CODES: Partial<Record<TargetStatus, ErrorCode>> = { missing: 'database_missing', denied: 'denied' };

export async function listDatabases(surroundings: TryContext, text: string): Promise<NameWithSize[]> {
  return openUrl(surroundings, text).database.connect.listDatabases();
}

/** Inspects the database that a first load would replace or create; refuses the source, however its host is spelled. */
export async function tryDestination(
  surroundings: TryContext,
  { source, destination }: { source: string; destination: string },
): Promise<TriedDestination> {
  const from = openUrl(surroundings, source).database.url;
  const { database, context } = openUrl(surroundings, destination);
  const { url } = database;
  if (url.engine !== from.engine) {
    throw new UserError('engines_differ', `The source is ${from.engine}, the destination ${url.engine}`, {
      hint: 'A snapshot can be loaded only into its own engine.',
    });
  }
  if (await isSameDatabaseAs(context, { source: from, destination: database })) {
    throw new UserError('destination_is_source', `${url.display} is the source: a load would replace it`, {
      hint: 'Choose another database, such as a local one.',
    });
  }
  const { exists, size_bytes } = await database.connect.inspect();
  return { display: url.display, exists, size_bytes, hasPassword: hasPasswordIn(destination) };
}

/** By address, and by what the servers say of themselves. */
async function isSameDatabaseAs(
  context: EngineContext,
  { source, destination }: { source: DatabaseUrl; destination: Database },
): Promise<boolean> {
  if (await createAddressComparison(context, destination.url)(source)) return true;
  const [{ identity }, affected] = await Promise.all([
    checkDatabase(context, source, { sizes: false }),
    destination.connect.identifyAffected(),
  ]);
  return identity !== null && affected.some((each) => isSameDatabase(each.identity, identity));
}

function hasPasswordIn(url: string): boolean {
  return replacePasswords(url, () => '') !== url;
}

/** A database as a configuration names it, ready to be asked. */
export interface OpenedUrl {
  database: Database;
  context: EngineContext;
}

/** Fills a template in, and finds the engine; nothing is connected yet. */
export function openUrl(surroundings: TryContext, text: string): OpenedUrl {
  const { environment, report } = surroundings;
  const filled = text.includes('{{') ? fill(text, environment) : text;
  const context = { ...surroundings, runner: localRunner({ environment, report }) };
  return { database: openDatabase(context, parseUrl(filled)), context };
}

function fill(text: string, environment: NodeJS.ProcessEnv): string {
  try {
    return joinUrl(fillTemplate(text, variablesOf(environment)));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new UserError('template_failed', `The template of the URL cannot be filled in: ${error.message}`, {
      hint: error.hint,
    });
  }
}
