import { readFile } from 'node:fs/promises';
import type { FileRequest } from '../../config/config-file.ts';
import type { Change } from '../../config/edit/change.ts';
import { changeText } from '../../config/edit/change-text.ts';
import { type DiffLine, diffLines } from '../../config/edit/diff-lines.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import { type Inspection, inspectConfiguration } from '../../config/load.ts';
import { invalidConfiguration } from '../../config/problems/invalid-configuration.ts';
import { settingsSchema } from '../../config/schema/settings.ts';
import { type Shape, shapeAt, shapeOf } from '../../config/schema/shape.ts';
import { encryptText } from '../../config/secrets/sensitive-values.ts';
import type { Tree } from '../../config/tree.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { Problem } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';

/** A configuration file that is being edited: nothing of it is written before it is saved. */
export interface ConfigurationDraft {
  file: string;
  /** Text of the file when it was opened. */
  base: string;
  /** The file was changed by another program. */
  outdated: boolean;
  changes: Change[];
  text: string;
  /** The values in `text`. */
  written: Tree;
  shape: Shape;
  /** Problems that `config check` would find in it. */
  problems: Problem[];
  /** Names of variables by the dotted key that they set: they win over the file. */
  variables: Map<string, string>;
  /** Opens and makes encrypted values; `null` when there is none that could. */
  secretKey: string | null;
}

export async function openDraft(request: FileRequest): Promise<ConfigurationDraft> {
  const inspection = await inspectConfiguration(request);
  const { file, values, problems } = inspection;
  if (file === null) throw noConfigurationFile('edit');
  // What cannot be read as YAML has no values to show in a form.
  if (values === null) throw invalidConfiguration(problems);
  const base = await readFile(file, 'utf8');
  const draft = { file, base, changes: [], text: base };
  // The file may have changed since it was inspected.
  return base === inspection.text ? draftOf(draft, inspection, base) : inspected(request, draft);
}

export function noConfigurationFile(purpose: string): UserError {
  return new UserError('no_configuration', `There is no configuration file to ${purpose}`, {
    hint: 'Create one: tool config init',
  });
}

export async function changeConfigurationDraft(
  request: FileRequest,
  { file, base }: Pick<ConfigurationDraft, 'file' | 'base'>,
  changes: Change[],
): Promise<ConfigurationDraft> {
  return inspected(request, { file, base, changes, text: changes.reduce(changeText, base) });
}

/** The draft with one change more; a secret in it is encrypted, of a URL the password. */
export async function addChange(
  request: FileRequest,
  draft: ConfigurationDraft,
  change: Change,
): Promise<ConfigurationDraft> {
  return changeConfigurationDraft(request, draft, [...draft.changes, sealed(change, draft)]);
}

function sealed(change: Change, { shape, secretKey }: ConfigurationDraft): Change {
  if (change.kind !== 'set' || typeof change.value !== 'string' || secretKey === null) return change;
  const { path, value: text } = change;
  const { secret = false, template = false } = shapeAt(shape, path)?.traits ?? {};
  // secret_key opens the others.
  if (!secret || path[0] === 'secret_key') return change;
  const outcome = encryptText({ path, text, secret, template }, secretKey);
  return 'encrypted' in outcome ? { ...change, value: outcome.encrypted } : change;
}

/** Repeats the changes in the present text of the file. */
export async function redoDraft(
  request: FileRequest,
  { file, changes }: ConfigurationDraft,
): Promise<ConfigurationDraft> {
  // Searched for anew and not named: what somebody else has written there is not trusted.
  const now = await openDraft(request);
  if (now.file !== file) throw changedOutside(file);
  return changeConfigurationDraft(request, now, changes);
}

/** Returns the lines that saving the draft would change. */
export function diffDraft({ base, text }: Pick<ConfigurationDraft, 'base' | 'text'>): DiffLine[] {
  return diffLines(base, text);
}

/** Writes the draft; refuses when the file no longer says what it said when it was opened. */
export async function saveDraft(request: FileRequest, draft: ConfigurationDraft): Promise<ConfigurationDraft> {
  const { file, text } = draft;
  await saveText(draft, request);
  return inspected(request, { file, base: text, changes: [], text });
}

/** Writes the text into a file that still says what it was made from. */
export async function saveText(
  { file, base, text }: Pick<ConfigurationDraft, 'file' | 'base' | 'text'>,
  { environment }: Pick<FileRequest, 'environment'>,
): Promise<void> {
  const rewrite = (now: string) => {
    if (now !== base) throw changedOutside(file);
    return text;
  };
  await rewriteFile({ file, environment, rewrite });
}

function changedOutside(file: string): UserError {
  return new UserError('configuration_changed', `${file} was changed by another process since it was opened`, {
    hint: 'Reload it, or apply your changes to the current content.',
  });
}

async function inspected(
  request: FileRequest,
  draft: Pick<ConfigurationDraft, 'file' | 'base' | 'changes' | 'text'>,
): Promise<ConfigurationDraft> {
  const { file, text } = draft;
  const inspection = await inspectConfiguration({ ...request, file, text });
  return draftOf(draft, inspection, await readFile(file, 'utf8').catch(() => null));
}

/** `now` is what the file says now. */
function draftOf(
  draft: Pick<ConfigurationDraft, 'file' | 'base' | 'changes' | 'text'>,
  { problems, origins, values }: Inspection,
  now: string | null,
): ConfigurationDraft {
  const { text } = draft;
  return {
    ...draft,
    outdated: now !== draft.base,
    written: parseYaml(text.replace(/^\uFEFF/, '')).tree,
    shape: shapeOf(settingsSchema),
    problems,
    variables: origins.variables,
    secretKey: values?.secret_key ?? null,
  };
}
