import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ProcessResult } from '../../../process/runner.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ClientTools } from '../connection/tools.ts';
import { connectionEnvironment, type SessionSettings } from '../connection/url.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import type { ArchiveEntry } from '../dump/archive-contents.ts';

export interface RestoreSection {
  section: 'pre-data' | 'data' | 'post-data';
  list: string;
  /** Schemas that are not restored. */
  without?: string[];
}

export interface PgRestoreRun extends Omit<RestoreSection, 'list'> {
  entries: ArchiveEntry[];
  url: DatabaseUrl;
  settings: SessionSettings;
  tools: ClientTools;
  /** The folder of the archive, beside which the list of the entries is written. */
  archive: string;
  jobs: number;
}

export async function runPgRestore(
  { runner, signal }: EngineContext,
  { url, settings, tools, archive, jobs, entries, ...section }: PgRestoreRun,
): Promise<ProcessResult> {
  const { args, env, mounts } = connectionEnvironment(url, settings);
  const list = await writeList(archive, entries);
  return await runner.run(
    {
      file: tools.pg_restore,
      args: [...sectionArgs({ ...section, list }), `--jobs=${jobs}`, ...args, archive],
      env,
      mounts: [...mounts, { path: dirname(archive) }],
    },
    { signal },
  );
}

/** Writes entries for `pg_restore --use-list`, and resolves with the path. */
export async function writeList(archive: string, entries: ArchiveEntry[]): Promise<string> {
  const path = `${archive}.${randomUUID()}.list`;
  await writeFile(path, entries.map(({ line }) => `${line}\n`).join(''), { flag: 'wx', mode: 0o600 });
  return path;
}

/** Returns the arguments of pg_restore for a section; owners and grants are the destination's own. */
export function sectionArgs({ section, list, without = [] }: RestoreSection): string[] {
  return [
    `--section=${section}`,
    `--use-list=${list}`,
    ...without.map((name) => `--exclude-schema=${name}`),
    ...['--no-owner', '--no-privileges', '--no-tablespaces', '--no-password'],
  ];
}

/** The schemas of a snapshot that a restore leaves out. */
export function unwantedSchemas({ schemas }: ArchiveDetails, wanted: string[]): ArchiveDetails['schemas'] {
  return schemas.filter(({ name }) => !wanted.includes(name));
}
