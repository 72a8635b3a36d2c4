import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Migrations } from '../../results/migration-results.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { listGitFiles, readCheckout } from '../git.ts';
import { MIGRATION_TOOLS, type MigrationFiles } from './migration-tools.ts';

const MOST_FILES = 20_000;
const MOST_FILE_BYTES = 1024 * 1024;
const FILES_AT_ONCE = 16;
const MOST_NAMED = 5;

/** The recorded facts of a snapshot that the working tree is compared with. */
interface RecordedFacts {
  git?: { repository: string | null };
  migrations?: Migrations[];
}

/** A warning for each migrations table of a snapshot with migrations that the working tree of the current folder lacks. */
export async function migrationsAhead(
  context: Context,
  { git, migrations = [] }: RecordedFacts,
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
    const keys = await workingTreeKeys(context, folder, tool.files);
    const ahead = keys.size === 0 ? [] : aheadOf(table.versions, { keys, ...tool });
    return ahead.length === 0 ? [] : [{ code: 'migrations_ahead', message: messageOf(table, ahead) }];
  });
  return (await Promise.all(warnings)).flat();
}

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
  const named = ahead.slice(-MOST_NAMED).join(', ');
  const more = ahead.length - MOST_NAMED;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `The working tree lacks ${ahead.length} of ${count} migrations of the snapshot (${tool}, ${table}): ${named}${rest}`;
}

/** The migrations of the working tree as keys. */
async function workingTreeKeys(
  context: Context,
  folder: string,
  { paths, versions, key = (version) => version }: MigrationFiles,
): Promise<Set<string>> {
  const files = (await listGitFiles(context, paths)) ?? [];
  const found = await mapWithConcurrency(files.slice(0, MOST_FILES), FILES_AT_ONCE, async (path) =>
    versions(path, () => readText(folder, path)),
  );
  return new Set(found.flat().map(key));
}

/** Empty for a file that is missing, no plain file, outside of the folder by way of a link, or too large. */
async function readText(folder: string, path: string): Promise<string> {
  try {
    const root = await realpath(folder);
    const file = await realpath(join(root, path));
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) return '';
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await handle.stat().then((stat) => (stat.isFile() ? stat : { size: 0 }));
    if (size === 0 || size > MOST_FILE_BYTES) return '';
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead).toString();
  } catch {
    return '';
  }
}
