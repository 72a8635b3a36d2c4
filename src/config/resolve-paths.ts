import { containsPath } from '../runtime/contains-path.ts';
import { absolutePath, firstFile } from './paths.ts';
import type { KeyProblem } from './problems/key-problem.ts';
import type { Settings } from './schema/settings.ts';
import type { KeyPath } from './tree.ts';
import type { CoveredFile } from './trust/covered-files.ts';

interface PathOptions {
  folders: string[];
  environment: NodeJS.ProcessEnv;
  trusted: CoveredFile[];
  /** Filled: those of the trusted files that are queries, by path. */
  queryFiles: Map<string, CoveredFile>;
}

/**
 * Makes paths absolute. A query file is searched in the folders, then in the working directory. A missing one matters
 * only to the operation that runs it.
 */
export async function resolvePaths(
  settings: Settings,
  { folders, environment, queryFiles, trusted }: PathOptions,
): Promise<KeyProblem[]> {
  const [base = '.'] = folders;
  settings.working_directory = absolutePath(settings.working_directory, { from: base, environment });
  const problems: KeyProblem[] = [];
  for (const [name, profile] of Object.entries(settings.storage_profiles)) {
    if (profile.path === undefined) continue;
    profile.path = absolutePath(profile.path, { from: base, environment });
    const { path } = profile;
    const { working_directory: directory } = settings;
    if (!containsPath(path, directory) && !containsPath(directory, path)) continue;
    problems.push({
      path: ['storage_profiles', name, 'path'],
      code: 'wrong_value',
      message: `storage profile '${name}' and the working directory ${directory} contain each other`,
      hint: 'Set a folder outside the working directory.',
    });
  }
  const around = [...folders, settings.working_directory];
  const resolveFile = async (
    of: { query_file?: string },
    { path, from: searched, isNeeded }: { path: KeyPath; from: string[]; isNeeded: boolean },
  ): Promise<void> => {
    const { query_file: file } = of;
    if (file === undefined) return;
    const places = [...new Set(searched.map((from) => absolutePath(file, { from, environment })))];
    const found = await firstFile(places);
    if (found === null && isNeeded) {
      problems.push({
        path: [...path, 'query_file'],
        code: 'query_file_not_found',
        message: `query file '${file}' not found`,
        hint: `Looked for ${places.join(', ')}.`,
      });
    }
    const covered = trusted.find((one) => one.name === file);
    if (covered) queryFiles.set(found ?? places[0] ?? '', covered);
    of.query_file = found ?? places[0] ?? file;
  };
  for (const [name, { sanitize, snapshot }] of Object.entries(settings.targets)) {
    const isReplaced = sanitize?.override_query !== undefined || settings.override.san_query !== undefined;
    const path = ['targets', name, 'sanitize'];
    if (sanitize) await resolveFile(sanitize, { path, from: around, isNeeded: !isReplaced });
    for (const [index, step] of (snapshot?.after_load ?? []).entries()) {
      // A variable may name another working directory.
      const of = ['targets', name, 'snapshot', 'after_load', index];
      await resolveFile(step, { path: of, from: [base], isNeeded: true });
    }
  }
  return problems;
}
