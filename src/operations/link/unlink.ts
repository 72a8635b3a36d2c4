import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { UnlinkPlan, UnlinkResult } from '../../results/configuration/link-results.ts';
import type { Context } from '../../runtime/context.ts';
import { applyBranchHook, type PlannedBranchHook, planBranchHook } from '../branch/hook/hook.ts';
import { isTracked, noRepository, readHookFile, readMainFolder } from '../git.ts';
import type { Planned } from '../planned.ts';
import { formatOf } from './formats.ts';
import { forgetTree, type KnownTree, type Link, listTrees, readLink, removeLink } from './memory.ts';
import { readBytes } from './read-bytes.ts';
import { type PlannedFile, readInTree, refused, writeInTree } from './tree-file.ts';
import { findTree, readTree, type Tree } from './trees.ts';

export interface PlannedUnlink extends Planned<object, UnlinkPlan> {
  hook: PlannedBranchHook | null;
  files: PlannedFile[];
  /** The git folders of the present trees. */
  own: string[];
}

/** Plans the removal of what `tool link` and its hook have written. The branches stay. Changes nothing. */
export async function planUnlink(context: Context, request: object): Promise<PlannedUnlink> {
  const { tree, link, main } = await readLinked(context);
  const { target } = link;
  const written = link.hook && (await presentHook(link.hook.file, { link, tree }));
  const hook =
    link.hook && written !== null
      ? await planBranchHook({ ...context, cwd: main }, removalOf(link, { ...link.hook, file: written }))
      : null;
  const trees = await listTrees(tree);
  const files: PlannedUnlink['files'] = [];
  const warnings: UnlinkPlan['warnings'] = [];
  for (const each of trees) {
    try {
      files.push(...(await fileOf(context, link, each)));
    } catch (error) {
      warnings.push(leftAsItIs(context, join(each.present ?? each.folder, each.file), error));
    }
  }
  warnings.push(...(await hooksLeft({ ...context, cwd: main }, hook)));
  const plan: UnlinkPlan = {
    target,
    folder: main,
    hook: hook && { file: hook.plan.file, action: hook.plan.action, text: hook.plan.text },
    files: files.map(({ path }) => path),
    branches: trees.map(({ branch }) => branch),
    warnings,
  };
  const own = trees.filter(({ present }) => present !== null).map((each) => each.own);
  return { request, plan, planned_at: context.clock().toISOString(), hook, files, own };
}

export async function applyUnlink(context: Context, { plan, hook, files, own }: PlannedUnlink): Promise<UnlinkResult> {
  const { tree, main } = await readLinked(context);
  if (hook) await applyBranchHook({ ...context, cwd: main }, hook);
  const warnings = [...plan.warnings];
  const restored: string[] = [];
  for (const file of files) {
    try {
      await assertUntracked(context, file.path);
      await writeInTree(file);
      restored.push(file.path);
    } catch (error) {
      warnings.push(leftAsItIs(context, file.path, error));
    }
  }
  for (const each of own) await forgetTree({ own: each });
  await removeLink(tree);
  for (const { code, message } of warnings) context.report({ event: 'warning', code, message });
  const { target, branches } = plan;
  return { target, hook: plan.hook?.file ?? null, files: restored, branches };
}

/** Lines of a link that were changed, or written by hand. */
const CALL = /\btool branch checkout [^\n]*--tree\b/;

/** Finds hooks that would still call the program. */
async function hooksLeft(context: Context, removed: PlannedBranchHook | null): Promise<UnlinkPlan['warnings']> {
  const present = await readHookFile(context, 'post-checkout');
  const files = new Map([
    ...(present === null ? [] : [[present, await readBytes(present, refused).catch(() => null)] as const]),
    ...(removed ? [[removed.plan.file, removed.after] as const] : []),
  ]);
  return [...files].flatMap(([file, content]) =>
    content !== null && CALL.test(content)
      ? [{ code: 'link_refused', message: `${file} still calls tool branch checkout: remove these lines yourself` }]
      : [],
  );
}

/** The hook that the link has written, by its present path. `null` where another repository, of which this is a copy, has it. */
async function presentHook(file: string, { link, tree }: { link: Link; tree: Tree }): Promise<string | null> {
  const inGitFolder = relative(join(link.main, '.git'), file);
  if (!inGitFolder.startsWith('..')) return join(tree.common, inGitFolder);
  const original = await findTree(link.main).catch(() => null);
  return original === null || original.common === tree.common ? file : null;
}

function removalOf({ target }: Link, { file: written, previous }: NonNullable<Link['hook']>) {
  return { target, remove: true, written, ...(previous !== null && { restore: previous }) };
}

async function fileOf(context: Context, { key }: Link, tree: KnownTree): Promise<PlannedFile[]> {
  const { present, own, file, before, unended, keys } = tree;
  if (present === null) return [];
  const bytes = await readInTree(present, file);
  if (bytes === null) return [];
  const path = join(present, file);
  if ((await findTree(present))?.own !== (await realpath(own))) throw refused(`${present} is of another repository`);
  await assertUntracked(context, path);
  return [
    { path, before: bytes, after: formatOf(file).withoutLines(bytes, { before, unended, key, ...(keys && { keys }) }) },
  ];
}

/** A commit of anybody may track the file meanwhile. */
async function assertUntracked(context: Context, path: string): Promise<void> {
  const inFolder = { ...context, cwd: dirname(path) };
  if (await isTracked(inFolder, basename(path))) throw refused(`${path} is tracked by git`);
}

/** One file does not keep the link and the files of other trees. */
function leftAsItIs({ signal }: Context, path: string, error: unknown): UnlinkPlan['warnings'][number] {
  signal.throwIfAborted();
  const reason = error instanceof Error ? error.message : String(error);
  return { code: 'link_refused', message: `${path} stays as it is: ${reason}` };
}

/** The present main tree: the link knows the one of before a move. */
async function readLinked(context: Context): Promise<{ tree: Tree; link: Link; main: string }> {
  const tree = await readTree(context);
  if (!tree) throw await noRepository(context);
  const link = await readLink(tree, context);
  if (!link) throw refused('The repository is not linked', 'To link it: tool link TARGET');
  const linked = await findTree(link.main).catch(() => null);
  const main = linked?.common === tree.common ? link.main : await readMainFolder(context);
  return { tree, link, main: main ?? tree.folder };
}
