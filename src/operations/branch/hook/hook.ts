import { lstat, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import type { BranchHookPlan, BranchHookResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { ownershipOf, replaceFile } from '../../../runtime/write-file.ts';
import { shell, shellWord } from '../../../text/shell-word.ts';
import { hashFile, isTracked, noRepository, readCheckout, readHookFile } from '../../git.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { findTarget } from '../../targets/find-target.ts';
import { hasCopies } from '../checkout/checkout.ts';
import { assertBranchesNotSources, openBranches } from '../open-branches.ts';

export interface BranchHookRequest {
  target: string;
  /** The `main` of `branch checkout`; part of the hook. */
  main?: string | undefined;
  remove?: boolean | undefined;
  /** The value of `--config`. */
  config?: string | undefined;
  /** Top folder of the main working tree, for `tool link`: each tree gets a database of its own. */
  main_tree?: string | undefined;
  /** With `remove`: lines that are written in place of the removed ones. */
  restore?: string | undefined;
  /** With `remove`: the file that was written, which git may no longer use (core.hooksPath). */
  written?: string | undefined;
}

export interface PlannedBranchHook extends Planned<BranchHookRequest, BranchHookPlan> {
  /** The content of the hook: before and after, in bytes; `null` where there is no file. */
  before: string | null;
  after: string | null;
  /** The present lines. */
  previous: string | null;
}

const SHEBANG = '#!/bin/sh\n# Created by: tool branch hook\n';

/** Bytes as characters, so that an existing hook keeps its own. */
const BYTES = 'latin1';

/** Plans the new content of the hook file. Changes nothing. */
export async function planBranchHook(context: Context, request: BranchHookRequest): Promise<PlannedBranchHook> {
  const { target, remove = false } = request;
  const checkout = await readCheckout(context);
  const file = await findHookFile(context, request);
  if (!checkout || file === null) throw await noRepository(context);
  const before = await readHook(file, { remove });
  const found = before === null ? null : blockIn(before, target);
  const planned = { request, planned_at: context.clock().toISOString(), before, previous: found?.text ?? null };
  const facts = { target, file, unverified_sources: [], warnings: [], destination: null };
  if (remove) {
    if (before === null || !found) return { ...planned, after: before, plan: { ...facts, action: 'none', text: '' } };
    const rest = before.slice(0, found.start) + (request.restore ?? '') + before.slice(found.end);
    const isOurs = rest === SHEBANG;
    const text = toText(isOurs ? before : found.text);
    return { ...planned, after: isOurs ? null : rest, plan: { ...facts, action: isOurs ? 'delete' : 'remove', text } };
  }
  findTarget(context.configuration, target);
  const opened = await openBranches(context, { target });
  const unverified_sources = await assertBranchesNotSources(opened, target, []);
  const destination = await opened.database.connect.inspect();
  const config = await chosenConfiguration(context, { config: request.config, folder: checkout.folder });
  const block = blockOf({ ...request, destination: destination.url, config });
  const after = withBlock(before, { block, found });
  const action = before === null ? 'create' : after === before ? 'none' : found ? 'replace' : 'add';
  const plan: BranchHookPlan = {
    ...{ ...facts, action, destination, unverified_sources },
    text: toText(before === null ? after : block),
    warnings: [...sharedFolder(checkout.folder, file), ...((await hasCopies(opened)) ? [] : [noCopiesYet(target)])],
  };
  return { ...planned, after, plan };
}

export async function applyBranchHook(context: Context, planned: PlannedBranchHook): Promise<BranchHookResult> {
  const { request, plan, before, after } = planned;
  const { target, file, action } = plan;
  const result = { target, file, action };
  if (action === 'none') return result;
  const found = await readHook(file, { remove: request.remove ?? false });
  if (found !== before || (await findHookFile(context, request)) !== file) throw planOutdated(`${file} has changed`);
  try {
    if (after === null) await rm(file);
    else await replaceHook(file, after);
  } catch (cause) {
    throw hookRefused(`Could not write ${file}`, 'Correct the rights of the folder.', cause);
  }
  return result;
}

async function findHookFile(context: Context, { written }: BranchHookRequest): Promise<string | null> {
  if (written !== undefined && (await lstat(written).catch(() => null))) return written;
  return readHookFile(context, 'post-checkout');
}

function noCopiesYet(target: string): BranchHookPlan['warnings'][number] {
  const message = `The destination has no base copy and no branches yet: the hook does nothing until it has (${shell`tool branch checkout ${target}`})`;
  return { code: 'hook_destination_foreign', message };
}

/** The content of a hook that a block can be added to; `null` without a file. */
async function readHook(file: string, { remove }: { remove: boolean }): Promise<string | null> {
  const stat = await lstat(file).catch(() => null);
  if (!stat) return null;
  const byHand = 'Call this in it yourself: tool branch checkout TARGET --yes';
  if (!stat.isFile()) throw hookRefused(`${file} is a link or no plain file`, byHand);
  const content = await readFile(file, BYTES).catch((cause) => {
    throw hookRefused(`Could not read ${file}`, 'Correct the rights of the file.', cause);
  });
  if (remove) return content;
  if (!/^#!\s*\S*?(?:\/|\benv\s+(?:-S\s+)?)(?:ba|da|z|k|a)?sh(?:\s|$)/.test(content)) {
    throw hookRefused(`${file} is no shell script`, byHand);
  }
  if ((stat.mode & 0o100) === 0) {
    throw hookRefused(`${file} is not executable, so git ignores it`, 'Make it executable (chmod +x), or remove it.');
  }
  return content;
}

interface HookConfiguration {
  file: string;
  /** Git's name of the content, for a file that a commit can change; `null` for others. */
  hash: string | null;
}

interface HookBlock extends Omit<BranchHookRequest, 'config'> {
  destination: string;
  config: HookConfiguration | null;
}

/** A named file is trusted with any content: one that git tracks is only used with its present one. */
async function chosenConfiguration(
  context: Context,
  { config, folder }: { config: string | undefined; folder: string },
): Promise<HookConfiguration | null> {
  const { file } = context.configuration;
  const isWithin = (path: string): boolean => resolve(path).startsWith(folder + sep);
  const inside = file !== null && isWithin(file) && dirname(resolve(file)) !== folder;
  const chosen = config ?? (inside ? file : undefined);
  if (chosen === undefined) return null;
  const path = resolve(chosen);
  const isChangedByCommits = isWithin(path) && (await isTracked(context, path));
  return { file: path, hash: isChangedByCommits ? await hashFile(context, path) : null };
}

function unchanged({ file, hash }: HookConfiguration): string {
  return hash === null ? '' : `[ "$(git hash-object --no-filters -- ${shellWord(file)})" = ${hash} ] && `;
}

/** The block that the hook consists of. It keeps the exit code of the lines before it, and never fails itself. */
function blockOf({ target, main, config, destination, main_tree }: HookBlock): string {
  const options = [
    ...(main === undefined ? [] : ['--main', main]),
    ...['--only-destination', destination],
    ...(config === null ? [] : ['--config', config.file]),
  ];
  const command = [shell`tool branch checkout ${target}`, ...options.map(shellWord)].join(' ');
  const inTree = main_tree === undefined ? null : inMainTree(main_tree, command);
  const place = config === null ? '' : unchanged(config);
  const why = 'The database was not switched. To see why:';
  const name = JSON.stringify(target);
  const lines = [
    `# >>> tool branch hook ${name} >>>`,
    `# Switches the database of target ${name} to the checked-out git branch. To remove: ${shell`tool branch hook ${target} --remove`}`,
    'tool_status=$?',
    'if [ "$3" = 1 ]; then',
    `  if ${inTree?.before ?? ''}tool_line=$(${place}${inTree?.command ?? command} --yes </dev/null 2>/dev/null); then`,
    `    [ -z "$tool_line" ] || printf '%s\\n' "$tool_line" >&2`,
    '  else',
    `    printf '%s\\n' ${inTree ? `${shellWord(`${why} ${inTree.byHand} `)}${PRINTED_TREE}` : shellWord(`${why} ${command}`)} >&2`,
    '  fi',
    'fi',
    '(exit "$tool_status")',
    endOf(target),
    '',
  ];
  return Buffer.from(lines.map((line) => line.replaceAll('\n', ' ')).join('\n')).toString(BYTES);
}

/** The configuration is that of the main tree, which the user has trusted, not that of the tree of a commit. */
function inMainTree(folder: string, command: string) {
  const unset = 'unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR';
  const goAnd = `${shell`cd ${folder}`} && ${command} --tree`;
  return {
    before: 'tool_tree=$(pwd -P) && ',
    command: `${unset} && ${goAnd} "$tool_tree"`,
    byHand: goAnd,
  };
}

/** The folder as a word of a shell, like `shellWord`. */
const PRINTED_TREE = `"'$(printf %s "$tool_tree" | sed "s/'/'\\\\\\\\''/g")'"`;

function endOf(target: string): string {
  return `# <<< tool branch hook ${JSON.stringify(target)} <<<`;
}

interface Found {
  start: number;
  end: number;
  text: string;
}

/** The block of a target, with the line feed that was added before it. */
function blockIn(content: string, target: string): Found | null {
  const name = Buffer.from(JSON.stringify(target)).toString(BYTES);
  const begin = `# >>> tool branch hook ${name} >>>`;
  const last = `# <<< tool branch hook ${name} <<<\n`;
  const at = `\n${content}`.indexOf(`\n${begin}`);
  const end = at === -1 ? -1 : content.indexOf(last, at);
  if (end === -1) return null;
  const start = content.slice(0, at).endsWith(NO_LINE_FEED) ? at - NO_LINE_FEED.length : at;
  return { start, end: end + last.length, text: content.slice(start, end + last.length) };
}

/** Before a block: the hook had no line feed at its end. */
const NO_LINE_FEED = '\n# (line feed of tool)\n';

function withBlock(before: string | null, { block, found }: { block: string; found: Found | null }): string {
  if (before === null) return SHEBANG + block;
  if (found) {
    const kept = found.text.startsWith(NO_LINE_FEED) ? NO_LINE_FEED : '';
    return before.slice(0, found.start) + kept + block + before.slice(found.end);
  }
  // A block after these would not run.
  const ending = /\n(?=(?:exit|exec)\b[^\n]*\s*$)/.exec(before);
  if (ending) return before.slice(0, ending.index + 1) + block + before.slice(ending.index + 1);
  return before + (before.endsWith('\n') ? '' : NO_LINE_FEED) + block;
}

function toText(bytes: string): string {
  return Buffer.from(bytes, BYTES).toString();
}

/** A hook in the working tree runs for everybody who has the same core.hooksPath. */
function sharedFolder(folder: string, file: string): BranchHookPlan['warnings'] {
  const path = relative(folder, file);
  if (path.startsWith('..') || path.split(sep)[0] === '.git') return [];
  const message = `${file} is in the working tree: once committed, it is the hook of other users of the repository too`;
  return [{ code: 'hook_shared', message }];
}

async function replaceHook(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, Buffer.from(content, BYTES), await ownershipOf(file, 0o777));
}

function hookRefused(message: string, hint: string, cause?: unknown): UserError {
  return new UserError('hook_refused', message, { hint, cause });
}
