import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Migrations } from '../../results/manifest/migration-results.ts';
import { containsPath } from '../../runtime/contains-path.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { openRegularFile } from '../../runtime/open-regular-file.ts';
import { formatNumberOf } from '../../text/format.ts';
import { listGitFiles, readCheckout } from '../git.ts';
import { MIGRATION_TOOLS, type MigrationFiles, type MigrationTool } from './migration-tools.ts';

const MOST_FILES = 20_000;
const MOST_FILE_BYTES = 1024 * 1024;
const FILES_AT_ONCE = 16;
const MOST_NAMED = 5;

/** The recorded facts of a snapshot that the working tree is compared with. */
interface RecordedFacts {
  git?: { repository: string | null };
  migrations?: Migrations[];
}

export interface Comparison {
  /** Warns of migrations that the snapshot lacks. */
  behind: boolean;
}

/** Warnings for each migrations table of a snapshot that has not the migrations of the current folder's working tree. */
export async function compareMigrations(
  context: Context,
  { git, migrations = [] }: RecordedFacts,
  { behind }: Comparison,
): Promise<{ code: string; message: string }[]> {
  const known = migrations.flatMap((table) => {
    const tool = MIGRATION_TOOLS.find((each) => each.tool === table.tool);
    return tool ? [{ table, tool }] : [];
  });
  const checkout = known.length === 0 ? null : await readCheckout(context);
  if (!checkout) return [];
  const { repository, folder } = checkout;
  if (git?.repository && repository !== folder && repository !== git.repository) return [];
  const warnings = known.map(async ({ table, tool }) => {
    const files = await migrationFiles(context, folder, tool.files);
    const keys = new Set(files.flatMap((file) => file.keys));
    const ahead = keys.size === 0 ? [] : aheadOf(table.versions, { keys, ...tool });
    const lacking = behind ? lackingOf(table, { files, tool }) : [];
    return [
      ...(ahead.length === 0 ? [] : [{ code: 'migrations_ahead', message: messageOf(table, ahead) }]),
      ...(lacking.length === 0 ? [] : [{ code: 'migrations_behind', message: lackingMessage(table, lacking, tool) }]),
    ];
  });
  return (await Promise.all(warnings)).flat();
}

/** Migrations of folders of which the snapshot has at least one: others may be of another database. */
function lackingOf(
  { versions, count }: Migrations,
  { files, tool: { newestOnly, files: of } }: { files: MigrationFile[]; tool: MigrationTool },
): string[] {
  const { key = (version) => version, group = dirname } = of;
  const recorded = new Set(versions.map(key));
  const groups = [...Map.groupBy(files, ({ path }) => group(path)).values()];
  const own = groups.filter((some) => some.some(({ keys }) => keys.some((one) => recorded.has(one)))).flat();
  const followed = new Set(own.flatMap(({ follows }) => follows));
  const newest = newestOnly ? versions.map((version) => BigInt(key(version))).reduce(max, 0n) : null;
  const oldest = versions.length < count ? key(versions[0] ?? '') : null;
  const isLacking = (one: string): boolean => {
    if (recorded.has(one) || followed.has(one)) return false;
    if (newest !== null) return /^\d+$/.test(one) && BigInt(one) > newest;
    // The manifest has the last ones only.
    return oldest === null || inOrder.compare(one, oldest) > 0;
  };
  return [...new Set(own.flatMap(({ keys }) => keys))].filter(isLacking).sort(inOrder.compare);
}

const inOrder = new Intl.Collator('en', { numeric: true });

function aheadOf(
  versions: string[],
  { keys, files, newestOnly }: { keys: ReadonlySet<string>; files: MigrationFiles; newestOnly?: true },
): string[] {
  const { key = (version) => version, covers = () => true } = files;
  const isAhead = (version: string): boolean => !keys.has(key(version)) && covers(version, keys);
  if (!newestOnly) return versions.filter(isAhead);
  const newest = [...keys].filter((text) => /^\d+$/.test(text)).reduce((most, text) => max(most, BigInt(text)), 0n);
  return versions.filter((version) => /^\d+$/.test(version) && BigInt(version) > newest);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function messageOf({ tool, table, count }: Migrations, ahead: string[]): string {
  return `The working tree lacks ${ahead.length} of ${count} migrations of the snapshot (${tool}, ${table}): ${listed(ahead)}`;
}

function lackingMessage({ tool, table }: Migrations, lacking: string[], { apply }: MigrationTool): string {
  const migrations = formatNumberOf(lacking.length, 'migration');
  const step = `after_load: [{ command: ${JSON.stringify(apply)} }]`;
  return `The snapshot lacks ${migrations} of the working tree (${tool}, ${table}): ${listed(lacking)}. A load applies them with ${step} in the snapshot section of the target`;
}

function listed(versions: string[]): string {
  const more = versions.length - MOST_NAMED;
  return `${versions.slice(-MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

interface MigrationFile {
  path: string;
  keys: string[];
  follows: string[];
}

async function migrationFiles(
  context: Context,
  folder: string,
  { paths, versions, key = (version) => version, follows }: MigrationFiles,
): Promise<MigrationFile[]> {
  const files = (await listGitFiles(context, paths)) ?? [];
  return mapWithConcurrency(files.slice(0, MOST_FILES), FILES_AT_ONCE, async (path) => {
    const content = (): Promise<string> => readText(folder, path);
    const keys = (await versions(path, content)).map(key);
    return { path, keys, follows: follows ? follows(await content()).map(key) : [] };
  });
}

/** Empty for a file that is missing, no plain file, outside of the folder by way of a link, or too large. */
async function readText(folder: string, path: string): Promise<string> {
  try {
    const root = await realpath(folder);
    const file = await realpath(join(root, path));
    if (!containsPath(root, file)) return '';
    await using handle = await openRegularFile(file);
    const { size } = await handle.stat();
    if (size === 0 || size > MOST_FILE_BYTES) return '';
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead).toString();
  } catch {
    return '';
  }
}
