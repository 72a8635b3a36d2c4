import { readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { changeText } from '../../config/edit/change-text.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import { dotted, valueAt } from '../../config/tree.ts';
import { saveTrust } from '../../config/trust/trust-store.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { QuerySavePlan } from '../../results/review/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { createFile, ignoreMissing, ownershipOf, replaceFile } from '../../runtime/write-file.ts';
import { chooseQuery, chosenQuery } from '../../sanitize/query.ts';
import { shell } from '../../text/shell-word.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { findTarget } from '../targets/find-target.ts';

export interface QuerySaveRequest {
  target: string;
  /** Added to the present query. */
  query: string;
}

export type PlannedQuerySave = Planned<QuerySaveRequest, QuerySavePlan>;

/**
 * Adds to the file of the target's query, or names a new file beside the configuration. Refuses where a query of higher
 * priority would hide the file.
 */
export async function planQuerySave(context: Context, request: QuerySaveRequest): Promise<PlannedQuerySave> {
  const { configuration, clock } = context;
  const { target, query } = request;
  findTarget(configuration, target);
  const chosen = chosenQuery(configuration, target);
  if (chosen !== null && chosen.file === null) throw hidden(chosen.chosenBy);
  const file = chosen?.file ?? null;
  const place = file === null ? await newFile(context, target) : { file, configuration: null };
  const exists = file !== null && (await contentOf(file)) !== null;
  const before = exists ? ((await chooseQuery(context, target))?.text ?? '') : '';
  const after = before.trim() === '' ? `${query.trimEnd()}\n` : `${before.trimEnd()}\n\n${query.trimEnd()}\n`;
  const plan: QuerySavePlan = { target, ...place, exists, before, after };
  return { request, plan, planned_at: clock().toISOString() };
}

/** Writes the file whole, then its key. A file that has changed since the plan stays as it is. */
export async function applyQuerySave(context: Context, { request, plan }: PlannedQuerySave): Promise<{ file: string }> {
  const { target, file, exists, before, configuration } = plan;
  const now = exists ? ((await chooseQuery(context, target))?.text ?? null) : await contentOf(file);
  if (now !== (exists ? before : null)) throw planOutdated(`${file} has changed`);
  const trusted = { file: context.configuration.file, environment: context.environment };
  const write = () => (exists ? replaceQuery(file, plan.after) : createFile(file, plan.after, { mode: NEW_MODE }));
  await saveTrust(trusted, write).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EEXIST') throw planOutdated(`${file} has been created`);
    throw new UserError('query_not_saved', `Cannot write ${file}: ${cause.message}`, {
      hint: 'Nothing was changed.',
      cause,
    });
  });
  if (configuration) {
    const { value } = configuration;
    const path = keyOf(request.target);
    const rewrite = (text: string): string => changeText(text, { kind: 'set', path, value });
    const writing = rewriteFile({ file: configuration.file, environment: context.environment, rewrite });
    await writing.catch(async (error) => {
      // Without its key the new file would be in no use.
      if (!exists) await rm(file, { force: true });
      throw error;
    });
  }
  return { file };
}

function keyOf(target: string): string[] {
  return ['targets', target, 'sanitize', 'query_file'];
}

const MOST_NAMES = 100;

async function newFile(
  { configuration: { file } }: Context,
  target: string,
): Promise<Pick<QuerySavePlan, 'file' | 'configuration'>> {
  const text = file === null ? null : await readFile(file, 'utf8');
  if (file === null || text === null || valueAt(parseYaml(text).tree, ['targets', target]) === undefined) {
    throw new UserError('query_not_saved', `Target "${target}" is not in a configuration file of this machine`, {
      exit: EXIT.configuration,
      hint: `Save the query by hand: ${shell`tool sanitize ${target} --suggest > sanitize.sql`}`,
    });
  }
  const base = `${encodeURIComponent(target)}.sanitize`;
  for (let number = 1; number <= MOST_NAMES; number += 1) {
    const name = `${base}${number === 1 ? '' : `-${number}`}.sql`;
    const path = join(dirname(file), name);
    if ((await contentOf(path)) !== null) continue;
    return { file: path, configuration: { file, key: dotted(keyOf(target)), value: `./${name}` } };
  }
  throw new UserError('query_not_saved', `There are ${MOST_NAMES} files named ${base}-….sql already`, {
    hint: `Remove those that are not used: ${dirname(file)}`,
  });
}

function hidden(by: string): UserError {
  return new UserError('query_not_saved', `The sanitization query is in ${by}, which takes precedence over a file`, {
    exit: EXIT.configuration,
    hint: `Move it to a file: set sanitize.query_file of the target, and remove ${by}.`,
  });
}

/** `null` where there is none. */
async function contentOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(ignoreMissing);
}

/** Its salt is as secret as a password. */
const NEW_MODE = 0o600;

async function replaceQuery(path: string, text: string): Promise<void> {
  const file = await realpath(path);
  await replaceFile(file, text, await ownershipOf(file, NEW_MODE));
}
