import { dirname } from 'node:path';
import type { ImportReport } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';
import { readAwsProfiles } from '../aws-profiles.ts';
import type { Change } from '../edit/change.ts';
import { changeText } from '../edit/change-text.ts';
import { fixFor } from '../keys/fixes.ts';
import { inspectConfiguration } from '../load.ts';
import { absolutePath, firstFile } from '../paths.ts';
import { settingsSchema } from '../schema/settings.ts';
import { shapeOf } from '../schema/shape.ts';
import { dotted, isTree, type KeyPath, type Tree, valueAt } from '../tree.ts';
import { pathOfKey } from '../yaml/path-of-key.ts';
import { parseYaml } from '../yaml/yaml-source.ts';

/** Why a key of DBSnapper's configuration is left out. */
type OmissionReason = keyof typeof LEFT_OUT;

const LEFT_OUT = {
  cloud: ['authtoken', 'env', 'override.nocloud'],
  /** Its snapshots have another format. */
  working_directory: ['working_directory', 'defaults.working_directory'],
  /** The client programs of PATH are used. */
  client_programs: ['database_tools'],
  /** No key corresponds to it. */
  unknown: ['feature_flags'],
  empty: [],
} as const;

const NAMED = new Set<string>(Object.values(LEFT_OUT).flatMap((keys) => [...keys]));

/** The keys that have no place here, empty values included: DBSnapper writes some of its keys as empty text. */
function keysToLeaveOut(tree: Tree): { path: KeyPath; reason: OmissionReason }[] {
  return [...named(tree), ...emptyValues(tree, [])];
}

function named(tree: Tree): { path: KeyPath; reason: OmissionReason }[] {
  return Object.entries(LEFT_OUT).flatMap(([reason, keys]) =>
    keys
      .map((key) => key.split('.'))
      .filter((path) => hasKey(tree, path))
      .map((path) => ({ path, reason: reason as OmissionReason })),
  );
}

function hasKey(tree: Tree, [key = '', ...rest]: string[]): boolean {
  const value = tree[key];
  return value !== undefined && (rest.length === 0 || (isTree(value) && hasKey(value, rest)));
}

function emptyValues(tree: Tree, above: KeyPath): { path: KeyPath; reason: OmissionReason }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = [...above, key];
    if (isTree(value)) return emptyValues(value, path);
    return value === '' && !NAMED.has(path.join('.')) ? [{ path, reason: 'empty' as const }] : [];
  });
}

/** A configuration of DBSnapper in the form of this program's. */
export interface ImportedText extends Pick<ImportReport, 'changed' | 'left_out'> {
  text: string;
}

interface ImportRequest {
  file: string;
  text: string;
  /** Without variables of this program. */
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

const ROUNDS = 100;

/**
 * Leaves out what has no place here, applies the certain fixes of `config check`, and makes the paths of query files
 * absolute. All other text is kept; encrypted values are valid with the same `secret_key`.
 */
export async function importDbsnapper(request: ImportRequest): Promise<ImportedText> {
  const imported: ImportedText = { text: request.text, changed: [], left_out: [] };
  const { tree } = parseYaml(request.text);
  for (const { path, reason } of keysToLeaveOut(tree)) leaveOut(imported, path, reason);
  await locateQueryFiles(imported, tree, request);
  await applyFixes(imported, request);
  return imported;
}

function leaveOut(imported: ImportedText, path: KeyPath, reason: OmissionReason): void {
  imported.text = withoutKey(imported.text, path);
  imported.left_out.push({ key: dotted(path), reason });
}

/** A key above it that would be empty is removed with it. */
function withoutKey(text: string, path: KeyPath): string {
  const above = path.slice(0, -1);
  const siblings = valueAt(parseYaml(text).tree, above);
  const isOnly = above.length > 0 && isTree(siblings) && Object.keys(siblings).length === 1;
  return isOnly ? withoutKey(text, above) : changeText(text, { kind: 'remove', path });
}

/** DBSnapper looks in its working directory as well, this program beside its configuration. */
async function locateQueryFiles(imported: ImportedText, tree: Tree, request: ImportRequest): Promise<void> {
  const { file, cwd, environment } = request;
  const directory = typeof tree.working_directory === 'string' ? tree.working_directory : '~/.dbsnapper';
  const folders = [dirname(file), absolutePath(directory, { from: dirname(file), environment }), cwd];
  for (const name of Object.keys(isTree(tree.targets) ? tree.targets : {})) {
    const path = ['targets', name, 'sanitize', 'query_file'];
    const written = valueAt(tree, path);
    if (typeof written !== 'string' || written === '') continue;
    const found = await firstFile(folders.map((from) => absolutePath(written, { from, environment })));
    if (found === null || found === written) continue;
    imported.text = changeText(imported.text, { kind: 'set', path, value: found });
    imported.changed.push({ key: dotted(path), does: `Write ${found}` });
  }
}

/** A fix can make another one possible. */
async function applyFixes(imported: ImportedText, request: ImportRequest): Promise<void> {
  const shape = shapeOf(settingsSchema);
  const cliProfiles = [...(await readAwsProfiles(request.environment)).keys()];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { problems, written } = await inspectConfiguration({ ...request, text: imported.text });
    const before = imported.text;
    for (const problem of problems) {
      const fix = problem.severity === 'error' ? fixFor(problem, { written, shape, cliProfiles }) : null;
      if (fix && apply(imported, fix.changes)) imported.changed.push({ key: problem.key, does: fix.does });
    }
    if (imported.text !== before) continue;
    const unknown = problems.filter(({ code }) => code === 'unknown_key');
    for (const { key } of unknown) leaveOut(imported, pathOfKey(written, key), 'unknown');
    if (unknown.length === 0) return;
  }
}

/** Makes the changes and reports whether it could: some are impossible where several keys share a value. */
function apply(imported: ImportedText, changes: Change[]): boolean {
  try {
    imported.text = changes.reduce(changeText, imported.text);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
