import { readFile } from 'node:fs/promises';
import { type Database, openDatabase } from '../../../engines/open-database.ts';
import { engineOf, parseUrl } from '../../../engines/registry.ts';
import type { LedgerCheck } from '../../../results/review/ledger-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { findOpenItems } from '../../../sanitize/ledger/ledger.ts';
import { ledgerPath, readLedger } from '../../../sanitize/ledger/ledger-file.ts';
import { type CatalogContents, itemsOf } from '../../../sanitize/ledger/ledger-item.ts';
import { openBranch } from '../../branch/open-branch.ts';
import { assertReadable } from '../../load/script/load-script.ts';
import { inScratchDatabase } from '../../snapshots/in-scratch-database.ts';
import { assertTrusted } from '../../snapshots/signatures.ts';
import { findSnapshot } from '../../snapshots/snapshots.ts';
import { findTarget } from '../../targets/find-target.ts';
import { withTargetUrls } from '../../targets/with-target-urls.ts';
import { sourceOf } from '../source-of.ts';

export interface LedgerCheckRequest {
  target: string;
  /** Connection URL of another database than the source. */
  url?: string | undefined;
  /** Name of a branch of the destination. */
  branch?: string | undefined;
  /** Absolute path of an SQL file that is run in a throw-away copy of the newest snapshot. */
  migration?: string | undefined;
  allowSuperuser?: boolean;
  allowUntrusted?: boolean;
}

/** Compares the catalog of a database with the ledger. Reads no rows; a missing ledger classifies nothing. */
export async function checkLedger(given: Context, request: LedgerCheckRequest): Promise<LedgerCheck> {
  const { target } = request;
  findTarget(given.configuration, target);
  const needsSource = request.url === undefined && request.branch === undefined && request.migration === undefined;
  const context = await withTargetUrls(given, target, { source: needsSource });
  const { configuration } = context;
  const ledger = await readLedger({ configuration, target });
  const items = itemsOf(await contentsFor(context, request));
  const open = findOpenItems(items, ledger ?? new Map()).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { target, file: ledger && ledgerPath({ configuration, target }), items: items.length, open };
}

async function contentsFor(context: Context, request: LedgerCheckRequest): Promise<CatalogContents> {
  if (request.migration !== undefined) return afterMigration(context, { ...request, migration: request.migration });
  const { sanitize } = await databaseFor(context, request);
  return sanitize.readContents(findTarget(context.configuration, request.target).snapshot?.schema_config);
}

async function databaseFor(context: Context, { target, url, branch }: LedgerCheckRequest): Promise<Database> {
  if (branch !== undefined) return (await openBranch(context, { target, branch })).database;
  return openDatabase(context, parseUrl(url ?? sourceOf(context, target)));
}

/** The definitions of the newest snapshot with the statements of the file, in a throw-away database. */
async function afterMigration(
  context: Context,
  request: LedgerCheckRequest & { migration: string },
): Promise<CatalogContents> {
  const { target, migration } = request;
  await assertReadable(migration);
  const { manifest } = await findSnapshot(context, { target });
  assertTrusted(context, manifest, request);
  const text = await readFile(migration, 'utf8');
  const statements = await engineOf(manifest.engine).splitQuery(text);
  return inScratchDatabase(context, { ...request, manifest }, async ({ database: { sanitize } }) => {
    if (statements.length > 0) await sanitize.runQuery({ manifest, statements });
    return sanitize.readContents(findTarget(context.configuration, target).snapshot?.schema_config);
  });
}
